"""Breadth-first search with the compiled kernel, on all cores."""
