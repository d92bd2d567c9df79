"""From the live objects of a proxy's queues, and of what carries their tasks out, to the state of
``tidemark.spec.scheduler``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidemark.impl.errors import ProxyEndedError, RpcError
from tidemark.impl.proxy.queues import ProxyQueues, QueueKind, QueuesMode
from tidemark.impl.proxy.values import AppendOutcome, DmlTask, TaskPhase
from tidemark.models.protocols.proxy.refinement import LogView
from tidemark.models.refinement.origins import Environment


class TaskView(NamedTuple):
    """One task. ``place``: in the order of entry of its queue; 0 before. ``refused``: it was not admitted,
    and has not asked the oracle. ``cut``: its caller was told that the proxy has ended.
    """

    phase: str
    floor: int
    ts: int
    place: int
    active: bool
    unknown: bool
    left: bool
    refused: bool
    cut: bool
    notices: int


@dataclass(frozen=True)
class QueuesView:
    """All queues of a proxy. ``entered``: by queue how many tasks have entered."""

    mode: str
    tasks: tuple[TaskView, ...]
    entered: tuple[tuple[str, int], ...]


def queues_view(
    queues: ProxyQueues,
    tasks: Sequence[tuple[QueueKind, DmlTask]],
    *,
    floors: Sequence[int],
) -> QueuesView:
    """The picture of the queues. ``floors``: see the table; 0 for a task that does not ask."""
    ended = queues.mode is QueuesMode.ENDED
    return QueuesView(
        mode="crashed" if ended else queues.mode.value,
        tasks=tuple(
            TaskView(
                phase=_phase(task, ended=ended),
                floor=floors[number],
                ts=task.ts,
                place=task.place,
                active=queues.queues[kind].active.get(task.place) is task and not ended,
                unknown=_is_unknown(task, ended=ended),
                left=task.left,
                refused=not task.place and task.error is not None and not isinstance(task.error, RpcError),
                cut=_is_cut(task),
                notices=task.answered.times - _is_cut(task),
            )
            for number, (kind, task) in enumerate(tasks)
        ),
        entered=tuple((kind.value, queue.entered) for kind, queue in queues.queues.items()),
    )


def _is_cut(task: DmlTask) -> bool:
    return isinstance(task.error, ProxyEndedError)


def _is_unknown(task: DmlTask, *, ended: bool) -> bool:
    """Nobody asks any more what became of a call that was under way when the proxy ended."""
    outcomes = task.outcomes.values()
    return AppendOutcome.UNKNOWN in outcomes or (ended and AppendOutcome.UNDER_WAY in outcomes)


def _phase(task: DmlTask, *, ended: bool) -> str:
    if task.phase is TaskPhase.NEW:
        return "over" if task.answered.is_set() and not _is_cut(task) else "new"
    if ended and task.phase is not TaskPhase.POPPED:
        return "lost"
    if task.phase is TaskPhase.RUNNING:
        return "ended" if task.carried_out else "running"
    later = {TaskPhase.FINISHED: "ended", TaskPhase.POPPED: "over"}
    return later.get(task.phase, str(task.phase.value))


def abstract(
    queues: QueuesView, log: LogView, answered: Sequence[int], channels: Sequence[str]
) -> dict[str, Any]:
    """The state of ``tidemark.spec.scheduler``, by variable name. ``channels``: by task."""
    tasks = dict(enumerate(queues.tasks))
    names = {t: (channels[t], task.ts) for t, task in tasks.items()}
    return {
        "mode": queues.mode,
        "issued": max(answered, default=0),
        "reported": 0,
        "tail": {kind.value: dict(queues.entered).get(kind.value, 0) for kind in QueueKind},
        "phase": {t: task.phase for t, task in tasks.items()},
        "floor": {t: task.floor for t, task in tasks.items()},
        "ts": {t: task.ts for t, task in tasks.items()},
        "place": {t: task.place for t, task in tasks.items()},
        "active": {t: task.active for t, task in tasks.items()},
        "carried": {t: names[t] in log.appended for t in tasks},
        "unknown": {
            t: task.unknown and names[t] not in log.appended + log.refused for t, task in tasks.items()
        },
        "caller": {t: _caller(task) for t, task in tasks.items()},
        "notices": {t: task.notices for t, task in tasks.items()},
    }


def _caller(task: TaskView) -> str:
    """Whoever has left before the task asked is answered all the same: the refusal reaches no caller."""
    if task.phase == "new":
        return "absent"
    if task.left and not task.refused:
        return "left"
    if task.cut:
        return "cut"
    return "told" if task.notices else "waits"


ENVIRONMENT = Environment(
    "spec/scheduler:Scheduler",
    {
        "issued": "the oracle is a counter of the simulated world: what it has answered to anybody",
        "reported": "nothing is reported in these programs",
        "floor": "a history: what the oracle had answered when the question was asked; nobody keeps it",
        "carried, unknown": "the log is simulated",
    },
)
"""What is not read from the implementation, and why."""
