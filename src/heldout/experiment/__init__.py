"""Plans, tasks, results: systems on splits, and what their scores say of unseen data."""
