"""``tidemark pin``: write the locks: digests of what protocols say, and what their entries count.

Every change is named. The command decides nothing: a review looks at the change of the files, and at the
texts of both sides that ``--against`` takes from version control.
"""

import os
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tidemark.checks.cli.options import Build, Jobs, ManifestOption, Master, OnlyOption, Seed, settings_of
from tidemark.checks.gate.lock import hold
from tidemark.checks.gate.registry import registry
from tidemark.checks.gate.settings import Settings
from tidemark.checks.verdicts.commands import BUILD, LOCAL, pin_command
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.plan import plan
from tidemark.checks.verdicts.result import RunResult
from tidemark.models.manifest import Manifest, Tier, check_against_spec, chosen_manifests, load, lock_file
from tidemark.models.manifest.about import heading
from tidemark.models.manifest.pins import lock_text, read_lock
from tidemark.models.manifest.verdicts_lock import Locked, read_verdicts, verdicts_file, verdicts_text
from tidemark.models.pins.compare import Change, Difference, differences
from tidemark.models.pins.items import Said, said_by
from tidemark.spec.language.protocol import resolve

Against = Annotated[
    str | None,
    typer.Option(
        metavar="REVISION",
        help="Write nothing: show the text at this revision (git) and the text now of all that differs.",
    ),
]
Counts = Annotated[
    bool, typer.Option("--counts", help="Judge entries that have counts too, and change the counts.")
]


def pin(
    protocols: Annotated[
        list[str] | None, typer.Argument(help="Names of manifests, for example tso; by default all.")
    ] = None,
    *,
    against: Against = None,
    counts: Counts = False,
    only: OnlyOption = None,
    manifest: ManifestOption = None,
    seed: Seed = 0,
    master: Master = LOCAL,
    build: Build = BUILD,
    jobs: Jobs = None,
) -> int:
    """Write what claims and steps say, ids, counts; name each change.

    Written are the lock of claims, and the lock of verdicts: counts, and what is not exercised, of the
    entries that have none (these are judged). What is locked changes with --counts only.
    Nothing is pinned of an entry with a verdict that is inconclusive or not the expected one.
    With --against nothing is written: what differs from a revision is shown with both texts; of a claim the
    prover says whether it is weaker or stronger now.
    """
    chosen = _chosen(protocols or (), chosen_manifests(manifest or ()))
    if against is not None:
        return _show_against(against, list(chosen.values()))
    print(heading(chosen, {}))
    found = [(path, _written(path)) for path in chosen.values()]
    settings = settings_of(seed=seed, master=master, build=build, manifests=manifest, jobs=jobs)
    return _pin_counts(found, settings, change=counts, only=only or ())


def _chosen(names: Sequence[str], paths: Sequence[Path]) -> dict[str, Path]:
    """The manifests of these names, by name; all of them if there are no names."""
    known = {str(_read(path).get("name")): path.resolve() for path in paths}
    for name in names:
        if name not in known:
            raise BadInputError(f"there is no protocol {name!r}", remedy=known_names(name, known))
    return {name: path for name, path in known.items() if not names or name in names}


