"""The commands of ``tidemark spark``."""
