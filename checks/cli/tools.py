"""The other commands: replay, report, compare, figures, show, doctor."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tidemark.checks.cli.options import Build, Jobs, ManifestOption, Master, hand_to
from tidemark.checks.inputs.manifests import chosen_instance, loaded, manifests
from tidemark.checks.inputs.manifests import manifests as read
from tidemark.checks.report.compare import compare as compare_runs
from tidemark.checks.report.console import show_result, wide_console
from tidemark.checks.report.files import VERDICTS, read_result, write_files
from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.report.sources import claim_sources
from tidemark.checks.verdicts.commands import BUILD, LOCAL
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.result import RunResult
from tidemark.models.manifest import Manifest
from tidemark.models.manifest.about import about


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


def replay(
    token: Annotated[
        str, typer.Argument(help="A replay token as a failure prints it, or a trace in ITF (a .json file).")
    ],
    *,
    instance: Annotated[
        str, typer.Option(help="Manifest instance of a trace in ITF that does not name its own.")
    ] = "",
    manifest: ManifestOption = None,
) -> int:
    """Run a counterexample again, step by step."""
    from tidemark.checks.explore.replay import is_run_token, parse_token
    from tidemark.checks.explore.replay import replay as replay_run

    if token.endswith(".json"):
        return _replay_trace(Path(token), instance=instance, manifests=manifest or ())
    if not is_run_token(token):
        return _replay_choices(token, manifest or ())
    run = parse_token(token)
    known = read(manifest or ())
    shown, still = replay_run(run, known)
    print(_about_entry(run.instance, known))
    print(f"{run.property_id} on {run.instance}")
    assert shown.model is not None
    sources = claim_sources(run.property_id, protocol=shown.model.protocol)
    print(trace_text(shown, limit=10_000, sources=sources))
    print("REFUTED again" if still else "no longer refuted")
    return (ExitCode.UNEXPECTED_REFUTATION if still else ExitCode.AS_EXPECTED).value


def _replay_trace(path: Path, *, instance: str, manifests: Sequence[Path]) -> int:
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


def compare(
    before: Annotated[Path, typer.Argument(help="verdicts.json of the earlier run.")],
    after: Annotated[Path, typer.Argument(help="verdicts.json of the later run.")],
) -> int:
    """Compare two runs: verdicts that are gone, outcomes, counts."""
    found = compare_runs(before, after)
    for line in found.lines():
        print(line)
    differs = found.gone or found.changed
    return (ExitCode.VACUOUS_OR_UNPINNED if differs else ExitCode.AS_EXPECTED).value


def report(*, build: Build = BUILD) -> int:
    """Show the last verdicts again; write the HTML page from them."""
    from tidemark.checks.report.page.states import kept_graphs

    result = last_run(build)
    files = write_files(result, build=build, graphs=kept_graphs(result, build=build))
    show_result(result, wide_console(), build=build, files=files)
    return result.exit_code.value


def last_run(build: Path) -> RunResult:
    """The verdicts of the last run. Raises BadInputError if they cannot be read."""
    path = build / VERDICTS
    try:
        return read_result(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = f"it has no {error}: another version wrote it" if isinstance(error, KeyError) else str(error)
        remedy = "run  tidemark verify  first"
        raise BadInputError(f"{path.as_posix()} cannot be read: {why}", remedy=remedy) from error


def doctor() -> int:
    """Say what is missing on this machine, and how to get it."""
    return hand_to("tidemark.checks.cli.doctor:main", {})
