"""Queries over channels: requests, results of several query nodes, release and load of a collection."""

from tidemark.spec.queries.lemmas import Queries

__all__ = ["Queries"]
