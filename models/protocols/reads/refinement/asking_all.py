"""From the live objects to the state of ``AsksAll``: as in ``refinement``, and what has come of each replica.

A replica that reaches the guarantee when another one has answered is of no interest any more: what had been
looked at when the answer came is kept.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tidemark.models.protocols.reads import refinement
from tidemark.models.protocols.reads.refinement import ClientView, Whole, abstract
from tidemark.models.refinement.origins import Environment

ASKS_ALL = "tidemark.spec.reads.variants.all_at_once:AsksAll"

Looks = tuple[tuple[int, int], ...]
"""The nodes that have reached the guarantee of a read, each with the moment of its answer."""


class Choice(NamedTuple):
    """The answer that came first. node: whose; moment: at which it is; looks: of all nodes, at that time."""

    node: int
    moment: int
    looks: Looks


class ChoosingView(NamedTuple):
    """One client with its proxy. ``chosen``: by read the answer that came first."""

    client: ClientView
    chosen: tuple[tuple[int, Choice], ...]


def abstract_choosing(whole: Whole, chosen: Mapping[int, Choice]) -> dict[str, Any]:
    """The state of ``AsksAll``, by variable name.

    chosen: by read the answer that came first, if one has come.
    """
    found = abstract(whole)
    progress, moment = found["progress"], found["moment"]
    at, looked, shows = {}, {}, {}
    phases = {q: view.phase for client in whole.clients for q, view in client.reads}
    for q, replica in enumerate(whole.replica_of):
        at[q], looks = replica, dict[int, int]()
        if phases.get(q) in ("sent", "answered"):
            choice = chosen.get(q)
            looks = dict(looks_at(whole, q) if choice is None else choice.looks)
            at[q] = replica if choice is None else choice.node
        if phases.get(q) == "sent":
            progress[q] = "reading" if q in chosen else "waiting"
            moment[q] = chosen[q].moment if q in chosen else 0
        for r in range(len(whole.nodes)):
            looked[q, r], shows[q, r] = r in looks, looks.get(r, 0)
    return {**found, "at": at, "looked": looked, "shows": shows}


def looks_at(whole: Whole, q: int) -> Looks:
    """The nodes that have reached the guarantee of a read by now."""
    stages = ((r, dict(node.reads).get(q, ("", 0))) for r, node in enumerate(whole.nodes))
    return tuple((r, moment) for r, (stage, moment) in stages if stage == "reading")


ENVIRONMENT = Environment(
    ASKS_ALL,
    {
        **refinement.ENVIRONMENT.reasons,
        "looked, shows": "when the first answer comes, what had been looked at is noted",
        "at": "whose answer came first is noted where it is taken",
    },
)
"""What is not read from the implementation, and why."""
