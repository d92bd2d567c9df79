"""Mutants and variants of the protocols: what somebody really wrote, or might, and the property that finds
it.
"""
