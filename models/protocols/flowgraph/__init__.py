"""Recovery of a flow graph by positions of segments: variants, mutants."""
