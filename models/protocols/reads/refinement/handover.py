"""From the live objects to the state of ``HandOver``: as in ``refinement``, and whom each read asks.

A read is where its proxy asks. When a node has refused it, it is with the next one at once: that the
refusal is still on its way to the proxy changes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tidemark.models.protocols.reads import refinement
from tidemark.models.protocols.reads.refinement import ClientView, Whole, abstract
from tidemark.models.refinement.origins import Environment

HAND_OVER = "tidemark.spec.reads.variants.finer_steps:HandOver"


class AskingView(NamedTuple):
    """One client with its proxy. ``asked``: by read the nodes that were asked, in this order."""

    client: ClientView
    asked: tuple[tuple[int, tuple[int, ...]], ...]


def order_of(first: int, nodes: int) -> list[int]:
    """In which order a proxy asks the nodes."""
    return [first, *(node for node in range(nodes) if node != first)]


def abstract_asking(whole: Whole, asked: Mapping[int, Sequence[int]]) -> dict[str, Any]:
    """The state of ``HandOver``, by variable name.

    whole: with the first node of each read as ``replica_of``. asked: by read the nodes that were asked.
    """
    orders = [order_of(first, len(whole.nodes)) for first in whole.replica_of]
    phases = {q: view.phase for client in whole.clients for q, view in client.reads}
    tried = [asked.get(q, ()) if phases.get(q) in ("sent", "answered") else () for q in range(len(orders))]
    last = tuple(done[-1] if done else order[0] for order, done in zip(orders, tried, strict=True))
    refused = [phases.get(q) == "sent" and _refuses(whole, node, q) for q, node in enumerate(last)]
    left = [done if no else done[:-1] for done, no in zip(tried, refused, strict=True)]
    # A read that all have refused has failed, and nothing is left of it.
    left = [() if len(done) == len(whole.nodes) else done for done in left]
    at = tuple(order[len(done)] for order, done in zip(orders, left, strict=True))
    looked = tuple(a if done else node for a, node, done in zip(at, last, left, strict=True))
    return {
        **abstract(replace(whole, replica_of=looked)),
        "at": dict(enumerate(at)),
        "left": {(q, r): r in done for q, done in enumerate(left) for r in range(len(whole.nodes))},
    }


def _refuses(whole: Whole, node: int, q: int) -> bool:
    """A node has refused the read."""
    return dict(whole.nodes[node].reads).get(q, ("", 0))[0] == "failed"


ENVIRONMENT = Environment(
    HAND_OVER,
    {
        **refinement.ENVIRONMENT.reasons,
        "at, left": "the calls that a proxy makes: noted where they leave it",
    },
)
"""What is not read from the implementation, and why."""
