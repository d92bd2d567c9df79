"""From a live query node, the log and what is stored to the state of ``tidemark.spec.segments``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.pipeline import ShardPipeline
from tidemark.models.protocols.segments.ports import KEY, Stored, WritePlan, number_of
from tidemark.models.refinement.origins import Environment


@dataclass(frozen=True)
class NodeView:
    """A query node. ``described``: what the coordinator knew when the channel was taken up; None before.

    grown: numbers of rows. loads: by segment the delete checkpoint of its files, be the load under way or at
    its end. known: by sealed segment the timestamps of its deletes.
    """

    described: Stored | None = None
    pack: int = 0
    waiting: tuple[int, ...] = ()
    safe: int = 0
    grown: tuple[int, ...] | None = None
    buffer: tuple[int, ...] = ()
    loads: tuple[tuple[int, int], ...] = ()
    known: tuple[tuple[int, tuple[int, ...]], ...] = ()


def node_view(
    described: Stored,
    delegator: ShardDelegator,
    pipeline: ShardPipeline | None,
    loads: Mapping[int, int],
) -> NodeView:
    """The picture of a node that takes a channel up, or has. ``loads``: those that were asked for."""
    listed = {g: described.delete_checkpoint for g in described.flushed if g + 1 in delegator.begun}
    grown = [int(row.value) for segment in delegator.growing.values() for row in segment.rows.get(KEY, ())]
    return NodeView(
        described=described,
        pack=described.delete_checkpoint if pipeline is None else pipeline.pack,
        waiting=() if pipeline is None else tuple(number_of(message) for message in pipeline.waiting),
        safe=delegator.service_time.value,
        grown=None if pipeline is None else tuple(sorted(grown)),
        buffer=tuple(sorted(delete.ts for delete in delegator.deletes.kept)),
        loads=tuple(sorted({**listed, **loads}.items())),
        known=tuple(
            (name - 1, tuple(segment.deletes.get(KEY, ())))
            for name, segment in sorted(delegator.sealed.items())
        ),
    )


def abstract(
    entries: Sequence[tuple[str, int, int]], stored: Stored, node: NodeView, writes: Sequence[WritePlan]
) -> dict[str, Any]:
    """The state of ``tidemark.spec.segments``, by variable name."""
    logged = {number for kind, number, _ in entries if kind == "message"}
    every = range(len(writes))
    segments = range(1 + max(plan.segment or 0 for plan in writes))
    found = node.described
    start = 0 if found is None else found.delete_checkpoint
    loads, known = dict(node.loads), dict(node.known)

    def is_stored(w: int) -> bool:
        plan = writes[w]
        if found is None or plan.segment is None or plan.segment in (*found.flushed, *known):
            return False
        return plan.ts <= found.checkpoint

    def knows(g: int, d: int) -> bool:
        return g in known and writes[d].segment is None and d in logged and writes[d].ts in known[g]

    return {
        "logged": {w: w in logged for w in every},
        "ts": {w: writes[w].ts if w in logged else 0 for w in every},
        "tick": max((ts for kind, _, ts in entries if kind == "tick"), default=0),
        "checkpoint": stored.checkpoint,
        "delete_checkpoint": stored.delete_checkpoint,
        "flushed": {g: g in stored.flushed for g in segments},
        "filed": {w: w in stored.saved for w in every},
        "watching": found is not None,
        "wanted": {g: found is not None and g in found.flushed for g in segments},
        "start": start,
        "files_at_start": start,
        "excluded": dict.fromkeys(segments, 0 if found is None else found.checkpoint),
        "pack": node.pack,
        "safe": node.safe if node.safe > start else 0,
        "grown": {w: is_stored(w) if node.grown is None else w in node.grown for w in every},
        "twice": dict.fromkeys(every, False),
        "applied": {
            w: w in logged and start < writes[w].ts <= node.pack and w not in node.waiting for w in every
        },
        "buffer": {
            d: writes[d].segment is None
            and d in logged
            and writes[d].ts in node.buffer
            and writes[d].ts > start
            for d in every
        },
        "load": {g: "served" if g in known else "loading" if g in loads else "none" for g in segments},
        "files_upto": {g: loads.get(g, 0) for g in segments},
        "knows": {(g, w): knows(g, w) for g in segments for w in every},
    }


ENVIRONMENT = Environment(
    "spec/segments:Segments",
    {
        "logged, ts, tick": "the log is simulated",
        "checkpoint, delete_checkpoint, flushed, filed": "what a data coordinator stores: simulated",
        "watching, wanted, start, files_at_start, excluded": (
            "the description with which the channel was taken up: what the program has given the node"
        ),
        "grown": "before they are read, the rows of the files",
        "load, files_upto": "the requests that were made",
        "twice": "nothing: a segment of this implementation takes no copy of a row",
    },
)
"""What is not read from the implementation, and why."""
