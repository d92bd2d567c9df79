"""From the live objects of the oracle's implementation to the state of ``tidemark.spec.tso``.

Each server process has a view, the store has one; ``abstract`` joins them to a state of the specification.

Times are multiples of the unit of the fine clock, counters multiples of the size of a batch of one, so that a
small instance has the real layout of timestamps: its greatest counter is the real one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidemark.impl.tso.oracle import Phase, Published, Stage, TimestampOracle
from tidemark.models.refinement.origins import Environment

FIRST_SAVE = -1
"""Stands for the updater in the number of the save that a starting server sends."""


@dataclass(frozen=True)
class Units:
    """What a step of the specification's numbers is in the implementation."""

    time: int
    """Nanoseconds."""
    logical: int
    """Timestamps."""


class UpdateView(NamedTuple):
    """One update under way. ``sent``: number of the save that its updater has sent last, 0 before."""

    updater: int
    stage: str
    now: int
    next: int
    sent: int


class CallView(NamedTuple):
    """One call that has begun. ``asked`` and ``last``, the counter of the answer, are in timestamps.

    ``before``: the calls that had their answer when it began.
    """

    call: int
    asked: int
    progress: str
    object: int
    last: int
    before: tuple[int, ...]


class OracleView(NamedTuple):
    """The memory of an elected server. Times in nanoseconds, counters in timestamps."""

    phase: Phase
    base: int
    first: int
    window: int
    current: int
    counters: tuple[tuple[int, int], ...]
    """By the physical time of each object that was published."""
    updates: tuple[UpdateView, ...]


class ServerView(NamedTuple):
    """One server. ``first_sent``: number of the save that it has sent when it started, 0 before."""

    alive: bool
    oracle: OracleView | None
    first_sent: int
    calls: tuple[CallView, ...]


class StoreView(NamedTuple):
    """The store. ``leader`` is the last one, whether it still leads or not.

    ``settled``: by server and updater the number of the last save that has arrived, or is lost for good.
    """

    saved: int
    led: bool
    leader: int
    settled: tuple[tuple[tuple[int, int], int], ...]


def oracle_view(oracle: TimestampOracle, objects: Sequence[Published], sent: Mapping[int, int]) -> OracleView:
    """The picture of an oracle. ``objects``: what it has published; ``sent``: see ``UpdateView``."""
    return OracleView(
        phase=oracle.phase,
        base=oracle.base,
        first=oracle.first,
        window=oracle.window,
        current=0 if oracle.published is None else oracle.published.physical,
        counters=tuple(sorted({made.physical: made.logical for made in objects}.items())),
        updates=tuple(
            UpdateView(updater, update.stage.value, update.now, update.next, sent.get(updater, 0))
            for updater, update in sorted(oracle.updates.items())
        ),
    )


@dataclass(frozen=True)
class Shape:
    """How many there are of everything, and where the calls go.

    ``targets``: the server of each call, as far as it is known before the call begins.
    """

    servers: int
    updaters: int
    times: int
    max_logical: int
    targets: tuple[int, ...]
    units: Units


def abstract(servers: Sequence[ServerView], store: StoreView, shape: Shape) -> dict[str, Any]:
    """The state of ``tidemark.spec.tso`` by variable name."""
    values: dict[str, Any] = {
        "saved": store.saved // shape.units.time,
        "led": store.led,
        "leader": store.leader,
    }
    memories = [_memory(place, view, store, shape) for place, view in enumerate(servers)]
    for name in ("role", "base", "next", "window", "current"):
        values[name] = {place: memory[name] for place, memory in enumerate(memories)}
    for name in ("logical", "stage", "update_now", "update_next"):
        values[name] = {
            (place, key): found
            for place, memory in enumerate(memories)
            for key, found in memory[name].items()
        }
    return values | _calls(servers, shape)


def _memory(place: int, view: ServerView, store: StoreView, shape: Shape) -> dict[str, Any]:
    """One server's part."""
    role = _role(place, view, store)
    oracle = view.oracle
    unit = shape.units.time
    times = range(shape.times + 1)
    settled = dict(store.settled)
    if oracle is None or role == "stopped":
        counters: dict[int, int] = {}
        base = first = window = current = 0
    else:
        counters = {time // unit: count // shape.units.logical for time, count in oracle.counters}
        base, window, current = oracle.base // unit, oracle.window // unit, oracle.current // unit
        first = oracle.first // unit if role in ("decided", "starting") else 0
    updates = {
        update.updater: update
        for update in (oracle.updates if oracle is not None else ())
        if role != "stopped" or _still_under_way(place, update, settled)
    }
    return {
        "role": role,
        "base": base,
        "next": first,
        "window": window,
        "current": current,
        "logical": {time: min(counters.get(time, 0), shape.max_logical) for time in times},
        "stage": {u: updates[u].stage if u in updates else "idle" for u in range(shape.updaters)},
        "update_now": {
            u: updates[u].now // unit if u in updates and updates[u].stage == Stage.READ.value else 0
            for u in range(shape.updaters)
        },
        "update_next": {u: updates[u].next // unit if u in updates else 0 for u in range(shape.updaters)},
    }


def _still_under_way(place: int, update: UpdateView, settled: Mapping[tuple[int, int], int]) -> bool:
    arrived = settled.get((place, update.updater), 0)
    return update.stage == Stage.SAVING.value and arrived < update.sent


def _role(place: int, view: ServerView, store: StoreView) -> str:
    oracle = view.oracle
    if oracle is None:
        return "elected" if store.led and store.leader == place else "new"
    if view.alive and oracle.phase is not Phase.STOPPED:
        return "elected" if oracle.phase is Phase.NEW else oracle.phase.value
    arrived = dict(store.settled).get((place, FIRST_SAVE), 0)
    return Phase.DECIDED.value if arrived < view.first_sent else Phase.STOPPED.value


def _calls(servers: Sequence[ServerView], shape: Shape) -> dict[str, Any]:
    found = {call.call: (place, call) for place, view in enumerate(servers) for call in view.calls}
    calls = range(len(shape.targets))
    begun = {c: call for c, (_, call) in found.items()}
    unit = shape.units
    return {
        "call": {c: begun[c].progress if c in begun else "new" for c in calls},
        "at": {c: found[c][0] if c in found else shape.targets[c] for c in calls},
        "count": {c: begun[c].asked // unit.logical if c in begun else 0 for c in calls},
        "object": {c: begun[c].object // unit.time if c in begun else 0 for c in calls},
        "last": {c: begun[c].last // unit.logical if c in begun else 0 for c in calls},
        "precedes": {(a, b): b in begun and a in begun[b].before for a in calls for b in calls},
    }


ENVIRONMENT = Environment(
    "spec/tso:Tso",
    {
        "saved, led, leader": "the store; programs over SQLite and etcd read the same from it",
        "role": "elected and stopped also by the store and by whether the process lives",
        "logical": "the program keeps each object that was published",
        "stage, update_now, update_next": (
            "after the end of the process: whether its last save has reached the store"
        ),
        "call, at, count, object, last": "calls of clients: what they asked, from whom, and heard",
        "precedes": "a history: which calls were answered when a client began",
    },
)
"""What is not read from the implementation, and why."""
