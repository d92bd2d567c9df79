"""The command ``observe``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidemark.checks.cli.run import wide_console
from tidemark.checks.verdicts.commands import BUILD
from tidemark.checks.verdicts.errors import BadInputError


def observe(
    scenario: Annotated[str, typer.Argument(help="Name of a scenario; by default they are listed.")] = "",
    *,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything that is drawn at random.")] = 0,
    runs: Annotated[int, typer.Option(min=1, help="Number of runs, with consecutive seeds.")] = 1,
    server: Annotated[str, typer.Option(help="A version that `make milvus` has fetched.")] = "2.3.5",
    lease: Annotated[int, typer.Option(min=1, help="Seconds a session lives without its process.")] = 30,
    out: Annotated[Path, typer.Option(help="Folder for the evidence, a folder each run.")] = BUILD
    / "observe",
    keep: Annotated[bool, typer.Option("--keep", help="Keep the server's data there too.")] = False,
    collect: Annotated[bool, typer.Option("--collect", help="Only collect, do not judge.")] = False,
    table: Annotated[
        bool, typer.Option("--table", help="Run nothing: judge all runs in --out anew, and show a table.")
    ] = False,
) -> int:
    """Start a real server, break it, and judge what it leaves behind."""
    from tidemark.checks.observe import command

    if table:
        if scenario:
            raise BadInputError("a scenario with --table", remedy="--table judges all runs in --out")
        from tidemark.checks.observe.judged import overview

        return overview(out, console=wide_console()).value
    options = command.Options(
        seed=seed, runs=runs, version=server, lease=lease, out=out, keep=keep, judge=not collect
    )
    return command.observe(scenario, options=options, console=wide_console())
