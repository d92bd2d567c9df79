"""The flush programs that are explored."""

from models.scheduled.flush_program import FlushProgram
from models.scheduled.flush_scenario import Scenario
from models.scheduled.settings import FaultBudget


def flush_and_checkpoint() -> FlushProgram:
    """Ingest, sync, flush, checkpoint."""
    return FlushProgram(Scenario(rows=(1, 0), flushes=(1,)))


def crash_and_recover() -> FlushProgram:
    """The same with one crash of the node at any step, and its recovery."""
    return FlushProgram(Scenario(rows=(1,), flushes=(1,), faults=FaultBudget(crashes=1)))


def two_flushes() -> FlushProgram:
    """Two flush requests race with the callback of a checkpoint."""
    return FlushProgram(Scenario(rows=(1, 0), flushes=(1, 2)))
