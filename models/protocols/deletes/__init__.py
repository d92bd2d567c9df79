"""Deletes: all that binds the protocol to its judges."""
