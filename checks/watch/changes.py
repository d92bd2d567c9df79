"""Waiting for saved files: their times and sizes are looked at a few times a second.

Looking at a thousand files takes some milliseconds, and works on every file system, shared folders included.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from tidemark.checks.cache.kept import Kept
from tidemark.checks.gate.run import run
from tidemark.checks.gate.settings import Settings
from tidemark.checks.report.forms.bundle import headline
from tidemark.checks.report.matrix import duration
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
    subjects = [one.verdict.subject for one in result.failures]
    wrong = len({f"{s.judge}/{s.instance}" for s in subjects} | {one.task for one in result.unjudged})
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


INTERVAL_S = 0.5
_GRACE_S = 20.0
_SUFFIXES = frozenset({".py", ".toml"})
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})

Times = dict[Path, tuple[int, int]]


def sources_below(folder: Path, *, besides: Path) -> Iterator[Path]:
    """Python and TOML files below a folder of the user; not those of ``besides``, nor in hidden folders."""
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = [
            name
            for name in sorted(folders)
            if not name.startswith(".")
            and name not in _SKIPPED
            and (here / name).resolve() != besides.resolve()
        ]
        yield from (here / name for name in sorted(names) if Path(name).suffix in _SUFFIXES)


def times_of(files: Iterable[Path]) -> Times:
    """When each file was written, and its size; files that are gone are left out."""
    found: Times = {}
    for path in files:
        with suppress(OSError):
            status = path.stat()
            found[path] = (status.st_mtime_ns, status.st_size)
    return found


def changed(before: Times, now: Times) -> list[Path]:
    """Files that were written, appeared or went away."""
    return sorted(path for path in {*before, *now} if before.get(path) != now.get(path))


def watch(
    command: Sequence[str],
    *,
    files: Callable[[], Iterable[Path]],
    say: Callable[[str], None],
    interval: float = INTERVAL_S,
) -> None:
    """Run ``command`` in a fresh process after each change of ``files``, until KeyboardInterrupt.

    A change during a run ends this run and starts another one: the verdict is not wanted on a text that is
    gone. Several files that are saved together are one change.
    """
    before = times_of(files())
    running: subprocess.Popen[bytes] | None = None
    say(f"watching {len(before)} files; Ctrl-C ends it")
    try:
        while True:
            time.sleep(interval)
            now = times_of(files())
            touched = changed(before, now)
            if not touched:
                continue
            while changed(now, later := _after(interval / 2, files)):
                now = later
            touched = changed(before, now)
            before = now
            _end(running)
            say(f"saved: {', '.join(map(_shown, touched))}")
            running = subprocess.Popen(command)
    finally:
        _end(running)


def _after(seconds: float, files: Callable[[], Iterable[Path]]) -> Times:
    time.sleep(seconds)
    return times_of(files())


def _shown(path: Path) -> str:
    with suppress(ValueError):
        return path.resolve().relative_to(Path.cwd()).as_posix()
    return path.as_posix()


def _end(running: subprocess.Popen[bytes] | None) -> None:
    """Interrupt a run in order; kill it if it does not end."""
    if running is None:
        return
    if running.poll() is None:
        with suppress(OSError):
            running.send_signal(signal.SIGINT)
        try:
            running.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            running.kill()
    running.wait()
