"""From the live objects of a streaming node, its log and a reader to the state of
``tidemark.spec.transactions``.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from tidemark.impl.streaming.transaction_messages import Part, TransactionMessage
from tidemark.models.refinement.origins import Environment

TICK = "tick"


class Landed(NamedTuple):
    """What came to a place of the log. part: of a transaction, or a tick. body: the number of a body."""

    part: str
    ts: int
    transaction: int = 0
    until: int = 0
    body: int | None = None


def landed(message: Any) -> Landed:
    """The picture of a message."""
    if not isinstance(message, TransactionMessage):
        return Landed(TICK, message.ts)
    content: Any = message.content
    return Landed(
        message.part.value,
        message.ts,
        message.number,
        message.until,
        content.rows[0].key if message.part is Part.BODY else None,
    )


class NodeView(NamedTuple):
    """What the last term knows. begins: the timestamp of each begin; 0 if it has none."""

    begins: tuple[int, ...]
    kept: tuple[int, ...]
    under_way: tuple[int, ...]
    admitted: tuple[int, ...]


class ReaderView(NamedTuple):
    """What the reader has stored."""

    passed: int
    start: int
    delivered: frozenset[int]


def abstract(
    *,
    node: NodeView,
    places: Sequence[Landed],
    cut: int,
    reader: ReaderView,
    life: tuple[int, int],
    of: Sequence[int],
    most: int,
) -> dict[str, Any]:
    """The state of ``tidemark.spec.transactions``, by variable name and without the fault counter.

    life: where the reader's present life has begun, and where it is. of: the transaction of each body.
    most: the greatest place.
    """
    every, bodies = range(len(node.begins)), range(len(of))
    found = {(one.part, one.transaction): place for place, one in enumerate(places, start=1)}
    place_of = {one.body: place for place, one in enumerate(places, start=1) if one.body is not None}
    ticks = {place: one.ts for place, one in enumerate(places, start=1) if one.part == TICK}
    begun = {t: found.get((Part.BEGIN.value, node.begins[t]), 0) for t in every}
    ended = {t: found.get((Part.COMMIT.value, node.begins[t]), 0) for t in every}
    given_up = {t: (Part.ROLLBACK.value, node.begins[t]) in found for t in every}

    def stage(t: int) -> str:
        if not begun[t]:
            return "new"
        if ended[t] or given_up[t]:
            return "committed" if ended[t] else "rolled_back"
        return "open" if node.begins[t] in node.kept else "gone"

    def sent(b: int) -> str:
        if b in place_of:
            return "logged"
        if b in node.under_way:
            return "sent"
        return "refused" if b in node.admitted else "no"

    return {
        "end": len(places),
        "tick": max(ticks.values(), default=0),
        "tick_at": {place: ticks.get(place, 0) for place in range(most + 1)},
        "begun": begun,
        "until": {t: places[begun[t] - 1].until if begun[t] else 0 for t in every},
        "ended": ended,
        "commit_ts": {t: places[ended[t] - 1].ts if ended[t] else 0 for t in every},
        "place": {b: place_of.get(b, 0) for b in bodies},
        "cut": cut,
        "stage": {t: stage(t) for t in every},
        "sent": {b: sent(b) for b in bodies},
        "origin": life[0],
        "reading": life[1],
        "passed": reader.passed,
        "start": reader.start,
        "delivered": {b: b in reader.delivered for b in bodies},
    }


ENVIRONMENT = Environment(
    "spec/transactions:Transactions",
    {
        "end, tick, tick_at, begun, until, ended, commit_ts, place": (
            "what came to the log: noted in its order"
        ),
        "stage": "what came to the log",
        "sent": "what came to the log, and whose client waits",
        "origin, start, passed, reading": "the positions that the reader's program has stored",
        "delivered": "the rows that are stored with the position: simulated",
    },
)
"""What is not read from the implementation, and why."""
