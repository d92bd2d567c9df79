"""One execution: running, replaying, shrinking and telling it."""
