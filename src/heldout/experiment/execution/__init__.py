"""Run the tasks of an experiment: in this process, in others, on a cluster; and resume."""
