"""Queries over channels: what is judged, readings, mutants, findings."""
