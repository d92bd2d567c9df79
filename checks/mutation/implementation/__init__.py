"""Mutants of the implementation: each is put into the loaded code, and the judges of the gate try it."""
