"""Comparison with other model checkers."""
