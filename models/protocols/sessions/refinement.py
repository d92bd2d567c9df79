"""From the session store, the logs and the live objects of a root coordinator to the state of
``tidemark.spec.sessions``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidemark.impl.rootcoord.ports import SessionEvent
from tidemark.impl.values.report import SourceId
from tidemark.models.refinement.origins import Environment


class StoreView(NamedTuple):
    """The store: every change that it had, and how many are forgotten."""

    changes: tuple[SessionEvent, ...]
    compacted: int


@dataclass(frozen=True)
class CoordinatorView:
    """A coordinator. ``listed``: what it has listed, until it serves; ``accepted``: sources, of any one."""

    phase: str
    first: int
    revision: int
    entries: tuple[SourceId, ...]
    accepted: tuple[SourceId, ...]


def abstract(
    store: StoreView, fenced: Sequence[SourceId], coordinator: CoordinatorView, *, sessions: int
) -> dict[str, Any]:
    """The state of ``tidemark.spec.sessions``, by variable name. Sources count from 1, elements from 0."""
    seen, view = _known(store, coordinator)
    began = {event.source: event.revision for event in store.changes if event.alive}
    ended = {event.source: event.revision for event in store.changes if not event.alive}
    every = {n: n + 1 for n in range(sessions)}
    return {
        "revision": len(store.changes),
        "began": {n: began.get(source, 0) for n, source in every.items()},
        "ended": {n: ended.get(source, 0) for n, source in every.items()},
        "compacted": store.compacted,
        "fenced": {n: source in fenced for n, source in every.items()},
        "admitted": {n: source in coordinator.accepted for n, source in every.items()},
        "phase": coordinator.phase,
        "first": coordinator.first,
        "seen": seen,
        "view": {n: source in view for n, source in every.items()},
    }


def _known(store: StoreView, coordinator: CoordinatorView) -> tuple[int, tuple[SourceId, ...]]:
    """What the coordinator has seen, and whom it knows. A session of which it has read is known to it, though
    its reports are taken a little later; one that is over is forgotten when the synchroniser has done so.
    """
    revision, entries = coordinator.revision, coordinator.entries
    if coordinator.phase != "serving" or not revision:
        return revision, entries
    last = store.changes[revision - 1]
    if last.alive:
        return revision, (*entries, last.source)
    return revision - 1 if last.source in entries else revision, entries


ENVIRONMENT = Environment(
    "spec/sessions:Sessions",
    {
        "revision, began, ended, compacted": (
            "rows of SqliteSessions, or keys of EtcdSessions: read by a query"
        ),
        "fenced": "the logs are simulated: Fences.fence has returned",
        "phase, first": "when take_over was called, has listed, and has returned: noted",
        "seen, view": "before the coordinator serves: what its list has read, noted",
    },
)
"""What is not read from the implementation, and why."""
