"""The declared state of an execution: what a search that merges equal states compares.

It has three parts. *Declared data*: what ``Program.declared`` returns. *Program counters*: for each pending
task its name, and for each of its coroutines the place where it is suspended together with the immutable
values that it refers to, those on its evaluation stack included. *The world*: events that may happen,
messages, stores, disks, budgets. Numbers that only tell names apart are left out.

Two executions with equal declared states are taken to have equal futures. That is true only if the program
declares all mutable data of its processes that influence the future: it is a promise of the program. The
search that relies on it (``tidemark.checks.interleave.strategies.states``) is a mode of its own, names the
promise in its bounds, and audits it.
"""

import asyncio
import gc
import hashlib
import operator
import re
import types
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from tidemark.models.simulation.loop.freezing import immutable
from tidemark.models.simulation.loop.lane import INSIDE, Lane
from tidemark.models.simulation.settings import ClockOrder

if TYPE_CHECKING:
    from tidemark.models.simulation.world.world import World

_NUMBER = re.compile(r"#\d+|/task\d+")

Key = tuple[Hashable, ...]


def digest(key: Hashable) -> bytes:
    """Return 16 bytes for a declared state: equal in every process, different with overwhelming
    probability.
    """
    return hashlib.blake2b(repr(key).encode(), digest_size=16).digest()


def world_state(world: "World") -> Key:
    """Return the program counters and the world's part of a declared state."""
    timed = world.settings.clock is not ClockOrder.UNTIMED
    lanes = tuple(_lane_state(lane, timed=timed) for lane in world.lanes.values())
    events = tuple(sorted((plain(event.label), event.owner) for event in world.events.values()))
    faults = tuple(sorted(plain(label) for label in world.faults))
    budgets = tuple(world.budget.values())
    return (
        lanes,
        events,
        faults,
        budgets,
        world.firings(),
        world.network.state(plain),
        world.storage_state(),
    )


def plain(name: str) -> str:
    """Return a name without the numbers that only tell names apart."""
    return _NUMBER.sub("", name)


def _lane_state(lane: Lane, *, timed: bool) -> Key:
    positions = sorted(
        (plain(task.get_name()), repr(tuple(_positions(task)))) for task in lane.tasks if not task.done()
    )
    clock = (lane.clock, tuple(sorted(timer.when() for timer in lane.timers))) if timed else len(lane.timers)
    return (lane.name, lane.incarnation, lane.alive, clock, len(lane.ready), tuple(positions))


def _positions(task: "asyncio.Task[Any]") -> Iterator[Key]:
    coroutine: Any = task.get_coro()
    while isinstance(coroutine, types.CoroutineType) and coroutine.cr_frame is not None:
        code = coroutine.cr_code
        values = () if code.co_filename.startswith(INSIDE) else tuple(_values(coroutine))
        yield (code.co_qualname, coroutine.cr_frame.f_lasti, values)
        coroutine = coroutine.cr_await


def _values(coroutine: "types.CoroutineType[Any, Any, Any]") -> Iterator[Hashable]:
    """Yield what a suspended coroutine refers to: locals, cells and the evaluation stack.

    Immutable values as they are, iterators by how much is left of them, the rest by type.
    """
    for referent in gc.get_referents(coroutine):
        if immutable(referent):
            yield referent
        elif hasattr(type(referent), "__next__"):
            yield (type(referent).__name__, operator.length_hint(referent, -1))
        else:
            yield type(referent).__name__
