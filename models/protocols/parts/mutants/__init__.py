"""Mutants: what the design could be read as, each with its killer."""
