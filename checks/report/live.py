"""A run while it goes on: one line per check, with bars on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TaskID, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bars
from rich.text import Text

from tidemark.checks.report.matrix import amount, duration
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.progress import Progress
from tidemark.checks.verdicts.result import Unjudged
from tidemark.checks.verdicts.verdict import Aspect, Judgement
from tidemark.models.manifest import is_on_spark

_LONG = 52
_QUIET_S = 15.0
"""Without a terminal, a check that is longer than this says how far it is, at this interval (seconds)."""


def live(console: Console) -> PlainLive | BarLive:
    """The fitting reporter: bars on a terminal, plain lines otherwise."""
    return BarLive(console) if console.is_terminal else PlainLive(console)


def task_line(task: Task, found: Sequence[Judgement], *, seconds: float) -> str:
    """What came out of a task, for example ``10 hold, 2 refuted as expected · 1,234 states · 0.4 s``, and
    whether Spark's tasks did the work. A task that was not judged again says since when instead.
    """
    claims = [j for j in found if j.verdict.subject.aspect is not Aspect.PIN]
    counts: dict[str, int] = {}
    for j in claims:
        if j.ok:
            word = {"refuted": "refuted as expected", "holds": "hold"}.get(j.expected.value, j.expected.value)
            counts[word] = counts.get(word, 0) + 1
    wrong = [j for j in found if not j.ok]
    parts = [f"{number} {word}" for word, number in counts.items()]
    parts += [f"{len(wrong)} NOT as expected"] if wrong else []
    size = _size(claims)
    taken = found[0].taken_over if found else ""
    time = f"taken over from {taken[:10]}" if taken else duration(seconds)
    time += " on Spark" if is_on_spark(task.entry) and not taken else ""
    return " · ".join(part for part in (", ".join(parts), size, time) if part)


def _size(claims: Sequence[Judgement]) -> str:
    obligations = sum(j.verdict.counts.get("obligations", 0) for j in claims)
    if obligations:
        return amount({"obligations": obligations})
    return max((amount(j.verdict.counts) for j in claims), key=len, default="")


class PlainLive:
    """Plain lines: one when a check is done, and one now and then while a long one runs."""

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._total = 0
        self._done = 0
        self._width = 0

    def begin(self, tasks: Sequence[Task]) -> None:
        """Remember how many checks there are, and how long their names."""
        self._total = len(tasks)
        self._width = _width(tasks)

    def started(self, task: Task) -> Progress:
        """Nothing is said yet: a check speaks only if it is long."""
        spoke = self._clock()
        pace = Pace(self._clock)

        def progress(done: int, *, total: int | None = None, unit: str = "", note: str = "") -> None:
            nonlocal spoke
            now = self._clock()
            rate = pace.rate(done)
            if now - spoke >= _QUIET_S:
                spoke = now
                text = progress_text(done, total=total, unit=unit, note=note, rate=rate)
                self._print("  ... ", task.name, text)

        return progress

    def judged(self, task: Task, found: Sequence[Judgement], *, seconds: float) -> None:
        """One line with the result."""
        self._done += 1
        self._print(_sign(found), task.name, task_line(task, found, seconds=seconds))

    def unjudged(self, task: Task, why: Unjudged) -> None:
        """One line with the reason."""
        self._done += 1
        self._print("FAIL  ", task.name, why.message.partition("\n")[0])

    def end(self) -> None:
        """Nothing is open."""

    def _print(self, sign: str, name: str, text: str) -> None:
        """The number is that of the checks that are done."""
        width = len(str(self._total))
        line = f"[{self._done:>{width}}/{self._total}] {sign}{name:<{self._width}} {text}"
        self._console.file.write(f"{line}\n")  # no terminal: nothing to wrap or to colour
        self._console.file.flush()


class BarLive:
    """A bar for all checks and one for each that runs, with rate and remaining time; a line for each one that
    is done.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TextColumn("{task.fields[text]}"),
            console=console,
            transient=True,
        )
        self._width = 0
        self._all = self._bars.add_task("[bold]checks[/]", text="", total=None, visible=False)
        self._running: dict[str, TaskID] = {}

    def begin(self, tasks: Sequence[Task]) -> None:
        """Open the bar of all."""
        self._width = _width(tasks)
        self._bars.update(self._all, total=len(tasks), text=f"0/{len(tasks)}", visible=True)
        self._bars.start()

    def started(self, task: Task) -> Progress:
        """Open a bar for this check."""
        pace = Pace()
        bar = self._bars.add_task(escape(task.name), text="", total=None)
        self._running[task.name] = bar

        def progress(done: int, *, total: int | None = None, unit: str = "", note: str = "") -> None:
            text = progress_text(done, total=total, unit=unit, note=note, rate=pace.rate(done))
            self._bars.update(bar, completed=done, total=total, text=escape(text))

        return progress

    def judged(self, task: Task, found: Sequence[Judgement], *, seconds: float) -> None:
        """One line with the result."""
        good = all(j.ok for j in found)
        line = Text(_sign(found), style="green" if good else "bold red")
        line.append(f"{task.name:<{self._width}} ", style="default")
        line.append(task_line(task, found, seconds=seconds), style="dim")
        self._close(task, line)

    def unjudged(self, task: Task, why: Unjudged) -> None:
        """One line with the reason."""
        line, reason = Text("FAIL  ", style="bold red"), why.message.partition("\n")[0]
        self._close(task, line.append(f"{task.name:<{self._width}} {reason}", style="default"))

    def end(self) -> None:
        """Close the bars."""
        self._bars.stop()

    def _close(self, task: Task, line: Text) -> None:
        """The check is done: its bar becomes a line."""
        bar = self._running.pop(task.name, None)
        if bar is not None:
            self._bars.remove_task(bar)
        self._bars.advance(self._all)
        whole = self._bars.tasks[0]
        self._bars.update(self._all, text=f"{whole.completed:.0f}/{whole.total:.0f}")
        self._console.print(line)


def _width(tasks: Sequence[Task]) -> int:
    """Results stand below one another, unless a few names are much longer than the rest."""
    return max((len(task.name) for task in tasks if len(task.name) <= _LONG), default=0)


def _sign(found: Sequence[Judgement]) -> str:
    return "ok    " if all(j.ok for j in found) else "FAIL  "


class Pace:
    """The rate of a check since its first step: what it needs to start (a Spark session, a compiled kernel)
    says nothing about how long the rest will take.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: tuple[float, int] | None = None

    def rate(self, done: int) -> float | None:
        """Steps a second; None until there is something to measure."""
        now = self._clock()
        if self._first is None or done <= self._first[1]:
            self._first = (now, done)
        seconds, more = now - self._first[0], done - self._first[1]
        return more / seconds if seconds > 0.5 and more > 0 else None


def progress_text(done: int, *, total: int | None, unit: str, note: str, rate: float | None) -> str:
    """``12,345 states, 6,100/s, about 20 s left, depth 12``; no remaining time without a total."""
    parts = [f"{done:,} {unit}".strip() if total is None else f"{done:,} of {total:,} {unit}".strip()]
    if rate is not None:
        parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
        if total is not None and total > done:
            parts.append(f"about {duration((total - done) / rate)} left")
    return ", ".join([*parts, note] if note else parts)
