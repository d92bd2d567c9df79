"""A program of asyncio processes in a world where what happens next is a choice.

`World` is built by a `Program`, and an `Execution` is driven from outside: it says which events are enabled,
and fires the one that is picked. Everything a process can wait for is such an event: the delivery of a
message, its loss, a timer, an operation on storage, the end of a preemption point, a crash. This package
knows nothing of searching (that is `checks.interleave`) and nothing of any protocol.
"""

from models.scheduled.cells import Cell
from models.scheduled.coroutines import CoroutineProgram, CoroutineRef, coroutine_ref
from models.scheduled.errors import (
    CallTimeoutError,
    CallUnavailableError,
    ClosedWorldError,
    ProgramError,
    ScheduledError,
    SharedObjectError,
    StorageFailedError,
    StorageUnknownError,
)
from models.scheduled.execution import EXECUTION, Execution, Violation
from models.scheduled.footprint import Footprint, Interner, NamedFootprint, independent
from models.scheduled.lane import Event
from models.scheduled.process import Process
from models.scheduled.program import Observation, Program, ProgramRef
from models.scheduled.settings import ClockOrder, FaultBudget, FaultKind, Link, Order, Settings
from models.scheduled.storage import TORN, Disk, Store
from models.scheduled.world import World

__all__ = [
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
