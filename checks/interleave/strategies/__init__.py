"""The strategies of the explorer, one a file."""
