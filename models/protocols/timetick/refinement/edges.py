"""From the broker's logs, the session store and the live objects of coordinators to the state of
``tidemark.spec.timetick.variants.edges:OverTheEdges``.

Everything else is read as in ``tidemark.models.protocols.timetick.refinement``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tidemark.impl.values.report import DDL_SOURCE, SourceId
from tidemark.models.protocols.timetick.refinement import (
    CoordinatorView,
    MessageView,
    SessionsView,
    SourceView,
    TickView,
    Whole,
    abstract,
)
from tidemark.models.refinement.origins import Environment


class EntryView(NamedTuple):
    """An entry of a log. ``number``: of a message; None for a tick."""

    source: int
    number: int | None
    ts: int


Entries = tuple[EntryView, ...]
"""What a log holds, in its order."""


@dataclass(frozen=True)
class LifeView:
    """One incarnation of the coordinator.

    number: as the logs know it. alive: its process lives. told: the last ticks of which it was told, by
    channel. memory: once it serves. under_way: ticks of which it has heard nothing, by channel. listed: the
    sessions of its list. accepted: proxies of which it has taken a report.
    """

    number: int
    alive: bool
    told: tuple[tuple[str, int], ...]
    memory: CoordinatorView | None
    under_way: tuple[tuple[str, int], ...]
    ddl: SourceView
    listed: tuple[SourceId, ...]
    accepted: tuple[SourceId, ...]


@dataclass(frozen=True)
class CoordinatorsView:
    """The living incarnation, if one lives that was not followed, and the last one that served before: as it
    was when it crashed or was followed.

    closed: channels whose logs have told a later one that they refuse that. shut: proxies of which one was
    told that all logs refuse them. admitted: proxies for which one was told that it is the newest.
    """

    living: LifeView | None
    before: LifeView | None
    closed: tuple[str, ...]
    serving: tuple[SourceId, ...]
    shut: tuple[SourceId, ...]
    admitted: tuple[SourceId, ...]


def coordinators_view(
    lives: Sequence[LifeView],
    *,
    shut: tuple[SourceId, ...],
    followed: Sequence[LifeView] = (),
    admitted: tuple[SourceId, ...] = (),
) -> CoordinatorsView:
    """Which incarnation is the coordinator, and which one was. ``followed``: as they were at that time."""
    frozen = {life.number: life for life in followed}
    seen = [replace(frozen.get(life.number, life), alive=True, accepted=()) for life in lives]
    is_over = [not life.alive or life.number in frozen for life in lives]
    before = [n for n, life in enumerate(seen) if is_over[n] and life.memory is not None]
    later = lives[before[-1] + 1 :] if before else lives
    return CoordinatorsView(
        living=next((life for life, over in zip(seen, is_over, strict=True) if not over), None),
        before=seen[before[-1]] if before else None,
        closed=tuple(sorted({channel for life in later for channel, _ in life.told})),
        serving=tuple(sorted({source for life in lives for source in life.accepted if source > 0})),
        shut=shut,
        admitted=admitted,
    )


@dataclass(frozen=True)
class Edges:
    """Everything that is observed. ``channels``: their names in the order of the elements."""

    issued: int
    channels: tuple[str, ...]
    logs: tuple[Entries, ...]
    coordinators: CoordinatorsView
    proxies: dict[SourceId, SourceView]
    sessions: tuple[tuple[SourceId, str], ...]


_STATES = {"alive": "registered", "ended": "expired", "fenced": "expired"}


def abstract_edges(
    whole: Edges, *, channel_of: Sequence[int], ticks_end: bool, ddl_ends: bool
) -> dict[str, Any]:
    """The state of ``OverTheEdges``, by variable name and without the fault counter.

    Args:
        whole: what is observed.
        channel_of: by message the place of its channel.
        ticks_end, ddl_ends: the specification says that a log which has told of a fence takes no tick, or no
            DDL message, of the predecessor.
    """
    living = whole.coordinators.living
    closed = [channel in whole.coordinators.closed for channel in whole.channels]
    starts = living if living is not None and living.memory is None else None
    told = dict(starts.told) if starts is not None else {}
    stray = _under_way(whole, whole.coordinators.before)
    proxies = tuple(sorted(whole.proxies))
    values = abstract(_whole(whole), proxies=proxies, messages=len(channel_of))
    _add_strays(values, whole, closed=closed, channel_of=channel_of, ddl_ends=ddl_ends)
    listed = starts.listed if starts is not None else ()
    every = list(enumerate(whole.channels))
    return values | {
        "stray": {c: 0 if closed[c] and ticks_end else stray.get(name, 0) for c, name in every},
        "closed": {c: closed[c] for c, _ in every},
        "has_read": {c: name in told for c, name in every},
        "seen": {c: told.get(name, 0) for c, name in every},
        "shut": {p: source in whole.coordinators.shut for p, source in enumerate((*proxies, DDL_SOURCE))},
        "listed": {p: source in listed for p, source in enumerate((*proxies, DDL_SOURCE))},
    }


def abstract_admission(whole: Edges) -> dict[str, Any]:
    """What ``OlderOverTheEdges`` adds."""
    order = enumerate((*sorted(whole.proxies), DDL_SOURCE))
    return {
        "older": whole.coordinators.before is not None,
        "admits": {p: source in whole.coordinators.admitted for p, source in order},
    }


def _whole(whole: Edges) -> Whole:
    """What the coordinator and its surroundings are without those before it."""
    living = whole.coordinators.living
    serves = living is not None and living.memory is not None
    nothing = SourceView((), (0,) * len(whole.channels))
    ended = tuple((source, _STATES[state]) for source, state in whole.sessions)
    fenced = tuple(source for source, state in whole.sessions if state == "fenced")
    ddl = living.ddl if living is not None and serves else nothing
    return Whole(
        issued=whole.issued,
        coordinator=_counted(whole, living) if living is not None else None,
        sources={DDL_SOURCE: ddl, **whole.proxies},
        sessions=SessionsView(ended, fenced),
        appended={entry.number: entry.ts for log in whole.logs for entry in log if entry.number is not None},
        ticks=tuple(_ticks(log) for log in whole.logs) or (TickView(0, 0),) * len(whole.channels),
        serving=whole.coordinators.serving,
    )


def _ticks(log: Entries) -> TickView:
    ticks = [entry.ts for entry in log if entry.number is None]
    return TickView(ticks[-1] if ticks else 0, max(ticks, default=0))


def _under_way(whole: Edges, life: LifeView | None) -> dict[str, int]:
    """The ticks of an incarnation that its logs do not have."""
    if life is None:
        return {}
    logs = dict(zip(whole.channels, whole.logs, strict=True))
    return {c: ts for c, ts in life.under_way if EntryView(life.number, None, ts) not in logs[c]}


def _counted(whole: Edges, life: LifeView) -> CoordinatorView | None:
    """The memory of a coordinator that has heard of each tick that is in its log."""
    memory = life.memory
    if memory is None:
        return None
    missing, last, synced = _under_way(whole, life), list(memory.last), list(memory.synced)
    landed = {whole.channels.index(c): ts for c, ts in life.under_way if c not in missing}
    for place, ts in landed.items():
        last[place] = synced[place] = ts
    to_send = tuple(place for place in memory.to_send if place not in landed)
    return replace(memory, to_send=to_send, last=tuple(last), synced=tuple(synced))


def _add_strays(
    values: dict[str, Any], whole: Edges, *, closed: Sequence[bool], channel_of: Sequence[int], ddl_ends: bool
) -> None:
    """The DDL messages of those who have crashed."""
    living, before = whole.coordinators.living, whole.coordinators.before
    if before is None:
        return
    serves = living is not None and living.memory is not None
    known = dict(living.ddl.messages) if living is not None and serves else {}
    for number, view in before.ddl.messages:
        if values["message"][number] == "appended" or (number in known and known[number].stage != "dropped"):
            continue
        found = MessageView("dropped", 0, 0)
        if view.stage == "open" and not closed[channel_of[number]]:
            found = MessageView("open", 0, view.ts)
        elif view.stage == "open" and not ddl_ends:
            found = MessageView("lost", 0, view.ts)
        values["message"][number], values["floor"][number], values["ts"][number] = found


ENVIRONMENT = Environment(
    "tidemark.spec.timetick.variants.edges:OlderOverTheEdges",
    {
        "issued": "the oracle is a counter of the simulated world: what it has answered to anybody",
        "message, ts": "before they are in a log: what the sources, which are simulated, know of them",
        "floor": "a history: what the oracle had answered when the question was asked; nobody keeps it",
        "session, fenced": "rows of SqliteSessions, in a database in memory: read by a query",
        "shut": "that a coordinator has its answer is noted by the adapter",
        "promised": "the last report of a proxy, which is simulated",
        "up": "whether the process lives",
        "to_send, last, synced": (
            "a tick counts when its log has it, though its sender has not heard of it yet"
        ),
        "stray": "the calls of the dead coordinator that were on their way: noted by the adapter",
        "closed, has_read, seen": "that a coordinator has its answer is noted by the adapter",
        "listed": "what its first transaction has read: noted there",
        "older, admits": "that one was followed, and what the log has told it: noted by the adapter",
    },
)
"""What is not read from the implementation, and why."""
