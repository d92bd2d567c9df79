"""The result of a run on the console: table, failures with their counterexamples, mutants, one sentence."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidemark.checks.report.forms.bundle import FOLDER, bundle_id, headline
from tidemark.checks.report.forms.fitting import fit, groups
from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.report.matrix import Cell, Failure, Matrix, Row, brief, duration, failures, matrix
from tidemark.checks.report.page.rows import has_expected_run
from tidemark.checks.verdicts.exit_codes import MEANING, ExitCode
from tidemark.checks.verdicts.result import RunResult, Unjudged
from tidemark.checks.verdicts.verdict import Aspect

_WIDE = 160
_NAME = 32
_IN_FULL = 4
"""Of at most so many protocols each property has a line."""
_SHOWN = 8
"""At most so many failures are shown in full."""
_LINES = 40
"""At most so many others get a line each; the files have all of them."""


def wide_console(width: int = _WIDE) -> Console:
    """The terminal as it is; where there is none (a log file), wide enough that the table does not wrap."""
    console = Console()
    return console if console.is_terminal else Console(width=width)


def show_result(result: RunResult, console: Console, *, build: Path, files: list[Path]) -> None:
    """Print everything that a user should see at the end."""
    arranged = matrix(result)
    if arranged.rows:
        # One table; if the terminal is too narrow for it, one below the other, each with some of the
        # judges.
        whole = _table(arranged)
        for numbers in groups(whole, first=_NAME, width=console.width):
            table = _table(replace(arranged, judges=tuple(arranged.judges[number - 1] for number in numbers)))
            fit(table, first=_NAME, width=console.width)
            console.print(table)
    slowest = result.slowest()
    if len(slowest) > 1:
        _say(console, f"slowest: {', '.join(f'{name} {duration(seconds)}' for name, seconds in slowest)}")
    if result.processor_seconds:
        used = result.processor_seconds / max(result.seconds, 1e-9)
        _say(
            console,
            f"took {duration(result.seconds)} with {duration(result.processor_seconds)} of processor time: "
            f"{used:.1f} cores at work",
        )
    killed, due = result.mutants()
    if due:
        _say(
            console,
            f"mutants: {killed} of {due} killed by their property",
            style="" if killed == due else "red",
        )
    _unjudged(result.unjudged, console)
    distinct = failures(result)
    for failure in distinct[:_SHOWN]:
        _failure(failure, console, result, build=build)
    _rest(distinct[_SHOWN:], console)
    expected = sum(map(has_expected_run, result.judgements))
    runs = f"; {(build / FOLDER).as_posix()} has {expected} runs that are expected" * bool(expected)
    _say(console, f"\nfiles: {', '.join(path.as_posix() for path in files)}{runs}", style="dim")
    if result.taken_over:
        _say(console, f"{result.taken_over_line()} (--fresh judges everything)", style="dim")
    for remark in result.remarks:
        _say(console, f"note: {remark}", style="yellow")
    code = result.exit_code
    style = "bold green" if code is ExitCode.AS_EXPECTED else "bold red"
    _say(console, result.summary(), style=style)
    if code is not ExitCode.AS_EXPECTED:
        _say(console, f"exit status {code.value}: {MEANING[code]}")


def _say(console: Console, text: str, *, style: str = "") -> None:
    console.print(Text(text, style=style), soft_wrap=True)


def _table(arranged: Matrix) -> Table:
    return _properties(arranged) if len(arranged.protocols) <= _IN_FULL else _protocols(arranged)


def _protocols(arranged: Matrix) -> Table:
    """A line for each protocol, with how many verdicts of a judge are as expected, and one for each property
    that has another verdict. The page has a line for each property.
    """
    table = _columns("verdicts as expected", arranged)
    for name in arranged.protocols:
        own = [row for row in arranged.rows if row.protocol == name]
        table.add_row(Text(name), *(_number(own, judge) for judge in arranged.judges))
        for row in own:
            if not row.ok:
                _add(table, row, arranged, indent="  ")
    return table


def _number(rows: Sequence[Row], judge: str) -> Text:
    """How many verdicts of a judge are as expected."""
    count = sum(j.ok for row in rows for j in row.cells[judge].judgements)
    return Text(f"{count:,}", style="green") if count else Text("·", style="dim")


def _columns(heading: str, arranged: Matrix) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_footer=True, pad_edge=False)
    table.add_column(heading, footer="over\nin", overflow="fold", min_width=_NAME)
    for name in arranged.judges:
        table.add_column(name, footer=f"{arranged.work[name]}\n{arranged.seconds[name]}", overflow="fold")
    return table


def _add(table: Table, row: Row, arranged: Matrix, *, indent: str = "") -> None:
    style = "default" if row.ok else "bold red"
    cells = (_cell(row.cells[name]) for name in arranged.judges)
    table.add_row(Text(indent + row.property_id.removeprefix(f"{row.protocol}."), style=style), *cells)


def _properties(arranged: Matrix) -> Table:
    """A line for each property, under the name of its protocol if there are several."""
    table = _columns("property", arranged)
    above = ""
    for row in brief(arranged.rows):
        if len(arranged.protocols) > 1 and row.protocol != above:
            table.add_section()
            table.add_row(Text(row.protocol, style="bold"))
            above = row.protocol
        _add(table, row, arranged)
    return table


def _cell(cell: Cell) -> Text:
    if cell.empty:
        return Text("·", style="dim")
    if all(j.verdict.subject.aspect in (Aspect.PIN, Aspect.MEANING) for j in cell.judgements) and cell.ok:
        return Text("as pinned", style="dim")
    return Text("\n".join(cell.lines()), style="green" if cell.ok else "bold red")


def _unjudged(tasks: Sequence[Unjudged], console: Console) -> None:
    """What could not be judged, before the failures: an error of a protocol explains many of them. What
    several tasks say is shown once, in the shortest form.
    """
    alike: dict[str, list[Unjudged]] = {}
    for one in sorted(tasks, key=lambda task: len(task.message)):
        alike.setdefault(one.message.partition("\n")[0], []).append(one)
    for first, *others in alike.values():
        _say(console, f"\nNOT JUDGED  {first.task}: {first.message}", style="bold red")
        _say(console, f"  remedy: {first.remedy}\n  replay: {first.replay}")
        for other in others:
            _say(console, f"  also {other.task}; replay: {other.replay}")


def _rest(others: Sequence[Failure], console: Console) -> None:
    if not others:
        return
    _say(console, f"\n{len(others)} more failure{'' if len(others) == 1 else 's'}:", style="bold red")
    for failure in others[:_LINES]:
        if failure.lead.cascade:
            _say(console, f"  {_cascade(failure)}")
            continue
        also = f" (and {len(failure.others)} more verdicts)" if failure.others else ""
        _say(console, f"  expected {failure.lead.expected.value}: {headline(failure.lead.verdict)}{also}")
    if len(others) > _LINES:
        _say(console, f"  ... and {len(others) - _LINES} more, which the files have")


def _cascade(failure: Failure) -> str:
    """One line for all that were not judged for one cause."""
    number = len(failure.judgements)
    return f"{failure.lead.cascade}: {number} mutant{'s' * (number > 1)} not judged"


def _failure(failure: Failure, console: Console, result: RunResult, *, build: Path) -> None:
    """The run, notes and command of the judgement to show first; of each other one, who and the command."""
    judgement = failure.lead
    verdict = judgement.verdict
    if judgement.cascade:
        _say(console, f"\nNOT JUDGED  {_cascade(failure)}", style="bold red")
        _say(console, f"  remedy: mend that first\n  replay: {judgement.replay}")
        return
    _say(console, f"\nFAIL  expected {judgement.expected.value}: {headline(verdict)}", style="bold red")
    if verdict.counterexample is not None:
        lines = result.source_lines(verdict.subject)
        _say(console, trace_text(verdict.counterexample, limit=30, sources=lines))
        _say(console, f"  bundle: {(build / FOLDER / bundle_id(verdict)).as_posix()}")
    for note in verdict.notes:
        _say(console, f"  note: {note}")
    _say(console, f"  replay: {judgement.replay}")
    for other in failure.others:
        subject, found = other.verdict.subject, other.verdict.counterexample
        steps = "" if found is None else f" in {len(found.steps)} steps"
        _say(console, f"  also by {subject.judge} on {subject.instance}{steps}; replay: {other.replay}")
