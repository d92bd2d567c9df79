"""From the live objects of clients, proxies and query nodes to the state of ``tidemark.spec.reads``."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.pipeline import ShardPipeline
from tidemark.impl.querynode.values import ShardRead
from tidemark.impl.values.messages import InsertMessage
from tidemark.models.refinement.origins import Environment

Done = tuple[int, int, bool]
"""A write as its timestamp, its key, and whether it deletes."""


class WriteView(NamedTuple):
    """What a client knows of its write."""

    stage: str
    floor: int
    ts: int


class ReadView(NamedTuple):
    """What a client knows of its read. ``rows``: timestamps and keys of the answer."""

    phase: str
    level: str
    began: int
    guarantee: int
    moment: int
    rows: tuple[tuple[int, int], ...]
    known: tuple[int, ...]
    precedes: tuple[int, ...]


@dataclass(frozen=True)
class ClientView:
    """One client with its proxy: by number its writes and its reads."""

    carried: int
    writes: tuple[tuple[int, WriteView], ...]
    reads: tuple[tuple[int, ReadView], ...]


@dataclass(frozen=True)
class NodeView:
    """One query node. ``reads``: by number how far a read has come, and its moment."""

    stopped: bool
    pack: int
    safe: int
    applied: tuple[Done, ...]
    reads: tuple[tuple[int, tuple[str, int]], ...]


NO_NODE = NodeView(stopped=False, pack=0, safe=0, applied=(), reads=())
UNREAD = ReadView("new", "none", 0, 0, 0, (), (), ())
UNWRITTEN = WriteView("new", 0, 0)


def node_view(
    delegator: ShardDelegator, pipeline: ShardPipeline, reads: Mapping[int, ShardRead | None], *, alive: bool
) -> NodeView:
    """The picture of a node.

    reads: those that have come to it, by number; None for one that has failed here.
    """
    stopped = not alive or delegator.service_time.closed

    def stage_of(read: ShardRead | None) -> tuple[str, int]:
        if read is None:
            return "failed", 0
        asleep = read.stage.value == "asleep"
        return ("waiting" if asleep and not alive else read.stage.value), read.moment

    return NodeView(
        stopped=stopped,
        pack=pipeline.pack,
        safe=delegator.service_time.value,
        applied=tuple(sorted(_applied(delegator, pipeline))),
        reads=tuple((number, stage_of(read)) for number, read in sorted(reads.items())),
    )


def _applied(delegator: ShardDelegator, pipeline: ShardPipeline) -> Iterator[Done]:
    """What is held of the packs that were taken, without what still waits for its turn. A delete counts if
    every segment has it that holds an older row of its key.
    """
    waiting: list[Done] = []
    for message in pipeline.waiting:
        if isinstance(message, InsertMessage):
            waiting += [(row.ts, row.key, False) for row in message.rows]
        else:
            waiting += [(message.ts, key, True) for key in message.keys]
    segments = delegator.segments()
    rows = [row for segment in segments for known in segment.rows.values() for row in known]
    held: list[Done] = [(row.ts, row.key, False) for row in rows]
    for ts, key in delegator.deletes.kept:
        hit = [s for s in segments if any(row.ts < ts for row in s.rows.get(key, ()))]
        if all(ts in segment.deletes.get(key, ()) for segment in hit):
            held.append((ts, key, True))
    taken = max(pipeline.pack, delegator.service_time.value)
    return (done for done in held if done[0] <= taken and done not in waiting)


@dataclass(frozen=True)
class Whole:
    """Everything that is observed, part by part. ``replica_of``: by read the number of its node."""

    issued: int
    log: tuple[tuple[Done, ...], int]
    acknowledged: tuple[int, ...]
    clients: tuple[ClientView, ...]
    nodes: tuple[NodeView, ...]
    replica_of: tuple[int, ...]
    writes: int


def abstract(whole: Whole) -> dict[str, Any]:
    """The state of ``tidemark.spec.reads``, by variable name."""
    writes = dict.fromkeys(range(whole.writes), UNWRITTEN)
    reads = dict.fromkeys(range(len(whole.replica_of)), UNREAD)
    for client in whole.clients:
        writes |= dict(client.writes)
        reads |= dict(client.reads)
    of = {view.ts: number for number, view in writes.items() if view.ts}
    in_log = [of[ts] for ts, _, _ in whole.log[0]]
    every = range(whole.writes)
    return {
        "issued": whole.issued,
        "stage": {n: "logged" if n in in_log else view.stage for n, view in writes.items()},
        "floor": {n: view.floor for n, view in writes.items()},
        "ts": {n: view.ts for n, view in writes.items()},
        "acknowledged": {n: n in whole.acknowledged for n in every},
        "tick": whole.log[1],
        "carried": {c: client.carried for c, client in enumerate(whole.clients)},
        **_nodes(whole, of),
        **_reads(whole, reads, of),
    }


def _nodes(whole: Whole, of: Mapping[int, int]) -> dict[str, Any]:
    nodes = dict(enumerate(whole.nodes))
    held = {r: [of[ts] for ts, _, _ in node.applied] for r, node in nodes.items()}
    return {
        "stopped": {r: node.stopped for r, node in nodes.items()},
        "pack": {r: node.pack for r, node in nodes.items()},
        "safe": {r: node.safe for r, node in nodes.items()},
        "applied": {(r, n): n in held[r] for r in nodes for n in range(whole.writes)},
    }


def _reads(whole: Whole, reads: Mapping[int, ReadView], of: Mapping[int, int]) -> dict[str, Any]:
    names = ("progress", "level", "began", "guarantee", "moment", "seen", "known", "precedes")
    found: dict[str, dict[Any, Any]] = {name: {} for name in names}
    for q, known in reads.items():
        view = known
        progress, moment = view.phase, view.moment
        if progress == "sent":
            progress, moment = dict(whole.nodes[whole.replica_of[q]].reads).get(q, ("waiting", 0))
        if progress == "failed":
            view, moment = UNREAD._replace(level=view.level), 0
        found["progress"][q], found["moment"][q] = progress, moment
        found["level"][q], found["began"][q], found["guarantee"][q] = view.level, view.began, view.guarantee
        seen = [of[ts] for ts, _ in view.rows]
        for n in range(whole.writes):
            found["seen"][q, n] = n in seen
            found["known"][q, n] = n in view.known
        for a in reads:
            found["precedes"][a, q] = a in view.precedes
    return found


ENVIRONMENT = Environment(
    "spec/reads:Reads",
    {
        "issued": "the oracle is a counter of the simulated world: what it has answered to anybody",
        "stage, floor, ts, acknowledged, tick": "writers and log are simulated",
        "stopped": "whether the process lives",
        "progress, guarantee, moment": "whether the answer has come is noted by the client's side",
        "seen": "the rows that the client was answered",
        "level, began, known, precedes": "histories: what was true when the read began",
    },
)
"""What is not read from the implementation, and why."""
