"""The command ``mutants``."""

from __future__ import annotations

from typing import Annotated

import typer

from tidemark.checks.cli.options import Build, Jobs, ManifestOption, Master
from tidemark.checks.inputs.manifests import manifests
from tidemark.checks.verdicts.commands import BUILD, LOCAL


def mutants(
    entry: Annotated[
        str, typer.Argument(help="Manifest entry of mutants of the implementation; by default all of them.")
    ] = "",
    *,
    only: Annotated[str, typer.Option("--only", help="A part of the ids of the mutants to be tried.")] = "",
    listed: Annotated[bool, typer.Option("--list", help="Only list them, with what they change.")] = False,
    last: Annotated[bool, typer.Option("--last", help="Try none: the table of what is kept.")] = False,
    tests: Annotated[
        list[str] | None,
        typer.Option("--tests", help="Files or folders of tests that try what no host has killed."),
    ] = None,
    spark: Annotated[bool, typer.Option("--spark", help="As tasks of a Spark session.")] = False,
    master: Master = LOCAL,
    build: Build = BUILD,
    manifest: ManifestOption = None,
    jobs: Jobs = None,
) -> int:
    """Try the mutants of the implementation; print the fate of each.

    What was tried is kept in the build folder and taken over, as long as no code has changed.
    """
    from tidemark.checks.mutation.implementation import command

    chosen = command.Chosen(
        entry=entry,
        only=only,
        listed=listed,
        last=last,
        build=build,
        jobs=jobs,
        master=master if spark else None,
        tests=tuple(tests or ()),
    )
    return command.mutants(chosen, manifests(manifest or ()))
