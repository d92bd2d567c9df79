"""Protocols drawn from a seed, each searched by every engine: whatever differs is shown, reduced."""
