"""The refinement mapping of reads of several channels: what proxies and query nodes have, in the words of
``tidemark.spec.parts``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidemark.models.refinement.origins import Environment

Part = tuple[int, int]
"""A read and a channel, by number."""


class ReadView(NamedTuple):
    """What a proxy knows of a read. ``moments``, ``rows``: of its answer, by channel and by timestamp."""

    progress: str
    further: bool = False
    guarantee: int = 0
    recent: bool = False
    known: tuple[int, ...] = ()
    moments: tuple[tuple[int, int], ...] = ()
    rows: tuple[int, ...] = ()


NEW = ReadView("new")


@dataclass(frozen=True)
class NodeView:
    """One query node: by channel its service time; the parts that have their moment there."""

    safe: tuple[tuple[int, int], ...]
    looked: tuple[tuple[Part, int], ...]


NO_NODE = NodeView(safe=(), looked=())


@dataclass(frozen=True)
class Whole:
    """Everything that is observed, part by part.

    placed: by write its timestamp. shown, rows: what has come to the proxies, by part and by read.
    """

    issued: int
    placed: tuple[tuple[int, int], ...]
    shown: tuple[tuple[Part, int], ...]
    rows: tuple[tuple[int, int], ...]
    nodes: tuple[NodeView, ...]
    reads: tuple[ReadView, ...]
    channels: int
    writes: int


def abstract(whole: Whole) -> dict[str, Any]:
    """The state of ``tidemark.spec.parts``, by variable name."""
    ts = dict(whole.placed)
    every = range(whole.writes)
    safe = dict.fromkeys(range(whole.channels), 0)
    for node in whole.nodes:
        for channel, value in node.safe:
            safe[channel] = max(safe[channel], value)
    return {
        "issued": whole.issued,
        "logged": {w: w in ts for w in every},
        "ts": {w: ts.get(w, 0) for w in every},
        "safe": safe,
        **_reads(whole, {value: w for w, value in ts.items()}),
    }


def _reads(whole: Whole, of: Mapping[int, int]) -> dict[str, Any]:
    names = ("progress", "guarantee", "recent", "known", "part", "moment", "seen")
    found: dict[str, dict[Any, Any]] = {name: {} for name in names}
    looked = dict(each for node in whole.nodes for each in node.looked)
    for q, view in enumerate(whole.reads):
        found["progress"][q] = view.progress
        found["guarantee"][q] = 0 if view.further else view.guarantee
        found["recent"][q] = view.recent
        parts = dict(_parts(q, view, dict(whole.shown), looked))
        for c in range(whole.channels):
            found["part"][q, c], found["moment"][q, c] = parts.get(c, ("none", 0))
        come = {ts for number, ts in whole.rows if number == q} if view.progress == "sent" else {*view.rows}
        seen = {of[ts] for ts in come}
        for w in range(whole.writes):
            found["known"][q, w] = w in view.known
            found["seen"][q, w] = w in seen
    return found


def _parts(
    q: int, view: ReadView, shown: Mapping[Part, int], looked: Mapping[Part, int]
) -> Iterator[tuple[int, tuple[str, int]]]:
    """By channel how far a read is, and its moment. What is answered is what the client has."""
    if view.progress == "answered":
        yield from ((c, ("served", moment)) for c, moment in view.moments)
    elif view.progress == "sent":
        yield from ((c, ("reading", moment)) for (number, c), moment in looked.items() if number == q)
        yield from ((c, ("served", moment)) for (number, c), moment in shown.items() if number == q)


ENVIRONMENT = Environment(
    "spec/parts:Parts",
    {
        "issued, logged, ts": "logs and oracle are simulated",
        "progress, guarantee": "that a request is in its channel is noted where it is written",
        "recent, known": "histories: what was true when the request was written",
        "part, moment": "that all rows of a part have come is noted between node and proxy",
        "seen": "until the answer is there: the rows that are on their way",
    },
)
"""What is not read from the implementation, and why."""
