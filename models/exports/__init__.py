"""Protocols and instances in the languages of other tools: TLA+, Promela; what both share is in ``text``."""
