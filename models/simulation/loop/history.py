"""What has run in a process: the callbacks in their order, and whatever else ran code of it.

The memory of a process of deterministic code is a function of this history. What can happen next follows from
it and from what the loop holds: the callbacks that are ready, the armed timers, the steps of executors. Two
executions with equal histories and equal loops have equal futures, however the passes of the loop and the
firings of timers lay between the callbacks. No frame of Python is looked at.

Code may also look at the clock. Where it does, the state holds the present time and the deadlines of timers.
"""

import asyncio
import hashlib
from collections.abc import Hashable
from typing import TYPE_CHECKING

from tidemark.models.simulation.loop.lane import Lane, LaneHandle, LaneTask, LaneTimer
from tidemark.models.simulation.loop.memory import memory_of

if TYPE_CHECKING:
    from tidemark.models.simulation.world.environment import Environment


class History:
    """The history of one process, as a running digest."""

    __slots__ = ("_digest",)

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=16)

    def ran(self, handle: asyncio.Handle) -> None:
        """Add a callback that runs now. The number of its task tells nothing new of deterministic code: it
        shows where a set was iterated whose order depends on addresses.
        """
        task = getattr(handle._callback, "__self__", None)  # type: ignore[attr-defined]  # noqa: SLF001
        number = task.number if isinstance(task, LaneTask) else 0
        self._digest.update(f"{identity(handle)}:{number};".encode())

    def happened(self, label: str) -> None:
        """Add an event that ran code: a function in an executor, a cancellation."""
        self._digest.update(f"{label};".encode())

    def digest(self) -> bytes:
        """Return 16 bytes that stand for the history so far."""
        return self._digest.digest()


def identity(handle: asyncio.Handle) -> str:
    """Return what a callback is called in every execution with the same history of its process."""
    if isinstance(handle, LaneTimer):
        return handle.label
    assert isinstance(handle, LaneHandle)
    return str(handle.serial)


def state_after(world: "Environment", *, timed: bool) -> bytes:
    """Return a digest of the histories of all processes and of what the loop holds. ``timed``: code looks at
    the clock, or the order of timers depends on it.
    """
    lanes = tuple(_lane_state(lane, timed=timed) for lane in world.lanes.values())
    state: Hashable = (lanes, tuple(world.events), tuple(world.budget.values()))
    return hashlib.blake2b(repr(state).encode(), digest_size=16).digest()


def _lane_state(lane: Lane, *, timed: bool) -> tuple[Hashable, ...]:
    assert lane.history is not None
    ready = tuple(identity(handle) for handle in lane.ready if not handle.cancelled())
    timers = tuple((timer.label, timer.when() if timed else 0.0) for timer in lane.timers)
    return (lane.history.digest(), ready, timers, lane.ending.value, lane.clock if timed else 0.0)


def memory_after(world: "Environment", *, timed: bool, drawn: Hashable) -> bytes:
    """Return a digest of the memories of all processes. ``timed``: code looks at the clock. ``drawn``: the
    state of the random numbers. Raises OpaqueError: a memory holds what cannot be seen.
    """
    waits = [part for event in world.events.values() for part in (event.label.partition("#")[0], event.fire)]
    memories = [memory_of(lane, waits, timed=timed) for lane in world.lanes.values()]
    state: Hashable = (tuple(memories), tuple(world.budget.values()), drawn)
    return hashlib.blake2b(repr(state).encode(), digest_size=16).digest()
