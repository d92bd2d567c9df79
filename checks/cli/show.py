"""``tidemark show``: what the manifests, the specifications and the last run say; nothing is judged."""

import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from tidemark.checks.cli.options import Build, ManifestOption, settings_of
from tidemark.checks.gate.registry import registry
from tidemark.checks.gate.settings import Settings
from tidemark.checks.inputs.manifests import loaded
from tidemark.checks.report.console import wide_console
from tidemark.checks.verdicts.commands import BUILD
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode, table
from tidemark.checks.verdicts.plan import all_tasks
from tidemark.models.findings import all_findings, finding_files, load_findings
from tidemark.models.manifest import (
    SUITE,
    GeneratedMutants,
    ImplementationMutants,
    Manifest,
    MutantEntry,
    check_against_spec,
    manifest_files,
)
from tidemark.models.manifest.about import shown_path
from tidemark.models.rooms import PROTOCOLS

_FOUND = 12
"""So many findings are listed that have some words."""
_LONG = 500
"""Columns of a file that takes a tree: its lines are not to be cut."""

_ONE_OF_THEM = "`tidemark show findings ID` prints one of them, with its runs."

_WITHOUT_SUITE = not PROTOCOLS.is_dir()
"""Commands about the suite's own protocols are listed where these are installed."""

group = typer.Typer(name="show", invoke_without_command=True)


@group.callback()
def show(context: typer.Context, *, manifest: ManifestOption = None) -> int:
    """Checks; argument, assumptions, liveness, origins, findings, ..."""
    if context.invoked_subcommand is None:
        return _checks(manifest or ())
    if manifest:
        word = context.invoked_subcommand
        raise BadInputError(
            f"--manifest before {word!r}", remedy=f"write it behind:  tidemark show {word} --manifest ..."
        )
    return ExitCode.AS_EXPECTED.value


def read(paths: Sequence[Path]) -> list[Manifest]:
    """The manifests, each compared with its specification; with those of the suite its gate does that."""
    found = loaded(paths)
    for manifest in found:
        if manifest.path not in manifest_files():
            check_against_spec(manifest, file=shown_path(manifest.path))
    return found


def _named(name: str, known: Collection[str], what: str = "there is no protocol") -> list[str]:
    """The one of this name; all of them without a name. Raises BadInputError."""
    if name and name not in known:
        raise BadInputError(f"{what} {name!r}", remedy=known_names(name, known))
    return [name] if name else list(known)


def _checks(manifests: Sequence[Path]) -> int:
    """One line per check: name, tier, expectation."""
    for task in all_tasks(read(manifests)):
        entry = task.entry
        if isinstance(entry, MutantEntry):
            due = f"killed by {entry.killer}" if entry.killer else f"equivalent: {entry.equivalent}"
        elif isinstance(entry, GeneratedMutants | ImplementationMutants):
            due = f"{entry.total} mutants, {len(entry.equivalent)} of them equivalent"
        else:
            odd = f", but refuted: {', '.join(entry.expect.refuted)}" if entry.expect.refuted else ""
            due = f"{entry.expect.every.value}{odd}"
        print(f"{task.name:<36} {entry.tier.value:<5} {due}")
    return ExitCode.AS_EXPECTED.value


@group.command()
def argument(
    protocol: Annotated[str, typer.Argument(help="Name of a manifest, for example timetick.")] = "",
    *,
    dot: Annotated[bool, typer.Option("--dot", help="The graph in Graphviz's language.")] = False,
    manifest: ManifestOption = None,
) -> int:
    """Show the assumptions of each protocol, and what supports them."""
    from tidemark.checks.argument.graph import Argument
    from tidemark.checks.argument.table import argument_dot, argument_tree

    whole = Argument(read(manifest or ()))
    shown = _named(protocol, whole.manifests)
    if dot:
        sys.stdout.write(argument_dot(whole))
    else:
        console = wide_console(_LONG)
        for one in shown:
            console.print(argument_tree(whole, one), markup=False)
    open_ends = [one.problem for each in shown for one in whole.reliances(each) if one.problem]
    open_ends += [one.problem for each in shown for one in whole.steps(each) if one.problem]
    return (ExitCode.INCONCLUSIVE if open_ends else ExitCode.AS_EXPECTED).value


