"""The declared state of an execution: what a search that merges equal states compares.

It has three parts. *Declared data*: what ``Program.declared`` returns. *Program counters*: for each pending
task its name, its place in the queue of a lock, and for each of its coroutines the place where it is
suspended together with the values that it refers to, those on its evaluation stack included: immutable ones,
containers and records of them. Generators and asynchronous generators that they refer to count likewise,
those in containers and context managers too, and all asynchronous generators of a process that have begun and
not ended. *The world*: events that may happen, what dead processes have begun, messages, stores, disks,
budgets. Numbers that only tell names apart are left out. What functions capture is not seen, nor the
attributes of objects: a program declares them.

Two executions with equal declared states are taken to have equal futures. That is true only if the program
declares all mutable data of its processes that influence the future: it is a promise of the program. The
search that relies on it (``tidemark.checks.interleave.strategies.states``) is a mode of its own, names the
promise in its bounds, and audits it.
"""

import asyncio
import collections
import contextlib
import functools
import gc
import hashlib
import itertools
import operator
import re
import types
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from tidemark.models.simulation.loop.freezing import PLAIN, immutable, may_be_immutable
from tidemark.models.simulation.loop.lane import INSIDE, Event, Lane, LaneTask
from tidemark.models.simulation.settings import ClockOrder

if TYPE_CHECKING:
    from tidemark.models.simulation.world.world import World

_INSIDE_OF: dict[type, Callable[[Any], tuple[Any, Any]]] = {
    types.CoroutineType: operator.attrgetter("cr_frame", "cr_await"),
    types.AsyncGeneratorType: operator.attrgetter("ag_frame", "ag_await"),
    types.GeneratorType: operator.attrgetter("gi_frame", "gi_yieldfrom"),
}
"""By type: how to get at the frame and at what is awaited."""
SUSPENDABLE = (types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType)
Suspendable: TypeAlias = (
    "types.CoroutineType[Any, Any, Any] | types.GeneratorType[Any, Any, Any]"
    " | types.AsyncGeneratorType[Any, Any]"
)
_STACKS = (contextlib.ExitStack, contextlib.AsyncExitStack)
_MANAGERS = (
    *_STACKS,
    contextlib._GeneratorContextManager,  # noqa: SLF001  # what the decorators make has no public name
    contextlib._AsyncGeneratorContextManager,  # noqa: SLF001
)
_CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)
_C_ITERATORS = frozenset({"builtins", "itertools"})
"""Modules of iterators that refer to what they draw from: ``enumerate``, ``zip``, ``map``, ``chain``."""

_NUMBER = re.compile(r"#\d+|/task\d+")

Key = tuple[Hashable, ...]


def digest(key: Hashable) -> bytes:
    """Return 16 bytes for a declared state: equal in every process, most likely different for others."""
    return hashlib.blake2b(repr(key).encode(), digest_size=16).digest()


def world_state(world: "World") -> Key:
    """Return the program counters and the world's part of a declared state."""
    timed = world.settings.clock is not ClockOrder.UNTIMED
    lanes = tuple(_lane_state(lane, timed=timed) for lane in world.lanes.values())
    events = tuple(sorted((plain(event.label), event.owner, _does(event)) for event in world.events.values()))
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


Places = tuple[tuple[bytes | None, tuple[tuple[str, tuple[int, ...]] | None, ...]], ...]


def places_of(world: "World") -> Places:
    """Return what is known of where the tasks of a world are suspended."""
    return tuple(
        (lane.positions, tuple([task.position if type(task) is LaneTask else None for task in lane.tasks]))
        for lane in world.lanes.values()
    )


def recall(world: "World", places: Places) -> None:
    """Set where the tasks are suspended, in a world that has made the same steps as that of ``places``."""
    for lane, (positions, known) in zip(world.lanes.values(), places, strict=True):
        lane.positions = positions
        for task, position in zip(lane.tasks, known, strict=True):
            if type(task) is LaneTask:
                task.position = position


@functools.lru_cache(maxsize=1 << 16)
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


