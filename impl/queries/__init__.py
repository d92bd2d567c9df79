"""Queries over channels: a proxy's streams, requests and results; the answers of a query node."""
