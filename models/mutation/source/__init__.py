"""Mutants of Python source: one place of one function made wrong by rule, and put into the loaded module."""
