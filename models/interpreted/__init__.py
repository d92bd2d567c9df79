"""A protocol as plain Python: the interpreter that gives the language its meaning."""
