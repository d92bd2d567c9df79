"""Allocation of segments: variants, mutants, readings."""
