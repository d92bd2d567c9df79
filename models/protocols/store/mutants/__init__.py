"""Variants of a store, and mutants of specification and adapters, each with what must come out."""
