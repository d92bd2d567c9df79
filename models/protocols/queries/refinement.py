"""From the live objects of proxy, query nodes and channels to the state of ``tidemark.spec.queries``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.impl.queries.replica import CollectionReplica
from tidemark.models.refinement.origins import Environment

SHARDS = "abcd"

Parts = tuple[tuple[int, tuple[int, ...]], ...]
"""Shards with their rows."""


@dataclass(frozen=True, slots=True)
class NodeView:
    """A query node: what it has of the collection."""

    told: bool
    held: tuple[int, ...]
    fetching: tuple[int, ...]
    serves: tuple[int, ...]

    def copy(self, row: int) -> str:
        """How far the row is."""
        return "fetching" if row in self.fetching else "held" if row in self.held else "none"


@dataclass(frozen=True, slots=True)
class RequestView:
    """A request as its caller and the proxy know it. ``got``: (shard, its rows)."""

    stage: str
    number: int
    times: int
    entry: bool
    got: Parts
    due: tuple[int, ...]
    written: bool
    streams: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ResultView:
    """A result that was written. ``got``: (shard, its rows)."""

    request: int
    node: int
    got: Parts


@dataclass(frozen=True, slots=True)
class QueriesView:
    """Everything."""

    phase: str
    stored: tuple[int, ...]
    persisted: tuple[int, ...]
    wanted: tuple[int, ...]
    nodes: tuple[NodeView, ...]
    streams: tuple[str, ...]
    requests: tuple[RequestView, ...]
    results: tuple[ResultView, ...]
    faults: int


def node_view(node: CollectionReplica) -> NodeView:
    """The picture of a query node."""
    return NodeView(
        node.loaded,
        tuple(sorted(row for rows in node.rows.values() for row in rows)),
        tuple(sorted(node.fetching.values())),
        tuple(sorted(SHARDS.index(shard) for shard in node.serving)),
    )


def parts_of(rows: Mapping[str, tuple[int, ...]]) -> Parts:
    """Shards with their rows."""
    return tuple(sorted((SHARDS.index(shard), tuple(found)) for shard, found in rows.items()))


@dataclass(frozen=True, slots=True)
class Sizes:
    """The bounds of the instance. ``results``: by result its request and its node."""

    rows: int
    shards: int
    streams: int
    results: tuple[tuple[int, int], ...]


def abstract(view: QueriesView, sizes: Sizes) -> dict[str, Any]:
    """The state of ``spec.queries``, by variable name."""
    return {"phase": view.phase, "faults": view.faults, **_rows(view, sizes), **_nodes(view, sizes),
            **_requests(view, sizes), **_results(view, sizes)}  # fmt: skip


def _rows(view: QueriesView, sizes: Sizes) -> dict[str, Any]:
    return {
        name: {w: w in found for w in range(sizes.rows)}
        for name, found in (("stored", view.stored), ("persisted", view.persisted), ("wanted", view.wanted))
    }


def _nodes(view: QueriesView, sizes: Sizes) -> dict[str, Any]:
    nodes = list(enumerate(view.nodes))
    return {
        "told": {n: node.told for n, node in nodes},
        "copy": {(n, w): node.copy(w) for n, node in nodes for w in range(sizes.rows)},
        "serves": {(n, c): c in node.serves for n, node in nodes for c in range(sizes.shards)},
    }


def _requests(view: QueriesView, sizes: Sizes) -> dict[str, Any]:
    requests = list(enumerate(view.requests))
    streams, rows, shards = range(sizes.streams), range(sizes.rows), range(sizes.shards)
    return {
        "object": {u: view.streams[u] if u < len(view.streams) else "new" for u in streams},
        "uses": {(r, u): u in one.streams for r, one in requests for u in streams},
        "stage": {r: one.stage for r, one in requests},
        "number": {r: one.number for r, one in requests},
        "entry": {r: one.entry for r, one in requests},
        "got": {(r, c): c in dict(one.got) for r, one in requests for c in shards},
        "found": {(r, w): _has(one.got, w) for r, one in requests for w in rows},
        "times": {r: one.times for r, one in requests},
        "due": {(r, w): w in one.due for r, one in requests for w in rows},
        "written": {r: one.written for r, one in requests},
    }


def _results(view: QueriesView, sizes: Sizes) -> dict[str, Any]:
    left = list(view.results)
    sent: list[Parts | None] = []
    for request, node in sizes.results:
        found = next((one for one in left if (one.request, one.node) == (request, node)), None)
        if found is not None:
            left.remove(found)
        sent.append(None if found is None else found.got)
    known = list(enumerate(sent))
    return {
        "sent": {x: got is not None for x, got in known},
        "covers": {
            (x, c): got is not None and c in dict(got) for x, got in known for c in range(sizes.shards)
        },
        "carries": {(x, w): got is not None and _has(got, w) for x, got in known for w in range(sizes.rows)},
    }


def _has(got: Parts, row: int) -> bool:
    return any(row in found for _, found in got)


ENVIRONMENT = Environment(
    "spec/queries:Queries",
    {
        "phase, stored, persisted, wanted": "the coordinators of these programs are simulated",
        "stage, times, number": "what the caller of a query was told, and how far it is",
        "written, sent, covers, carries": "the channels of requests and results are simulated",
        "due": "a history: what was wanted when the request began",
        "faults": "noted by the program",
    },
)
"""What is not read from the implementation, and why."""
