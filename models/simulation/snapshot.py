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
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from tidemark.models.simulation.loop.freezing import immutable
from tidemark.models.simulation.loop.lane import INSIDE, Lane, LaneTask
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
    positions = lane.positions
    if positions is None:
        positions, fixed = _lane_positions(lane)
        lane.positions = positions if fixed else None
    clock = (lane.clock, tuple(sorted(timer.when() for timer in lane.timers))) if timed else len(lane.timers)
    return (lane.name, lane.incarnation, lane.alive, clock, len(lane.ready), positions)


def _lane_positions(lane: Lane) -> tuple[tuple[tuple[str, str], ...], bool]:
    """Return where the tasks of a lane are suspended, and whether that can change only when its code runs:
    what is left of an iterator may depend on what it goes through.
    """
    found: list[tuple[str, str]] = []
    fixed = True
    for task in lane.tasks:
        if task.done():
            continue
        known = task.position if type(task) is LaneTask else None
        if known is None:
            places: list[Key] = []
            own = _add_positions(task, places)
            fixed = fixed and own
            known = (plain(task.get_name()), repr(tuple(places)))
            if own and not lane.ready and type(task) is LaneTask:  # what is ready may still run it
                task.position = known
        found.append(known)
    return tuple(sorted(found)), fixed


def _add_positions(task: "asyncio.Task[Any]", places: list[Key]) -> bool:
    """Add the places at which the coroutines of a task are suspended. Return whether none has an iterator."""
    coroutine: Any = task.get_coro()
    fixed = True
    while isinstance(coroutine, types.CoroutineType) and coroutine.cr_frame is not None:
        code = coroutine.cr_code
        values: list[Hashable] = []
        if not code.co_filename.startswith(INSIDE):
            fixed = _add_values(coroutine, values) and fixed
        places.append((code.co_qualname, coroutine.cr_frame.f_lasti, tuple(values)))
        coroutine = coroutine.cr_await
    return fixed


_iterators: dict[type, bool] = {}
"""By type: are its values iterators?"""


def _add_values(coroutine: "types.CoroutineType[Any, Any, Any]", values: list[Hashable]) -> bool:
    """Add what a suspended coroutine refers to: locals, cells and the evaluation stack. Return whether there
    is no iterator among it.

    Immutable values are added as they are, iterators by how much is left of them, the rest by type.
    """
    fixed = True
    for referent in gc.get_referents(coroutine):
        if immutable(referent):
            values.append(referent)
            continue
        kind = type(referent)
        iterates = _iterators.get(kind)
        if iterates is None:
            iterates = _iterators[kind] = hasattr(kind, "__next__")
        if iterates:
            fixed = False
            values.append((kind.__name__, operator.length_hint(referent, -1)))
        else:
            values.append(kind.__name__)
    return fixed
