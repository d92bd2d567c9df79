"""Mutants and variants of the protocols: mistakes that were made, or could be, and what finds them."""
