"""``tidemark pin``: write what the protocols say to the files of pins, and ids and counts to the manifests.

Every change is printed in words. It decides nothing: the change of the files is what a review looks at.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tidemark.checks.cli.options import (
    Build,
    Jobs,
    ManifestOption,
    Master,
    OnlyOption,
    Seed,
    settings_of,
)
from tidemark.checks.gate.lock import hold
from tidemark.checks.gate.plan import plan
from tidemark.checks.gate.registry import registry
from tidemark.checks.gate.run import run
from tidemark.checks.gate.settings import Settings
from tidemark.checks.pins.counts import Counted, counted, pinned, write_counts
from tidemark.checks.verdicts.commands import BUILD, LOCAL
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.manifest import (
    Kind,
    Manifest,
    Tier,
    check_against_spec,
    chosen_manifests,
    declared_properties,
    load,
    pins_file,
)
from tidemark.models.manifest.about import heading
from tidemark.models.manifest.edit import with_pins_entry, with_properties
from tidemark.models.manifest.folders import make_importable
from tidemark.models.manifest.pins import read_pins
from tidemark.models.pins.compare import differences
from tidemark.models.pins.items import pins_of
from tidemark.models.pins.write import write_pins

Counts = Annotated[
    bool, typer.Option("--counts", help="Judge entries that have counts too, and change the counts.")
]


def pin(
    protocols: Annotated[
        list[str] | None, typer.Argument(help="Names of manifests, for example tso; by default all.")
    ] = None,
    *,
    counts: Counts = False,
    only: OnlyOption = None,
    manifest: ManifestOption = None,
    seed: Seed = 0,
    master: Master = LOCAL,
    build: Build = BUILD,
    jobs: Jobs = None,
) -> int:
    """Write what claims and steps say, ids, counts; show each change.

    Written are the file of pins, and in the manifest: the ids of properties, an entry that compares the pins,
    and the counts of entries that have none (these are judged). Pinned counts change with --counts only.
    Nothing is pinned of an entry with a verdict that is inconclusive or not the expected one.
    """
    chosen = _chosen(protocols or (), chosen_manifests(manifest or ()))
    print(heading(chosen, {}))
    found = [(path, _written(path)) for path in chosen.values()]
    settings = settings_of(seed=seed, master=master, build=build, manifest=manifest, jobs=jobs)
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
    """The manifest with ids, pins and the entry that compares them. Raises ManifestError."""
    _write_ids(path)
    if pins_file(path).exists():
        _compare_pins(path)  # without the entry the manifest cannot be loaded
    content = load(path)
    check_against_spec(content, file=path.name)
    _pin(path, content)
    _compare_pins(path)
    return load(path)


def _write_ids(path: Path) -> None:
    """Pin the ids of the protocol's properties, and say which are new, gone, or of another kind."""
    data = _read(path)
    name, protocol, pinned = data.get("name"), data.get("protocol"), data.get("properties", {})
    if not isinstance(protocol, str) or not isinstance(pinned, dict) or set(pinned) - set(Kind):
        load(path)  # it says what is wrong, in words
        return
    make_importable(path)
    declared = declared_properties(protocol, pinned=pinned, file=path.name)
    if declared == pinned:
        return
    _change(path, with_properties(path.read_text(encoding="utf-8"), declared, file=path.name))
    new = {one: kind for kind, ids in declared.items() for one in ids}
    old = {one: kind for kind, ids in pinned.items() for one in ids}
    for one in dict.fromkeys([*new, *old]):
        if one not in old:
            print(f"{name}: the {new[one]} {one} is pinned now")
        elif one not in new:
            print(f"{name}: the {old[one]} {one} is not in the specification, and is no longer pinned")
        elif old[one] != new[one]:
            print(f"{name}: {one} was pinned as {old[one]}, and is {new[one]}")


def _compare_pins(path: Path) -> None:
    """Add an entry that compares the pins, if there is none."""
    if any(_read(file).get("pins") for file in (path, *path.with_suffix("").glob("*.toml"))):
        return
    name = str(_read(path).get("name"))
    _change(path, with_pins_entry(path.read_text(encoding="utf-8"), name=name))
    print(f"{name}: added to {path}: [[pins]] {name}-pins, which compares them")


def _pin(manifest: Path, content: Manifest) -> None:
    file = pins_file(manifest)
    old = {one.id: one for one in read_pins(file)}
    new = pins_of(content.protocol, content.variants(), content.readings())
    changed = differences(old, new)
    for one in changed if file.exists() else ():  # all that is in a new file is new
        print(f"{content.name}: {one.headline}")
        for line in one.lines():
            print(f"    {line}")
    if changed or not file.exists():
        try:
            write_pins(file, content.name, new.values())
        except OSError as error:
            raise _cannot_write(file, error) from error
    if not old:
        print(f"{content.name}: {len(new)} claims, steps and variants are pinned now, in {file}")
        return
    same = len(new) - sum(one.id in new for one in changed)
    print(f"{content.name}: {len(changed)} changed, {same} as before, in {file}")


def _pin_counts(
    found: Sequence[tuple[Path, Manifest]], settings: Settings, *, change: bool, only: Sequence[str]
) -> int:
    """Judge the entries whose counts are asked for, and write the counts; the exit status."""
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
        own = {task.entry.name: task.entry for task in tasks if task.manifest is content}
        for entry in own.values():
            assert isinstance(entry, Counted)
            outcome = pinned(entry, result)
            refused |= outcome.refused
            if outcome.counts is not None:
                try:
                    write_counts(path, entry, outcome.counts)
                except OSError as error:
                    raise _cannot_write(path, error) from error
            for line in outcome.lines:
                print(f"{content.name}: {line}")
    if result.stopped:
        return ExitCode.STOPPED.value
    return (ExitCode.VACUOUS_OR_UNPINNED if refused else ExitCode.AS_EXPECTED).value


def _change(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _cannot_write(path, error) from error


def _cannot_write(path: Path, error: OSError) -> BadInputError:
    remedy = "make its folder writable"
    return BadInputError(f"{path} cannot be written ({error.strerror})", remedy=remedy)
