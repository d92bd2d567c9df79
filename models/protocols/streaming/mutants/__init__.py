"""Mutants: what was written somewhere, or might be, each with its killer."""
