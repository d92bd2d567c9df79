"""Trees of executions: walking, races, wakeup trees, estimates, parts of a tree."""