def _lane_positions(lane: Lane) -> tuple[bytes, bool]:
    """Return a digest of where the tasks of a lane are suspended, and whether that can change only when its
    code runs: what is left of an iterator may depend on what it goes through.
    """
    found: list[str] = []
    fixed = True
    generators = lane.generators()
    shown: set[int] = set()
    for task in lane.tasks:
        if task.done():
            continue
        known = task.position if type(task) is LaneTask else None
        if known is None:
            known, moving = _position(task, generators)
            fixed = fixed and _MOVING not in moving
            if not moving and not lane.ready and type(task) is LaneTask:  # what is ready may still run it
                task.position = known
        text, inside = known
        found.append(f"{text}\0shielded" if lane.shielded and lane.out_of_reach(task) else text)
        shown.update(inside)
    others = [one for number, one in generators.items() if number not in shown]
    found += [f"generator\0{_place(one, set())!r}" for one in others]
    found.sort()
    return hashlib.blake2b("\n".join(found).encode(), digest_size=16).digest(), fixed


def _position(
    task: "asyncio.Task[Any]", generators: "Mapping[int, Suspendable]"
) -> tuple[tuple[str, tuple[int, ...]], set[int]]:
    """Return the name of a task and the places at which it waits: in its coroutine, in what that awaits, and
    so on; which asynchronous generators are among them; and who else may change that: ``_MOVING``,
    ``_SHARED``, none.
    """
    chain = list(_awaited(task.get_coro()))
    shown = {id(one) for one, _ in chain}
    places = tuple([_place_in(one, frame, shown) for one, frame in chain])
    inside = tuple([number for number, one in generators.items() if id(one) in shown])
    return (f"{plain(task.get_name())}\0{places!r}", inside), shown & {_MOVING, _SHARED}


def _awaited(waiting: Any) -> "Iterator[tuple[Suspendable, types.FrameType]]":
    """The coroutines and generators that a task is inside of, outermost first, each with its frame."""
    while waiting is not None:
        found = waiting if type(waiting) in _INSIDE_OF else _wrapped(waiting)
        if found is None:
            return
        frame, waiting = _INSIDE_OF[type(found)](found)
        if frame is None:
            return
        yield found, frame


def _wrapped(waiting: Any) -> "Suspendable | None":
    """What drives an awaited object: a step of an asynchronous generator, the iterator of a coroutine; None:
    a future.
    """
    if type(waiting).__module__ == "_asyncio" or isinstance(waiting, asyncio.Future):
        return None
    return next((one for one in gc.get_referents(waiting) if isinstance(one, SUSPENDABLE)), None)


def _place(one: "Suspendable", shown: set[int]) -> Key:
    """Where a coroutine or generator is suspended, and what it refers to there: locals, cells and stack."""
    frame, _ = _INSIDE_OF[type(one)](one)
    return (one.__qualname__, "ended") if frame is None else _place_in(one, frame, shown)


def _place_in(one: "Suspendable", frame: types.FrameType, shown: set[int]) -> Key:
    code = frame.f_code
    values: tuple[Hashable, ...] = ()
    if code.co_filename.startswith(INSIDE[-1]):
        values = _turns(one)
        if values:
            shown.add(_SHARED)
    elif not code.co_filename.startswith(INSIDE):
        values = tuple(
            [
                value if kind in PLAIN else _opaque.get(kind) or _value(value, shown)
                for value in gc.get_referents(one)
                if (kind := type(value)) not in _OF_THE_CODE
            ]
        )
    return (code.co_qualname, frame.f_lasti, values)


def _turns(one: "Suspendable") -> tuple[int, ...]:
    """The places of a waiter in the queues of what it waits for: a lock of asyncio, a condition, a queue."""
    held = gc.get_referents(one)
    owners = [vars(value) for value in held if type(value).__module__ in _ASYNCIO]
    queues = [queue for owner in owners for queue in owner.values() if type(queue) is collections.deque]
    futures = [value for value in held if queues and isinstance(value, asyncio.Future)]
    return tuple([queue.index(future) for queue in queues for future in futures if future in queue])


_ASYNCIO = frozenset({"asyncio.locks", "asyncio.queues"})
_OF_THE_CODE = frozenset({types.CodeType, types.FrameType, types.FunctionType})
"""Types of what every coroutine refers to. The code is told by its name, and functions have no state."""
_MOVING = -1
"""Among what was shown: something that others than the process may move."""
_SHARED = -2
"""Among what was shown: something that other tasks of the process may change."""

