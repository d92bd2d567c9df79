"""Reads of several channels: variants, mutants, readings."""