@group.command()
def assumptions(
    protocol: Annotated[str, typer.Argument(help="Name of a manifest; all if left out.")] = "",
    *,
    manifest: ManifestOption = None,
) -> int:
    """Print what the protocols assume, and what they need not assume: the table of docs/assumptions.md."""
    from tidemark.checks.argument.graph import Argument
    from tidemark.checks.argument.table import assumptions_text

    whole = Argument(read(manifest or ()))
    shown = _named(protocol, whole.manifests)
    print(assumptions_text(whole, tuple(shown)))
    problems = [one.problem for each in shown for one in whole.reliances(each) if one.problem]
    return (ExitCode.INCONCLUSIVE if problems else ExitCode.AS_EXPECTED).value


@group.command()
def torn(
    protocol: Annotated[str, typer.Argument(help="Name of a manifest, of which each action is torn.")] = "",
    *,
    manifest: ManifestOption = None,
) -> int:
    """Print what keeps actions one step; of one protocol, what happens when each is torn in two."""
    from tidemark.checks.argument.torn import kept_text, rows_text

    known = {one.name: one for one in read(manifest or ())}
    named = known[_named(protocol, known)[0]] if protocol else None
    for line in rows_text(named) if named is not None else [kept_text(known.values())]:
        print(line, flush=True)
    return ExitCode.AS_EXPECTED.value


@group.command()
def liveness(
    protocol: Annotated[str, typer.Argument(help="Name of a manifest; all if left out.")] = "",
    *,
    manifest: ManifestOption = None,
) -> int:
    """Print which claims of liveness are proved, and which hold within bounds only."""
    from tidemark.checks.argument.table import liveness as rows_of
    from tidemark.checks.argument.table import liveness_text

    known = read(manifest or ())
    names = _named(protocol, [one.name for one in known])
    chosen = [one for one in known if one.name in names]
    print(liveness_text(rows_of(chosen)))
    return ExitCode.AS_EXPECTED.value


@group.command(hidden=_WITHOUT_SUITE)
def findings(
    words: Annotated[
        list[str] | None, typer.Argument(help="Id of one finding, or words to look for; else the index.")
    ] = None,
    *,
    build: Build = BUILD,
    manifest: ManifestOption = None,
) -> int:
    """Print the titles of all results (to a file: FINDINGS.md), one with its runs, or some by words."""
    only = " ".join(words or ())
    if not only and sys.stdout.isatty():
        _titles()
    elif not only:
        from tidemark.checks.report.findings import findings_text

        sys.stdout.write(findings_text(loaded(manifest or (SUITE,))))
    elif not manifest and all(only != one.id for one in all_findings()):
        return _search(only)
    else:
        _finding(only, settings_of(manifests=manifest, build=build))
    return ExitCode.AS_EXPECTED.value


def _titles() -> None:
    """The results by protocol, as a terminal shows them, page by page."""
    console = wide_console()
    with console.pager():
        for path in finding_files():
            content = load_findings(path)
            console.print(f"\n{content.manifest}", style="bold")
            for one in content.finding:
                console.print(Padding(Text.assemble((one.id, "cyan"), "  ", one.title), (0, 0, 0, 2)))
        console.print(f"\n{_ONE_OF_THEM}", markup=False)


