"""A program of asyncio processes in a world where what happens next is a choice.

``World`` is built by a ``Program``, and an ``Execution`` is driven from outside: it says which events are
enabled, and fires the one that is picked. Everything a process can wait for is such an event: the delivery of
a message, its loss, a timer, an operation on storage, the end of a preemption point, a crash. This package
knows nothing of searching (that is ``tidemark.checks.interleave``) and nothing of any protocol.
"""

from tidemark.models.simulation.cells import Cell
from tidemark.models.simulation.coroutines import CoroutineProgram, CoroutineRef, coroutine_ref
from tidemark.models.simulation.errors import (
    CallTimeoutError,
    CallUnavailableError,
    ClosedWorldError,
    ProgramError,
    ScheduledError,
    SharedObjectError,
    StorageFailedError,
    StorageUnknownError,
)
from tidemark.models.simulation.execution import CLOSED_WORLD, EXECUTION, Execution, Violation
from tidemark.models.simulation.footprint import Footprint, Interner, NamedFootprint, independent
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.program import Observation, Program, ProgramRef
from tidemark.models.simulation.settings import ClockOrder, FaultBudget, FaultKind, Link, Order, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.storage import TORN, Disk, Store
from tidemark.models.simulation.world.world import World

__all__ = [
    "CLOSED_WORLD",
    "EXECUTION",
    "TORN",
    "CallTimeoutError",
    "CallUnavailableError",
    "Cell",
    "ClockOrder",
    "ClosedWorldError",
    "CoroutineProgram",
    "CoroutineRef",
    "Disk",
    "Event",
    "Execution",
    "FaultBudget",
    "FaultKind",
    "Footprint",
    "Interner",
    "Link",
    "NamedFootprint",
    "Observation",
    "Order",
    "Process",
    "Program",
    "ProgramError",
    "ProgramRef",
    "ScheduledError",
    "Settings",
    "SharedObjectError",
    "StorageFailedError",
    "StorageUnknownError",
    "Store",
    "Violation",
    "World",
    "coroutine_ref",
    "independent",
]
