"""A store: saves under a condition, and what a power failure leaves of them."""

from tidemark.spec.store.lemmas import Store

__all__ = ["Store"]
