"""The scheduler of a proxy: its manifest, its program and its mutants."""
