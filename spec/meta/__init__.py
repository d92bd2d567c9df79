"""Metadata of a collection: versions at the root coordinator, and the caches of proxies."""

from tidemark.spec.meta.proof import Meta as Meta
