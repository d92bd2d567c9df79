"""Garbage in the object store: what is judged of it, and within which bounds."""
