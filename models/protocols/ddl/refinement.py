"""From the live objects of the DDL source to the state of ``tidemark.spec.ddl``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.impl.rootcoord.ddl_lock_manager import Job
from tidemark.impl.rootcoord.ddl_scheduler import DdlTask
from tidemark.impl.rootcoord.ddl_source import DdlSource
from tidemark.models.refinement.origins import Environment


@dataclass(frozen=True)
class DdlView:
    """The DDL source, its tasks and jobs, and the reporter."""

    tasks: tuple[tuple[str, int, int], ...]
    """(phase, floor, ts)."""
    jobs: tuple[tuple[str, int, int, bool], ...]
    """(stage, floor, ts, counted)."""
    scheduler_min: int
    last_ts: int
    loop: str
    loop_floor: int
    background: int
    found: int
    reported: int


def ddl_view(
    source: DdlSource,
    tasks: Sequence[DdlTask],
    jobs: Sequence[Job],
    *,
    floors: dict[str, int],
    found: int | None,
    reported: int,
) -> DdlView:
    """The picture of a DDL source.

    floors: by "task 0", "job 0" and "reporter" what was answered when they asked. found: what the reporter is
    about to report; None before it is there.
    """
    loop = source.lock_manager.reader.value
    if source.background is not None:
        loop = "have_background"
    if found is not None:
        loop = "have_both"
    return DdlView(
        tasks=tuple((t.phase.value, floors.get(f"task {n}", 0), t.ts) for n, t in enumerate(tasks)),
        jobs=tuple((j.stage.value, floors.get(f"job {n}", 0), j.ts, j.counted) for n, j in enumerate(jobs)),
        scheduler_min=source.scheduler.min_ddl_ts,
        last_ts=source.lock_manager.last_ts,
        loop=loop,
        loop_floor=floors.get("reporter", 0),
        background=source.background or 0,
        found=found or 0,
        reported=reported,
    )


def abstract(view: DdlView, appended: Sequence[int], answered: Sequence[int]) -> dict[str, Any]:
    """The state of ``spec.ddl``, by variable name. appended: timestamps of the messages in the logs."""
    tasks, jobs = enumerate(view.tasks), enumerate(view.jobs)
    found: dict[str, Any] = {name: {} for name in ("phase", "floor", "ts", "appended")}
    for place, (phase, floor, ts) in tasks:
        found["phase"][place], found["floor"][place], found["ts"][place] = phase, floor, ts
        found["appended"][place] = ts in appended
    found |= {name: {} for name in ("stage", "job_floor", "job_ts", "counted")}
    for place, (stage, floor, ts, counted) in jobs:
        found["stage"][place], found["job_floor"][place] = stage, floor
        found["job_ts"][place], found["counted"][place] = ts, counted
    return found | {
        "issued": max(answered, default=0),
        "scheduler_min": view.scheduler_min,
        "last_ts": view.last_ts,
        "loop": view.loop,
        "loop_floor": view.loop_floor,
        "background": view.background,
        "found": view.found,
        "reported": view.reported,
    }


ENVIRONMENT = Environment(
    "spec/ddl:Ddl",
    {
        "issued": "the oracle is a counter of the simulated world: what it has answered to anybody",
        "floor, job_floor, loop_floor": (
            "a history: what the oracle had answered when the question was asked; nobody keeps it"
        ),
        "appended": "the logs are simulated",
        "loop": "that the minimum is there is noted by the reporter, which is simulated",
        "found, reported": "what the simulated reporter was given, and has reported",
    },
)
"""What is not read from the implementation, and why."""
