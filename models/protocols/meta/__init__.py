"""Metadata in the caches of proxies: variants and mutants."""
