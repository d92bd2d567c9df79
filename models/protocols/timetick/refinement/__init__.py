"""From the live objects of a root coordinator and its surroundings to the state of
``tidemark.spec.timetick``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.values.report import DDL_SOURCE, SourceId, TimeTickReport
from tidemark.models.refinement.origins import Environment

Values = tuple[int, ...]
"""A value for each channel, in the order of the specification's elements."""


class MessageView(NamedTuple):
    """What a source knows of one of its messages. ``stage``: new, asked, open or dropped."""

    stage: str
    floor: int
    ts: int


@dataclass(frozen=True)
class SourceView:
    """One source. ``messages``: by number of the message."""

    messages: tuple[tuple[int, MessageView], ...]
    promised: Values


@dataclass(frozen=True)
class CoordinatorView:
    """The memory of a coordinator that has taken over."""

    entries: tuple[tuple[SourceId, Values | None], ...]
    queued: tuple[Values, ...]
    round: Values | None
    to_send: tuple[int, ...]
    """Places of the channels."""
    last: Values
    synced: Values


@dataclass(frozen=True)
class SessionsView:
    """The session store: by source registered or expired; whom the logs refuse."""

    sessions: tuple[tuple[SourceId, str], ...]
    fenced: tuple[SourceId, ...]


class TickView(NamedTuple):
    """The ticks of one log."""

    last: int
    highest: int


def values_of(report: TimeTickReport | None, channels: Sequence[str]) -> Values:
    """The values of a report; zeros for none."""
    return tuple(0 if report is None else report.value(channel) for channel in channels)


def coordinator_view(coordinator: RootCoord) -> CoordinatorView:
    """The picture of a coordinator that has taken over."""
    channels, sender = coordinator.channels, coordinator.sender
    sync = coordinator.sync
    return CoordinatorView(
        entries=tuple(
            (source, None if report is None else values_of(report, channels))
            for source, report in sorted(sync.entries.items())
        ),
        queued=tuple(
            tuple(min(report.value(channel) for report in complete.values()) for channel in channels)
            for complete in sync.rounds.waiting
        ),
        round=tuple(sender.round[channel] for channel in channels) if sender.round else None,
        to_send=tuple(place for place, channel in enumerate(channels) if channel in sender.to_send),
        last=tuple(sender.last[channel] for channel in channels),
        synced=tuple(sender.synced[channel] for channel in channels),
    )


@dataclass(frozen=True)
class Whole:
    """Everything that is observed, part by part.

    coordinator: None while no coordinator has taken over, or its process is dead. sources: the proxies and
    the DDL source, by id. appended: messages in the logs, with their timestamps, which their sources may have
    forgotten. serving: proxies of which a report was accepted.
    """

    issued: int
    coordinator: CoordinatorView | None
    sources: dict[SourceId, SourceView]
    sessions: SessionsView
    appended: dict[int, int]
    ticks: tuple[TickView, ...]
    serving: tuple[SourceId, ...]


def abstract(whole: Whole, *, proxies: Sequence[SourceId], messages: int) -> dict[str, Any]:
    """The state of ``tidemark.spec.timetick``, by variable name and without the fault counter.

    proxies: their ids in the order of the specification's elements; the DDL source is the last element.
    messages: how many there are.
    """
    order = [*proxies, DDL_SOURCE]
    place = {source: index for index, source in enumerate(order)}
    every = range(len(whole.ticks))
    sessions = dict(whole.sessions.sessions)
    return {
        "issued": whole.issued,
        **_messages(whole, messages),
        "session": {place[source]: sessions.get(source, "none") for source in order},
        "serves": {place[source]: source in whole.serving for source in order},
        "fenced": {place[source]: source in whole.sessions.fenced for source in order},
        "promised": {
            (place[source], c): whole.sources[source].promised[c] for source in order for c in every
        },
        **_coordinator(whole.coordinator, place, len(whole.ticks)),
        "tick": {c: whole.ticks[c].last for c in every},
        "highest": {c: whole.ticks[c].highest for c in every},
    }


def _messages(whole: Whole, count: int) -> dict[str, Any]:
    nothing = MessageView("new", 0, 0)
    known = {number: view for source in whole.sources.values() for number, view in source.messages}
    views = {number: known.get(number, nothing) for number in range(count)}
    for number, ts in whole.appended.items():
        views[number] = MessageView("appended", 0, ts)
    return {
        "message": {number: view.stage for number, view in views.items()},
        "floor": {number: view.floor for number, view in views.items()},
        "ts": {number: view.ts for number, view in views.items()},
    }


def _coordinator(view: CoordinatorView | None, place: dict[SourceId, int], channels: int) -> dict[str, Any]:
    zeros = (0,) * channels
    every, sources = range(channels), sorted(place.values())
    memory = view or CoordinatorView((), (), None, (), zeros, zeros)
    entries = {place[source]: values for source, values in memory.entries}
    queued = memory.queued[0] if memory.queued else zeros
    return {
        "up": view is not None,
        "known": {p: p in entries for p in sources},
        "entry": {p: entries.get(p) is not None for p in sources},
        "entry_ts": {(p, c): (entries.get(p) or zeros)[c] for p in sources for c in every},
        "queued": bool(memory.queued),
        "queued_ts": dict(enumerate(queued)),
        "sending": memory.round is not None,
        "round_ts": dict(enumerate(memory.round or zeros)),
        "to_send": {c: c in memory.to_send for c in every},
        "last": dict(enumerate(memory.last)),
        "synced": dict(enumerate(memory.synced)),
    }


ENVIRONMENT = Environment(
    "spec/timetick:TimeTick",
    {
        "issued": "the oracle is a counter of the simulated world: what it has answered to anybody",
        "message, floor, ts": "the sources of messages and the logs are simulated",
        "session, fenced": "the session store and its fences are simulated",
        "promised": "the last report of a proxy, which is simulated",
        "up": "whether the process lives",
        "tick, highest": "the logs of ticks are simulated; edges_refinement reads those of the broker",
    },
)
"""What is not read from the implementation, and why."""
