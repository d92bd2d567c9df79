"""Queries over channels: requests, results of several query nodes, release and load of a collection."""

from tidemark.spec.queries.proof import Queries as Queries
