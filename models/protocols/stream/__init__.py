"""The message stream of one channel: variants, mutants."""