_opaque: dict[type, str] = {}
"""By type: its name if that is all that counts of a value, empty if the value has to be looked at."""


def _value(value: Any, shown: set[int], *, held: bool = False) -> Hashable:
    """A value as it is if it is immutable, and what containers hold. Of others the type, and all
    places in code that are found in them: those of generators, of context managers that are generators, of
    what a stack of context managers is going to call. Iterators count by how much is left of them.

    ``held``: by a context manager, whose generator only the task moves that has entered it.
    """
    kind = type(value)
    name = _opaque.get(kind)
    if name is None:
        name = _opaque[kind] = _name_if_opaque(kind)
    if name:
        return name
    if immutable(value):
        return value  # type: ignore[no-any-return]
    name = kind.__name__
    if (kind is types.MethodType and not _may_hold_places(type(value.__self__))) or id(value) in shown:
        return name
    if isinstance(value, SUSPENDABLE):
        shown.add(id(value))
        if not held:
            shown.add(_MOVING)
        return _place(value, shown)
    if isinstance(value, _CONTAINERS):
        shown.update((id(value), _SHARED))
        inside = [_value(one, shown) for one in _held(value)]
        return (name, *(sorted(inside, key=repr) if isinstance(value, set | frozenset) else inside))
    parts = _parts(value)
    if parts is None:
        return _record(value, name, shown)
    shown.add(id(value))
    rest = operator.length_hint(value, -1) if hasattr(kind, "__next__") else None
    if rest is not None and rest >= 0:
        shown.add(_MOVING)
    by_manager = _is_manager(kind)
    return (name, rest, *[_value(part, shown, held=by_manager) for part in parts])


def _record(value: Any, name: str, shown: set[int]) -> Hashable:
    """A dataclass of nothing but immutable values, as it is now; the name of any other type."""
    # Of a frozen one that comes here, some values are not immutable.
    fields = () if may_be_immutable(type(value)) else getattr(value, "__dataclass_fields__", ())
    held = [getattr(value, one, None) for one in fields]
    if not held or not all(map(immutable, held)):
        return name
    shown.add(_SHARED)
    return (name, *held)


def _does(event: Event) -> str:
    """What the operation of a dead process does: values, and what its closures refer to."""
    return "" if event.does is None else repr(_closed_over(event.does, set()))


def _closed_over(value: Any, shown: set[int]) -> Hashable:
    if not isinstance(value, types.FunctionType):
        return _value(value, shown)
    if id(value) in shown:
        return value.__qualname__
    shown.add(id(value))
    held = [one for cell in value.__closure__ or () for one in gc.get_referents(cell)]
    return (value.__qualname__, *[_closed_over(one, shown) for one in held])


def _name_if_opaque(kind: type) -> str:
    special = (*SUSPENDABLE, *_MANAGERS, *_CONTAINERS, types.MethodType, functools.partial)
    looked_at = may_be_immutable(kind) or issubclass(kind, special) or hasattr(kind, "__next__")
    looked_at = looked_at or hasattr(kind, "__dataclass_fields__")
    return "" if looked_at else kind.__name__


_is_manager: Callable[[type], bool] = functools.cache(lambda kind: issubclass(kind, _MANAGERS))
_may_hold_places: Callable[[type], bool] = functools.cache(
    lambda kind: issubclass(kind, (*SUSPENDABLE, *_MANAGERS, types.MethodType))
)


def _held(value: Any) -> Iterable[Any]:
    return itertools.chain.from_iterable(value.items()) if isinstance(value, dict) else value


def _parts(value: Any) -> Iterable[Any] | None:
    """What has to be looked at in a value; None if it has no place in code."""
    if _is_manager(type(value)):
        return vars(value).values() if isinstance(value, _STACKS) else (value.gen,)
    if isinstance(value, types.MethodType):
        return None if isinstance(value.__self__, types.MethodType) else (value.__self__,)
    if isinstance(value, functools.partial):
        return (value.func, *value.args, *value.keywords.values())
    if hasattr(type(value), "__next__") and type(value).__module__ in _C_ITERATORS:
        return gc.get_referents(value)
    return () if hasattr(type(value), "__next__") else None
