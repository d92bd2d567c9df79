"""``tidemark show``: what the manifests, the specifications and the last run say; nothing is judged."""

from __future__ import annotations

from typing import Annotated

import typer

from tidemark.checks.cli import tools
from tidemark.checks.cli.options import Build, ManifestOption
from tidemark.checks.verdicts.commands import BUILD
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode, table

group = typer.Typer(name="show", invoke_without_command=True)


@group.callback()
def show(context: typer.Context, *, manifest: ManifestOption = None) -> int:
    """Checks; argument, assumptions, liveness, origins, findings, ..."""
    if context.invoked_subcommand is None:
        return tools.show(manifest or ())
    if manifest:
        word = context.invoked_subcommand
        raise BadInputError(
            f"--manifest before {word!r}", remedy=f"write it behind:  tidemark show {word} --manifest ..."
        )
    return ExitCode.AS_EXPECTED.value


@group.command()
def argument(
    protocol: Annotated[str, typer.Argument(help="Name of a manifest, for example timetick.")] = "",
    *,
    dot: Annotated[bool, typer.Option("--dot", help="The graph in Graphviz's language.")] = False,
    manifest: ManifestOption = None,
) -> int:
    """Show the assumptions of each protocol, and what supports them."""
    return tools.argument(protocol, dot=dot, manifests=manifest or ())


@group.command()
def assumptions(
    protocol: Annotated[str, typer.Argument(help="Name of a manifest; all if left out.")] = "",
    *,
    manifest: ManifestOption = None,
) -> int:
    """Print what the protocols assume, and what they need not assume: the table of docs/assumptions.md."""
    return tools.assumptions(protocol, manifests=manifest or ())


@group.command()
def liveness(
    protocol: Annotated[str, typer.Argument(help="Name of a manifest; all if left out.")] = "",
    *,
    manifest: ManifestOption = None,
) -> int:
    """Print which claims of liveness are proved, and which hold within bounds only."""
    return tools.liveness(protocol, manifests=manifest or ())


@group.command()
def findings(
    words: Annotated[
        list[str] | None, typer.Argument(help="Id of one finding, or words to look for; else the index.")
    ] = None,
    *,
    manifest: ManifestOption = None,
) -> int:
    """Print the index of all results (FINDINGS.md), one finding with its runs, or those with some words."""
    return tools.findings(words or (), manifests=manifest or ())


@group.command()
def sources(*, manifest: ManifestOption = None) -> int:
    """Print the findings and mutants on each seed, hazard and bug (docs/sources.md)."""
    return tools.sources(manifest or ())


@group.command()
def figures(
    protocols: Annotated[list[str], typer.Argument(help="Names of manifests, for example reads stream.")],
    *,
    build: Build = BUILD,
    manifest: ManifestOption = None,
) -> int:
    """Print what the last run measured of these protocols, and its verdicts on their hazards and bugs."""
    return tools.figures(protocols, build=build, manifests=manifest or ())


@group.command()
def actions(
    protocol: Annotated[str, typer.Argument(help="Name of one protocol; all if left out.")] = "",
) -> int:
    """Print which section of the implementation is which action of the specification."""
    return tools.actions(protocol)


@group.command()
def places(*, manifest: ManifestOption = None) -> int:
    """Print how many mutants rules make from which files of the implementation, and what sees them."""
    return tools.places(manifest or ())


@group.command()
def origins(
    protocol: Annotated[str, typer.Argument(help="Name of one protocol; all if left out.")] = "",
    *,
    adapters: Annotated[bool, typer.Option("--adapters", help="Only what is not wholly read.")] = False,
) -> int:
    """Print what each refinement reads from the implementation, and what from adapters and environment."""
    return tools.origins(protocol, only_adapters=adapters)


@group.command()
def codes() -> int:
    """List the exit statuses."""
    print(table())
    return ExitCode.AS_EXPECTED.value
