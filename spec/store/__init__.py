"""A store: saves under a condition, and their survival of a power failure."""

from tidemark.spec.store.proof import Store as Store