def _finding(only: str, settings: Settings) -> None:
    """Print one finding from the verdicts that the build folder keeps; a run that it lacks is searched."""
    from rich.markdown import Markdown

    from tidemark.checks.cache.kept import FOLDER
    from tidemark.checks.cli.run import kept_of
    from tidemark.checks.report.findings import found_in

    ids = {path: [one.id for one in load_findings(path).finding] for path in finding_files()}
    own = [path.parent.with_suffix(".toml") for path in ids if only in ids[path]]
    book, finding = found_in(loaded(settings.manifests or own), only)
    tasks = book.searched(finding)
    results = kept_of(settings, registry()).take_over(tasks) if (settings.build / FOLDER).is_dir() else {}
    kept = {
        (one.verdict.subject.instance, one.verdict.subject.property_id): one
        for result in results.values()
        for one in result.judgements
    }

    def searching(entry: str) -> None:
        where = settings.build.as_posix()
        print(f"{where} keeps no verdict of {entry}, as it is now: its run is searched", file=sys.stderr)

    verdicts = {name: one.verdict for name, one in kept.items()}
    text = "\n".join(book.section(finding, kept=verdicts, say=searching))
    if sys.stdout.isatty():
        wide_console().print(Markdown(text, hyperlinks=False))
    else:
        print(text)
    if tasks:
        since = min((one.taken_over[:10] for one in kept.values()), default="")
        print(f"\nKept since {since}. To run it again:" if since else "\nTo judge all of it:")
        complete = replace(settings.invocation, manifests=settings.manifests or (Path(SUITE),)).complete
        print(*(f"    {complete(task.command)}" for task in tasks), sep="\n")


def _search(text: str) -> int:
    """Print the findings that have most of the words, of which each counts as it stands in any of them."""
    words = set(text.lower().split())
    known: dict[str, tuple[str, int, int]] = {}
    for one in all_findings():
        title = f"{one.id} {one.title}".lower()
        said = f"{title} {one.source} {one.text}".lower()
        known[one.id] = one.title, sum(word in said for word in words), sum(word in title for word in words)
    best = sorted((name for name in known if known[name][1]), key=lambda name: known[name][1:], reverse=True)
    if not best:
        raise BadInputError(
            f"no finding is named so, or has one of these words: {text!r}",
            remedy=known_names(text, known, lists="tidemark show findings"),
        )
    for name in best[:_FOUND]:
        title, hits, _ = known[name]
        print(f"{name:<40} {hits}/{len(words)}  {title}")
    print(_ONE_OF_THEM)
    return ExitCode.AS_EXPECTED.value


@group.command(hidden=_WITHOUT_SUITE)
def sources(*, manifest: ManifestOption = None) -> int:
    """Print the findings and mutants on each seed, hazard and bug (docs/sources.md)."""
    from tidemark.checks.report.findings import sources_text

    sys.stdout.write(sources_text(loaded(manifest or (SUITE,))))
    return ExitCode.AS_EXPECTED.value


@group.command(hidden=_WITHOUT_SUITE)
def actions(
    protocol: Annotated[str, typer.Argument(help="Name of one protocol; all if left out.")] = "",
) -> int:
    """Print which section of the implementation is which action of the specification."""
    from tidemark.models.refinement.actions import action_table, tables

    for one in _named(protocol, tables(), "there is no table of actions of"):
        print(f"{one}\n\n{action_table(one).text()}\n")
    return ExitCode.AS_EXPECTED.value


@group.command(hidden=_WITHOUT_SUITE)
def places(*, manifest: ManifestOption = None) -> int:
    """Print how many mutants rules make from which files of the implementation, and what sees them."""
    from tidemark.checks.report.places import places_text

    print(places_text(loaded(manifest or (SUITE,))))
    return ExitCode.AS_EXPECTED.value


@group.command(hidden=_WITHOUT_SUITE)
def origins(
    protocol: Annotated[str, typer.Argument(help="Name of one protocol; all if left out.")] = "",
    *,
    adapters: Annotated[bool, typer.Option("--adapters", help="Only what is not wholly read.")] = False,
) -> int:
    """Print what each refinement reads from the implementation, and what from adapters and environment."""
    from tidemark.checks.conform.origins import origins as origins_of
    from tidemark.checks.conform.origins import origins_text, tables

    every, known = tables(), {one.name: one for one in loaded((SUITE,))}
    chosen = [one for one in every if not protocol or one.partition("/")[0] == protocol]
    if not chosen:
        raise BadInputError(
            f"{protocol!r} has no refinement mapping", remedy=known_names(protocol, list(every))
        )
    found = {one: origins_of(every[one], known[one.partition("/")[0]]) for one in chosen}
    print(origins_text(found, only_adapters=adapters))
    return ExitCode.AS_EXPECTED.value


@group.command()
def codes() -> int:
    """List the exit statuses."""
    print(table())
    return ExitCode.AS_EXPECTED.value
