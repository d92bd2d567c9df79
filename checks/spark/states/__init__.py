"""Packed states in files and in shared memory."""
