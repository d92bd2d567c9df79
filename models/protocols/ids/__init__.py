"""Ids in batches: the manifest, the reading of the oracle, and the mutants."""
