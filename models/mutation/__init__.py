"""Mutants and variants of the protocols: faults that were made, or could be, and the property that finds
it.
"""
