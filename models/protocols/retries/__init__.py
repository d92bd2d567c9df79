"""Retries of clients: variants, mutants, readings."""
