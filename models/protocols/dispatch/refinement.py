"""From the live dispatchers of a physical channel to the state of ``tidemark.spec.dispatch``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidemark.impl.stream.manager import DispatcherManager
from tidemark.impl.stream.targets import Target
from tidemark.models.protocols.dispatch.ports import number_of
from tidemark.models.refinement.origins import Environment

Entries = tuple[tuple[str, int, int], ...]


class TargetView(NamedTuple):
    """One target. ``got``: numbers of all messages that it was sent, in order."""

    where: str = "absent"
    begins: int = 0
    position: int = 0
    upto: int = 0
    full: bool = False
    owed: bool = False
    deputy: str = "none"
    deputy_at: int = 0
    candidate: bool = False
    got: tuple[int, ...] = ()


@dataclass(frozen=True)
class NodeView:
    """The dispatchers of a channel. ``handed``: the greatest place that was read."""

    handed: int
    main: str
    main_at: int
    main_from: int
    targets: tuple[TargetView, ...]


def node_view(
    manager: DispatcherManager,
    targets: Sequence[Target | None],
    begins: Sequence[int],
    taken: Sequence[Sequence[int]],
    handed: int,
) -> NodeView:
    """The picture of the dispatchers.

    targets: those that have come, by number. begins: their first positions. taken: what they have taken.
    """
    main = manager.main
    return NodeView(
        handed,
        "none" if main is None else _stage(paused=main.paused),
        0 if main is None else main.at,
        0 if main is None else main.begun,
        tuple(
            TargetView() if target is None else _target_view(manager, target, begins[t], taken[t])
            for t, target in enumerate(targets)
        ),
    )


def _stage(*, paused: bool) -> str:
    return "paused" if paused else "running"


def _target_view(manager: DispatcherManager, target: Target, begins: int, taken: Sequence[int]) -> TargetView:
    main, deputy = manager.main, manager.deputies.get(target.channel)
    left = [number_of(message) for pack in target.packs for message in pack.messages]
    return TargetView(
        where=_where(manager, target),
        begins=begins,
        position=target.position.ts,
        upto=target.upto,
        full=target.is_full and not target.gone,
        owed=main is not None and target in main.owed,
        deputy="none" if deputy is None else _stage(paused=deputy.paused),
        deputy_at=0 if deputy is None else deputy.at,
        candidate=deputy is not None and deputy.candidate,
        got=(*taken, *left),
    )


def _where(manager: DispatcherManager, target: Target) -> str:
    if target.gone:
        return "gone"
    if target.channel in manager.deputies:
        return "deputy"
    return "waiting" if target.channel in manager.waiting else "main"


def abstract(entries: Entries, node: NodeView, *, messages: int, last: int) -> dict[str, Any]:
    """The state of ``tidemark.spec.dispatch``, by variable name. last: the greatest timestamp."""
    ticks = [ts for kind, _, ts in entries if kind == "tick"]
    ts = {number: ts for kind, number, ts in entries if kind == "message"}
    read = [number for kind, number, _ in entries[: node.handed] if kind == "message"]
    every, targets = range(messages), dict(enumerate(node.targets))
    return {
        "logged": {m: m in ts for m in every},
        "handed": {m: m in read for m in every},
        "ts": {m: ts.get(m, 0) for m in every},
        "is_tick": {value: value in ticks for value in range(last + 1)},
        "tick": max(ticks, default=0),
        "main": node.main,
        "main_at": node.main_at,
        "main_from": node.main_from,
        **{
            name: {t: getattr(view, name) for t, view in targets.items()}
            for name in TargetView._fields
            if name != "got"
        },
        "got": {(t, m): m in view.got for t, view in targets.items() for m in every},
        "twice": {(t, m): view.got.count(m) > 1 for t, view in targets.items() for m in every},
    }


ENVIRONMENT = Environment(
    "spec/dispatch:Dispatch",
    {
        "logged, ts, is_tick, tick, handed": "the log, and how far it was read: simulated",
        "begins": "a history: the first position of a target",
        "got, twice": "what was taken before is noted by whoever takes it",
    },
)
"""What is not read from the implementation, and why."""
