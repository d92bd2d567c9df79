"""A protocol as a Hypothesis state machine that drives an implementation and the interpreter side by side."""

from models.stateful.adapter import Adapter
from models.stateful.machine import Journal, Mismatch, machine

__all__ = ["Adapter", "Journal", "Mismatch", "machine"]
