"""Service time and reads: variants, mutants."""
