"""Mutants and variants: faults that were made, or could be, each with what must come out."""
