"""Buffers of deletes: what is judged of them, and within which bounds."""
