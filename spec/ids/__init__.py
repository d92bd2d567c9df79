"""Ids in batches: fetched by proxies from an oracle of their own, given in runs."""

from tidemark.spec.ids.proof import Ids as Ids
