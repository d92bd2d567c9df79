"""Programs small enough to be run in every order even without a reduction."""

from tidemark.models.protocols.flush.program import FlushProgram, FlushScenario


def row_and_flush() -> FlushProgram:
    """One row and one flush of its segment; no timer fires."""
    return FlushProgram(FlushScenario(rows=(1,), flushes=(1,)))


def row_flush_and_tick() -> FlushProgram:
    """The same with a second tick, which reports the checkpoint: 23,030 interleavings."""
    return FlushProgram(FlushScenario(rows=(1, 0), flushes=(1,)))
