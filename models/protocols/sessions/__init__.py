"""Sessions under leases and the coordinator that follows them: variants and mutants."""