def _read(path: Path) -> dict[str, Any]:
    """What a manifest says, whose entries need not be right so far."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        load(path)  # it says what is wrong, in words
        raise


def _written(path: Path) -> Manifest:
    """The manifest, with the lock of claims as the protocol is now. Raises ManifestError."""
    content = load(path, anew=True)
    check_against_spec(content, file=path.name)
    _pin(path, content)
    return load(path)


def _show_against(revision: str, paths: Sequence[Path]) -> int:
    from tidemark.checks.pins.against import said_at

    then = said_at(revision, paths)
    for path in paths:
        content = load(path, anew=True)
        old = then[path]
        texts = {name: said.text for name, said in old.items()}
        changed = differences({name: said.pin for name, said in old.items()}, _said(content), texts=texts)
        _print_changes(content.name, changed, _strengths(content, changed, old))
        print(f"{content.name}: {len(changed)} of {len(old)} differ from {revision}")
    return ExitCode.AS_EXPECTED.value


def _pin(manifest: Path, content: Manifest) -> None:
    file = lock_file(manifest)
    old = {one.id: one for one in read_lock(file)}
    new = _said(content)
    changed = differences(old, new)
    if old:  # all that is in a new lock is new
        _print_changes(content.name, changed)
    if changed or not file.exists():
        _change(file, lock_text(content.name, [said.pin for said in new.values()]))
    if not old:
        print(f"{content.name}: {len(new)} claims, steps and variants are pinned now, in {file}")
        return
    left = file.with_name(file.name.replace("claims.lock", "pins.toml"))
    if left.exists():
        print(f"{content.name}: {left} is in the form before locks, and is not read any more: remove it")
    same = len(new) - sum(one.id in new for one in changed)
    print(f"{content.name}: {len(changed)} changed, {same} as before, in {file}")
    if changed:
        print(f"{content.name}: the texts before and now:  {pin_command(content.name)} --against HEAD")


def _said(content: Manifest) -> dict[str, Said]:
    return said_by(content.protocol, content.variants(), content.readings())


def _strengths(
    content: Manifest, changed: Sequence[Difference], old: Mapping[str, Said]
) -> Iterator[tuple[str, str]]:
    """Of the changed claims that were there before, how strong they are now."""
    from tidemark.checks.pins.strength import compared

    spec = resolve(content.protocol).trace()
    now = {claim.id: claim for claim in spec.properties}
    for one in changed:
        if one.change is Change.CHANGED and one.id in now:
            before = old[one.id].claim
            yield one.id, compared(before, now[one.id], spec)


def _print_changes(
    name: str, changed: Sequence[Difference], strengths: Iterable[tuple[str, str]] = ()
) -> None:
    known = dict(strengths)
    for one in changed:
        print(f"{name}: {one.headline}{': ' * (one.id in known)}{known.get(one.id, '')}")
        for line in one.lines():
            print(f"    {line}")


def _pin_counts(
    found: Sequence[tuple[Path, Manifest]], settings: Settings, *, change: bool, only: Sequence[str]
) -> int:
    """Judge the entries whose counts are asked for, and write the counts; the exit status."""
    from tidemark.checks.gate.run import run
    from tidemark.checks.pins.counts import counted  # it loads the simulation

    manifests = [content for _, content in found]
    everything = plan(manifests, tier=Tier.FULL, only=only)
    tasks = counted(everything, change=change)
    if not tasks:
        if change:
            raise BadInputError("no entry with counts is chosen", remedy="name one with --only")
        return ExitCode.AS_EXPECTED.value
    print(f"judging {', '.join(task.name for task in tasks)}", flush=True)
    with hold(settings.build, words=settings.words):
        result = run(tasks, registry=registry(), settings=settings)
    refused = False
    for path, content in found:
        chosen = {task.entry.name for task in tasks if task.manifest.name == content.name}
        refused |= _lock_verdicts(path, content, result, chosen=chosen)
    if result.stopped:
        return ExitCode.STOPPED.value
    return (ExitCode.VACUOUS_OR_UNPINNED if refused else ExitCode.AS_EXPECTED).value


def _lock_verdicts(path: Path, content: Manifest, result: RunResult, *, chosen: Collection[str]) -> bool:
    """Lock what the chosen entries say; whether one of them is not as expected."""
    from tidemark.checks.pins.counts import Counted, pinned, witnesses

    file = verdicts_file(path)
    before, lines, refused = read_verdicts(file), {}, False
    for entry in content.entries():
        place = entry.section, entry.name
        locked = before.get(place)
        if entry.name in chosen:
            assert isinstance(entry, Counted)
            outcome = pinned(entry, result, before=locked or Locked(), known=witnesses(content))
            refused |= outcome.refused
            locked = outcome.locked or locked
            for line in outcome.lines:
                print(f"{content.name}: {line}")
        if locked is not None:
            lines[place] = locked
    if lines != before:
        _change(file, verdicts_text(content.name, lines.items()))
    return refused


def _change(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        said = f"{path} cannot be written ({error.strerror})"
        raise BadInputError(said, remedy="make its folder writable") from error
    finally:
        draft.unlink(missing_ok=True)
