"""Verdicts are kept with the digest of all that they depend on, and reused while it is the same."""
