"""The other commands: replay, report, compare, figures, show, doctor."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from tidemark.checks.cli.run import wide_console
from tidemark.checks.explore.replay import replay as replay_run
from tidemark.checks.explore.token import is_run_token, parse_token
from tidemark.checks.inputs.instances import chosen_instance
from tidemark.checks.inputs.manifests import loaded
from tidemark.checks.inputs.manifests import manifests as read
from tidemark.checks.report.compare import compare as compare_runs
from tidemark.checks.report.console import show_result
from tidemark.checks.report.files import VERDICTS, read_result, write_files
from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.report.page.states import kept_graphs
from tidemark.checks.report.sources import claim_sources
from tidemark.checks.verdicts.errors import BadInputError, known_names, missing_package
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.plan import all_tasks
from tidemark.checks.verdicts.result import RunResult
from tidemark.models.findings import all_findings
from tidemark.models.manifest import (
    SUITE,
    GeneratedMutants,
    ImplementationMutants,
    Manifest,
    MutantEntry,
)
from tidemark.models.manifest.about import about

_FOUND = 12
"""So many findings are listed that have some words."""
_LONG = 500
"""Columns of a file that takes a tree: its lines are not to be cut."""


def replay(text: str, *, manifests: Sequence[Path] = ()) -> int:
    """Replay a token: of a specification run here, of an implementation run with the controlled loop."""
    if not is_run_token(text):
        return _replay_choices(text, manifests)
    token = parse_token(text)
    known = read(manifests)
    shown, still = replay_run(token, known)
    print(_about_entry(token.instance, known))
    print(f"{token.property_id} on {token.instance}")
    assert shown.model is not None
    sources = claim_sources(token.property_id, protocol=shown.model.protocol)
    print(trace_text(shown, limit=10_000, sources=sources))
    print("REFUTED again" if still else "no longer refuted")
    return (ExitCode.UNEXPECTED_REFUTATION if still else ExitCode.AS_EXPECTED).value


def replay_trace(path: Path, *, instance: str = "", manifests: Sequence[Path] = ()) -> int:
    """Take a trace in ITF again, and say which invariants it breaks; a trace of ours names its instance."""
    from tidemark.checks.report.forms.itf_reader import model_of, read_itf, take_again

    document = read_itf(path)
    if manifests:
        loaded(manifests)  # the modules beside them can be imported now
    model = chosen_instance(instance, manifests=manifests, say=print) if instance else model_of(document)
    if model is None:
        raise BadInputError(
            f"{path.as_posix()} does not say which protocol it belongs to",
            remedy="name a manifest instance:  tidemark replay FILE --instance NAME",
        )
    taken = take_again(document, model)
    print(trace_text(taken.trace, limit=10_000))
    for name, part in taken.broken.items():
        print(f"REFUTED {name}: {part}")
    print(f"{len(taken.trace.steps)} steps of {model.protocol}, {len(taken.broken)} invariants broken")
    return (ExitCode.UNEXPECTED_REFUTATION if taken.broken else ExitCode.AS_EXPECTED).value


def _replay_choices(text: str, manifests: Sequence[Path]) -> int:
    from tidemark.checks.interleave.again import replay_token
    from tidemark.checks.interleave.executions.token import decode

    decode(text)  # a damaged token is refused whatever the manifests are
    known = read(manifests)
    found = replay_token(text, known)
    print(_about_entry(found.name, known))
    print(f"{found.name}: {found.program.text()}")
    print(trace_text(found.shown, limit=10_000))
    print("no longer refuted" if found.violation is None else f"REFUTED again: {found.violation.claim}")
    return (ExitCode.AS_EXPECTED if found.violation is None else ExitCode.UNEXPECTED_REFUTATION).value


def _about_entry(name: str, known: Sequence[Manifest]) -> str:
    return about((one, name) for one in known if any(entry.name == name for entry in one.entries()))


def _optional(module: str, what: str) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing_package(what, error) from error


def compare(before: Path, after: Path) -> int:
    """Print how two runs differ; what is only new is no difference."""
    found = compare_runs(before, after)
    for line in found.lines():
        print(line)
    differs = found.gone or found.changed
    return (ExitCode.VACUOUS_OR_UNPINNED if differs else ExitCode.AS_EXPECTED).value


def report(build: Path) -> int:
    """Show the stored verdicts; the exit status is that of the run which found them."""
    result = _last_run(build)
    files = write_files(result, build=build, graphs=kept_graphs(result, build=build))
    show_result(result, wide_console(), build=build, files=files)
    return result.exit_code.value


def _last_run(build: Path) -> RunResult:
    path = build / VERDICTS
    try:
        return read_result(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInputError(
            f"{path.as_posix()} cannot be read: {error}", remedy="run  tidemark verify  first"
        ) from error


def figures(protocols: Sequence[str], *, build: Path, manifests: Sequence[Path] = ()) -> int:
    """Print the figures of some protocols; the exit status is that of the last run's verdicts on them."""
    from tidemark.checks.report.figures import figures_text, of_protocols

    names, known = list(dict.fromkeys(protocols)), loaded(manifests)
    result = _last_run(build)
    sys.stdout.write(figures_text(result, known, names))
    return of_protocols(result, known, names).exit_code.value


def show(manifests: Sequence[Path] = ()) -> int:
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


