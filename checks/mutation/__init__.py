"""The search behind mutation: a protocol's actions compiled one by one, so that a mutant costs one action."""
