"""Queries over channels: a proxy's streams, requests and results; what a query node answers."""
