"""Exports to the languages of other model checkers."""
