"""Mutants and variants: what was written in real code, or might be, each with what must come out."""
