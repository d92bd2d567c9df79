"""How we know: one question a file, and the command line."""
