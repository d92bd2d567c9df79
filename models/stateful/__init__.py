"""A protocol as a Hypothesis state machine that drives an implementation and the interpreter side by side."""

from models.stateful.adapter import Adapter, BrokenRunError
from models.stateful.machine import Journal, machine
from models.stateful.run import Mismatch, Run, again, shortest

__all__ = ["Adapter", "BrokenRunError", "Journal", "Mismatch", "Run", "again", "machine", "shortest"]
