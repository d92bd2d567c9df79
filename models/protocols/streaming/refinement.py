"""From the live objects of a streaming node, its log and its stores to the state of
``tidemark.spec.streaming``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidemark.impl.streaming.term import OpenTerm
from tidemark.impl.streaming.values import Append, AppendStage
from tidemark.models.protocols.streaming.ports import Place
from tidemark.models.refinement.origins import Environment


class AppendView(NamedTuple):
    """What a node knows of an append."""

    stage: str
    term: int
    ts: int
    since: int


@dataclass(frozen=True)
class TermView:
    """The last term of a node. ``reading``, ``buffered``: zero and empty if it is over."""

    term: int
    is_open: bool
    passed: int
    confirmed: int
    to_write: int
    reading: int
    buffered: tuple[int, ...]


NO_TERM = TermView(0, is_open=False, passed=0, confirmed=0, to_write=0, reading=0, buffered=())


def append_view(append: Append) -> AppendView:
    """The picture of an append."""
    return AppendView(append.stage.value, append.term, append.ts, append.since)


def term_view(term: OpenTerm | None, *, alive: bool) -> TermView:
    """The picture of the last term; ``alive``: its process lives."""
    if term is None:
        return NO_TERM
    is_open = alive and not term.closed.is_set()
    return TermView(
        term=term.opening.term,
        is_open=is_open,
        passed=term.acks.passed,
        confirmed=term.acks.confirmed,
        to_write=term.operator.to_write,
        reading=term.flusher.reading if is_open else 0,
        buffered=tuple(sorted(term.flusher.buffered)) if is_open else (),
    )


def abstract(
    *,
    appends: Sequence[AppendView],
    term: TermView,
    places: Sequence[Place],
    cut: int,
    stored: frozenset[int],
    flusher: int,
    recovery: int,
    start: int,
) -> dict[str, Any]:
    """The state of ``tidemark.spec.streaming``, by variable name and without the fault counter.

    start: where recovery would start now.
    """
    every = range(len(appends))
    found = {one.number: place for place, one in enumerate(places, start=1) if one.number is not None}
    place = {m: found.get(m, 0) for m in every}
    ticks = [one for one in places if one.number is None]
    is_written = any(one.term == term.term and one.ts == term.to_write for one in ticks)
    return {
        "issued": max([term.passed, *(append.ts for append in appends)]),
        "stage": {m: _stage(appends[m].stage, place[m]) for m in every},
        "ts": {m: appends[m].ts for m in every},
        "mine": {m: 0 < appends[m].term == term.term for m in every},
        "is_open": term.is_open,
        "passed": term.passed,
        "to_write": 0 if is_written else term.to_write,
        "confirmed": term.confirmed,
        "end": len(places),
        "place": place,
        "since": {m: appends[m].since for m in every},
        "tick": ticks[-1].ts if ticks else 0,
        "cut": cut,
        "reading": term.reading if term.is_open else start,
        "copy": {m: _copy(place[m], stored, term) for m in every},
        "flusher": flusher,
        "recovery": recovery,
    }


def _stage(stage: str, place: int) -> str:
    if place and stage != AppendStage.ACKNOWLEDGED.value:
        return "logged"
    return "pending" if stage == AppendStage.ENTERED.value else stage


def _copy(place: int, stored: frozenset[int], term: TermView) -> str:
    if place in stored:
        return "stored"
    return "buffered" if place in term.buffered else "none"


ENVIRONMENT = Environment(
    "spec/streaming:Streaming",
    {
        "stage": "whether its message is in the log: noted there",
        "is_open": "whether the process lives",
        "to_write": "whether the tick is in the log: noted there",
        "end, place, tick": "what came to the log: noted in its order",
        "copy": "what is stored, the simulated stores say",
        "flusher, recovery": "the stored checkpoints, in simulated stores",
    },
)
"""What is not read from the implementation, and why."""
