"""One turn: judge what has changed since it was judged last, shortest first, and say what broke."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from tidemark.checks.cache.kept import Kept
from tidemark.checks.gate.run import run
from tidemark.checks.gate.settings import Settings
from tidemark.checks.report.amounts import duration
from tidemark.checks.report.forms.bundle import headline
from tidemark.checks.verdicts.commands import PARTIAL
from tidemark.checks.verdicts.judge import Registry
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.progress import Quiet
from tidemark.checks.verdicts.result import RunResult, Unjudged
from tidemark.checks.verdicts.verdict import Judgement


class Broken(Quiet):
    """Says a line for each task that is not as expected, and nothing else."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def judged(self, task: Task, found: Sequence[Judgement], *, seconds: float) -> None:  # noqa: ARG002
        """See ``Reporter``."""
        wrong = [one for one in found if not one.ok]
        if wrong:
            first = wrong[0]
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            self._say(f"BROKE  {task.name}: expected {first.expected.value}; {headline(first.verdict)}{more}")

    def unjudged(self, task: Task, why: Unjudged) -> None:
        """See ``Reporter``."""
        self._say(f"BROKE  {task.name}: {why.message}")

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def turn(
    tasks: Sequence[Task], *, kept: Kept, registry: Registry, settings: Settings, console: Console
) -> RunResult:
    """Judge those of the tasks that were judged before, of other sources than the present ones.

    What was never judged is left to ``verify``: a save must not start the whole gate.
    """
    unchanged = kept.take_over(tasks)
    before = {task.name: kept.last_seconds(task) for task in tasks if task.name not in unchanged}
    due = [task for task in tasks if before.get(task.name) is not None]
    due.sort(key=lambda task: (before[task.name] or 0.0, task.name))
    result = run(
        due, registry=registry, settings=replace(settings, jobs=1), reporter=Broken(console), kept=kept
    )
    if not result.stopped:
        (settings.build / PARTIAL).unlink(missing_ok=True)
    wrong = len({_task(one) for one in result.failures} | {one.task for one in result.unjudged})
    never = len(before) - len(due)
    said = [f"{wrong} of {len(due)} checks broke" if wrong else f"{len(due)} checks as expected"]
    if result.stopped:
        said = [f"stopped after {result.done} of {len(due)} checks"]
    said += [f"{len(unchanged)} unchanged"]
    said += [f"{never} never judged: {settings.invocation.complete('tidemark verify')}"] if never else []
    said += [duration(result.seconds)]
    console.print(" · ".join(said), markup=False, highlight=False, soft_wrap=True)
    for remark in kept.remarks:
        console.print(f"note: {remark}", markup=False, highlight=False, soft_wrap=True)
    return result


def _task(one: Judgement) -> str:
    return f"{one.verdict.subject.judge}/{one.verdict.subject.instance}"
