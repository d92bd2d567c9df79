"""A streaming node: variants, mutants."""
