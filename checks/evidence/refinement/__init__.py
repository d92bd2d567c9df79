"""Traces as runs of a specification: what was observed must be its steps, what was not is left open."""
