"""Segments at a query node: variants, mutants."""
