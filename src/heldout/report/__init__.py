"""Results as something to read: tables now, charts and pages later."""
