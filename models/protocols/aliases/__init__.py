"""Aliases of collections: variants, mutants, programs."""
