"""Metadata of a collection: versions at the root coordinator, and what proxies keep of them."""

from tidemark.spec.meta.lemmas import Meta

__all__ = ["Meta"]
