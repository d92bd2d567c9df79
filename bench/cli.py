"""The command ``python -m tidemark.bench``: options, and the exit status."""

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.console import Console

from tidemark.bench.measures import (
    archives,
    cluster,
    evidence,
    gate,
    growth,
    interleave,
    interleave_spark,
    oracle,
    search,
    spark,
    spin,
    startup,
    successor,
    tlc,
)
from tidemark.bench.report import Result, load, machine, show, write
from tidemark.bench.series import FEWEST, Measure, Plan, Row, Status
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import MEANING, ExitCode, most_severe
from tidemark.models.rooms import ROOT

MEASURES: tuple[Measure, ...] = tuple(
    module.MEASURE
    for module in (
        search, successor, spin, tlc, growth, startup, interleave, interleave_spark, spark, cluster, oracle,
        gate, evidence, archives,
    )
)  # fmt: skip
_WIDTH = 150
_INTERRUPTED = 130
"""What the library of the command line returns after an interrupt."""

application = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@application.command()
def bench(
    *,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Name of a measure, may be repeated; all if left out.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes, one repetition: does everything work?")
    ] = False,
    repeat: Annotated[
        int | None, typer.Option("--repeat", min=1, help=f"Repetitions; {FEWEST} if left out, 1 if quick.")
    ] = None,
    build: Annotated[Path, typer.Option(help="Folder for bench.json and bench.md.")] = Path("build"),
) -> int:
    """Measure rates and memory, as ratios within one run.

    No time and no missed goal fails a run; counts that differ between two engines do.
    """
    chosen = choose(only or ())
    console = Console() if sys.stdout.isatty() else Console(width=_WIDTH)
    times = repeat if repeat is not None else 1 if quick else FEWEST
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-") as scratch, console.status("starts") as line:
        plan = Plan(scratch=Path(scratch), repeat=times, quick=quick, say=line.update)
        result = measure(chosen, plan)
    if result.stopped and not result.rows:
        raise KeyboardInterrupt
    show(result, console)
    paths = write(result, build)
    console.print(f"Written: {', '.join(path.as_posix() for path in paths)}")
    status = ExitCode.STOPPED if result.stopped else exit_code(result.rows)
    if status is not ExitCode.AS_EXPECTED:
        print(f"exit status {status.value}: {MEANING[status]}", file=sys.stderr)
    return status.value


def choose(names: Sequence[str]) -> tuple[Measure, ...]:
    """Measures by name, in the given order; all if there is no name. Raises BadInputError."""
    known = {found.name: found for found in MEASURES}
    for name in names:
        if name not in known:
            raise BadInputError(f"there is no measure {name!r}", remedy=known_names(name, known))
    return tuple(known[name] for name in names) or MEASURES


def measure(chosen: Sequence[Measure], plan: Plan) -> Result:
    """Run the measures one after the other. If it is stopped, the lines that are complete are the result."""
    begin, before = time.perf_counter(), load()
    rows: list[Row] = []
    stopped = False
    try:
        for one in chosen:
            for row in one.run(plan):
                rows.append(row)  # noqa: PERF402  what was measured before a stop must not be lost
    except KeyboardInterrupt:
        stopped = True
    return Result(
        rows=tuple(rows),
        stopped=stopped,
        machine=machine(),
        load=(before, load()),
        repeat=plan.repeat,
        quick=plan.quick,
        seconds=time.perf_counter() - begin,
        revision=revision(),
    )


def revision() -> str:
    """The commit that was measured, with a plus sign if files were changed since; empty if unknown."""
    try:
        said = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],
            cwd=ROOT, capture_output=True, text=True, timeout=20, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout.strip()


def exit_code(rows: Sequence[Row]) -> ExitCode:
    """Differing counts and crashes fail; a run that measured nothing is none."""
    codes = [ExitCode.AS_EXPECTED]
    found = {row.status for row in rows}
    if Status.BROKEN in found:
        codes.append(ExitCode.INTERNAL_ERROR)
    if Status.DIFFERENT in found:
        codes.append(ExitCode.VACUOUS_OR_UNPINNED)
    if not any(row.samples for row in rows):
        codes.append(ExitCode.MISSING_TOOL)
    return most_severe(codes)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status. What it started ends with it, even if it is terminated."""
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        status = application(given, prog_name="python -m tidemark.bench", standalone_mode=False)
    except KeyboardInterrupt:
        status = _INTERRUPTED
    except BadInputError as error:
        print(f"bench: {error}", file=sys.stderr)
        return error.exit_code.value
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        print(
            f"bench: {error.format_message()}\n  remedy: see  python -m tidemark.bench --help",
            file=sys.stderr,
        )
        return ExitCode.BAD_INPUT.value
    finally:
        signal.signal(signal.SIGTERM, before)
    if status == _INTERRUPTED:
        print("bench: stopped; nothing was written", file=sys.stderr)
        return ExitCode.STOPPED.value
    return int(status or 0)


def app() -> None:
    """The entry point."""
    sys.exit(run())
