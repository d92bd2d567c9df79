"""The dispatchers of a physical channel: variants, mutants."""
