"""Mutants and variants: what somebody really wrote, or might, each with what must come out."""
