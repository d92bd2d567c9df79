"""A protocol as a Hypothesis state machine that drives an implementation and the interpreter side by side."""

from tidemark.models.conformance.adapter import Adapter, BrokenRunError
from tidemark.models.conformance.machine import Journal, machine
from tidemark.models.conformance.run import ConformanceRun, Mismatch, again, shortest

__all__ = [
    "Adapter",
    "BrokenRunError",
    "ConformanceRun",
    "Journal",
    "Mismatch",
    "again",
    "machine",
    "shortest",
]