def argument(name: str, *, dot: bool, manifests: Sequence[Path] = ()) -> int:
    """Show the assumptions of the protocols, and what supports them."""
    from tidemark.checks.argument.graph import Argument
    from tidemark.checks.report.argument_tree import argument_dot, argument_tree

    whole = Argument(read(manifests))
    if name and name not in whole.manifests:
        raise BadInputError(f"there is no protocol {name!r}", remedy=known_names(name, whole.manifests))
    if dot:
        sys.stdout.write(argument_dot(whole))
    else:
        console = wide_console(_LONG)
        for one in [name] if name else whole.manifests:
            console.print(argument_tree(whole, one), markup=False)
    shown = [name] if name else list(whole.manifests)
    open_ends = [one.problem for each in shown for one in whole.reliances(each) if one.problem]
    open_ends += [one.problem for each in shown for one in whole.steps(each) if one.problem]
    return (ExitCode.INCONCLUSIVE if open_ends else ExitCode.AS_EXPECTED).value


def assumptions(name: str, *, manifests: Sequence[Path] = ()) -> int:
    """Print the table of all assumptions, in Markdown."""
    from tidemark.checks.argument.graph import Argument
    from tidemark.checks.argument.table import assumptions_text

    whole = Argument(read(manifests))
    if name and name not in whole.manifests:
        raise BadInputError(f"there is no protocol {name!r}", remedy=known_names(name, whole.manifests))
    shown = [name] if name else list(whole.manifests)
    print(assumptions_text(whole, tuple(shown)))
    problems = [one.problem for each in shown for one in whole.reliances(each) if one.problem]
    return (ExitCode.INCONCLUSIVE if problems else ExitCode.AS_EXPECTED).value


def liveness(name: str, *, manifests: Sequence[Path] = ()) -> int:
    """Print how each claim of the kind leads_to is judged, in Markdown."""
    from tidemark.checks.argument.liveness import liveness as rows_of
    from tidemark.checks.argument.liveness import liveness_text

    known = read(manifests)
    chosen = [one for one in known if name in ("", one.name)]
    if not chosen:
        remedy = known_names(name, [one.name for one in known])
        raise BadInputError(f"there is no protocol {name!r}", remedy=remedy)
    print(liveness_text(rows_of(chosen)))
    return ExitCode.AS_EXPECTED.value


def actions(name: str) -> int:
    """Print the tables of actions, in Markdown: the ones of ``impl/README.md``."""
    from tidemark.models.refinement.actions import action_table, tables

    known = tables()
    if name and name not in known:
        raise BadInputError(f"there is no table of actions of {name!r}", remedy=known_names(name, known))
    for one in [name] if name else known:
        print(f"{one}\n\n{action_table(one).text()}\n")
    return ExitCode.AS_EXPECTED.value


def origins(name: str, *, only_adapters: bool) -> int:
    """Print where the refinement mappings read the variables of the specifications."""
    from tidemark.checks.conform.origins import origins, origins_text, tables

    every, known = tables(), {one.name: one for one in read((SUITE,))}
    chosen = [one for one in every if not name or one.partition("/")[0] == name]
    if not chosen:
        raise BadInputError(f"{name!r} has no refinement mapping", remedy=known_names(name, list(every)))
    found = {one: origins(every[one], known[one.partition("/")[0]]) for one in chosen}
    print(origins_text(found, only_adapters=only_adapters))
    return ExitCode.AS_EXPECTED.value


def places(manifests: Sequence[Path] = ()) -> int:
    """Print the table of mutants made by rule from ``impl/``: that of ``docs/mutation.md``."""
    from tidemark.checks.report.places import places_text

    print(places_text(read(manifests or (SUITE,))))
    return ExitCode.AS_EXPECTED.value


def findings(words: Sequence[str], *, manifests: Sequence[Path] = ()) -> int:
    """Print the index of all results, one complete finding, or which findings have some words."""
    only = " ".join(words)
    if only and not manifests and all(only != one.id for one in all_findings()):
        return _search(only)
    from tidemark.checks.report.findings import findings_text

    sys.stdout.write(findings_text(read(manifests or (SUITE,)), only=only))
    return ExitCode.AS_EXPECTED.value


def _search(text: str) -> int:
    """Print the findings that have most of the words, of which each counts as it stands in any of them."""
    words = set(text.lower().split())
    known: dict[str, tuple[str, int]] = {}
    for one in all_findings():
        said = f"{one.id} {one.title} {one.source} {one.text}".lower()
        known[one.id] = one.title, sum(word in said for word in words)
    best = sorted((name for name, (_, hits) in known.items() if hits), key=lambda name: -known[name][1])
    if not best:
        raise BadInputError(
            f"no finding is named so, or has one of these words: {text!r}",
            remedy=known_names(text, known, lists="tidemark show findings"),
        )
    for name in best[:_FOUND]:
        title, hits = known[name]
        print(f"{name:<40} {hits}/{len(words)}  {title}")
    print("`tidemark show findings ID` prints one of them, with its runs.")
    return ExitCode.AS_EXPECTED.value


def sources(manifests: Sequence[Path] = ()) -> int:
    """Print the findings and mutants on each source."""
    from tidemark.checks.report.findings import sources_text

    sys.stdout.write(sources_text(read(manifests or (SUITE,))))
    return ExitCode.AS_EXPECTED.value


def doctor() -> int:
    """See ``cli.doctor``."""
    status: int = _optional("tidemark.checks.cli.doctor", "doctor").main()
    return status
