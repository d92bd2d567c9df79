"""One task is judged here, whichever process that is."""

import os
import time
import traceback
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil

from tidemark.checks.gate.pins import judgements, unpinned
from tidemark.checks.gate.settings import Settings
from tidemark.checks.verdicts.errors import BadInputError, CheckError, MissingToolError, StoppedError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.explain import explain
from tidemark.checks.verdicts.judge import Context, Judge, Registry
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.progress import Progress
from tidemark.checks.verdicts.result import TaskResult, Unjudged
from tidemark.checks.verdicts.verdict import Judgement, Verdict
from tidemark.models.instance import BadInstance
from tidemark.models.manifest import InstanceEntry, ManifestError
from tidemark.models.mutation.patches import restore
from tidemark.spec.language.errors import SpecError

_KNOWN = (CheckError, ManifestError, BadInstance, SpecError, OSError)
"""Errors whose words are enough."""

TRACEBACKS = "tracebacks.txt"
"""File of the build folder with the tracebacks of what could not be judged."""


def judge_task(task: Task, *, registry: Registry, settings: Settings, progress: Progress) -> TaskResult:
    """Run the judge of a task, and set what it says beside the manifest.

    A task that cannot be judged gives a result that says why. Raises only what ends the whole run:
    KeyboardInterrupt and StoppedError.
    """
    begun, used = time.perf_counter(), processor_seconds()
    context = Context(
        manifest=task.manifest,
        progress=progress,
        seed=settings.seed,
        master=settings.master,
        build=settings.build,
        workers=settings.workers,
        memory=settings.memory,
        reuse=settings.reuse.get(task.judge) or settings.reuse.get(task.name),
    )
    found: list[Judgement] = []
    new = ""
    why: Unjudged | None = None
    try:
        by, verdicts = _judge(task, registry, context)
        found = judgements(task, by, verdicts)
        new = unpinned(task, verdicts) if all(one.ok for one in found) else ""
    except StoppedError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  one broken judge hides no other
        why = _unjudged(task, error, by=registry.get(task.judge), build=settings.build)
    finally:
        restore()  # the next task in this process runs the implementation as it is written
    return TaskResult(
        task=task.name,
        judgements=tuple(found),
        unjudged=why,
        seconds=time.perf_counter() - begun,
        processor_seconds=max(0.0, processor_seconds() - used),
        unpinned=new,
    )


def in_pool(settings: Settings, *, wide: bool, memory: int) -> Settings:
    """The settings of a task beside which others run: one thread and ``memory`` bytes, unless the user chose
    otherwise. A ``wide`` task has the machine for itself.
    """
    if wide:
        return settings
    return replace(
        settings,
        workers=1 if settings.workers is None else settings.workers,
        memory=memory if settings.memory is None else settings.memory,
    )


def processor_seconds() -> float:
    """Processor time of this process and of all that it started, as far as they are known to the system."""
    spent = os.times()
    total = spent.user + spent.system + spent.children_user + spent.children_system
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
            total += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
    return total


def _judge(task: Task, registry: Registry, context: Context) -> tuple[Judge, list[Verdict]]:
    by: Judge | None = registry.get(task.judge)
    if by is None:
        raise MissingToolError(
            f"there is no judge {task.judge!r}", remedy=f"known: {', '.join(sorted(registry))}"
        )
    if isinstance(task.entry, InstanceEntry) and not task.manifest.claims_of(task.entry, by.kinds):
        key = "claims" if task.entry.claims is not None else "kinds"
        raise BadInputError(
            f"the instance {task.entry.name!r} has no claim that {task.judge} decides (`{key}`)",
            remedy=f"name some in `{key}`, or leave the key out: all claims of the protocol are meant then",
        )
    return by, by.run(task.entry, context)


def _unjudged(task: Task, error: Exception | SystemExit, *, by: Judge | None, build: Path) -> Unjudged:
    code, message, remedy = explain(error)
    if not type(by).__module__.startswith("tidemark."):  # a judge from elsewhere is no text that is judged
        code = ExitCode.INTERNAL_ERROR if not isinstance(error, _KNOWN) else code
    if not isinstance(error, _KNOWN):
        log = build / TRACEBACKS
        with suppress(OSError):
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("a", encoding="utf-8") as file_:
                file_.write(f"{task.name}\n{''.join(traceback.format_exception(error))}\n")
            remedy = f"{remedy}; {TRACEBACKS} in the build folder has the traceback"
    return Unjudged(task=task.name, exit_code=code, message=message, remedy=remedy, replay=task.command)
