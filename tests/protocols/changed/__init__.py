"""Protocols that a test gives another text."""
