"""Cancellation as a fault."""
