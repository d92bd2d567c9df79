"""The manifests that a command reads."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.models.instance import Bound, Instance
from tidemark.models.manifest import (
    InstanceEntry,
    Manifest,
    check_against_spec,
    chosen_manifests,
    instance_of,
    load,
)
from tidemark.models.manifest.about import about, shown_path


def chosen_instance(
    name: str,
    *,
    bounds: Sequence[str] = (),
    constants: Sequence[str] = (),
    manifests: Sequence[Path] = (),
    say: Callable[[str], None] = lambda _text: None,
) -> Instance:
    """The manifest instance of that name, or the protocol ``module:Class`` with these bounds and constants.

    ``say`` is told which manifest has the instance.
    Raises BadInputError for an unknown name, or for a bound or a constant that cannot be read.
    """
    if ":" in name:
        short = name.rpartition(":")[2].lower()
        return Instance(name, dict(map(_bound, bounds)), dict(map(_constant, constants)), name=short)
    # Not compared with the specifications: that is the gate's business, and takes seconds.
    entries: dict[str, tuple[Manifest, InstanceEntry]] = {
        entry.name: (manifest, entry) for manifest in loaded(manifests) for entry in manifest.instance
    }
    if name not in entries:
        raise BadInputError(
            f"there is no instance {name!r}", remedy=known_names(name, entries, lists="tidemark show")
        )
    manifest, entry = entries[name]
    if bounds or constants:
        raise BadInputError(
            f"bounds and constants are given for the manifest instance {name!r}, which has its own",
            remedy=f"name its protocol instead:  tidemark export {entry.protocol} ...",
        )
    say(about([(manifest, name)]))
    return instance_of(entry)


def _bound(text: str) -> tuple[str, Bound]:
    name, _, value = text.partition("=")
    low, dots, high = value.partition("..")
    try:
        return name, (int(low), int(high)) if dots else int(low)
    except ValueError as error:
        raise BadInputError(f"the bound {text!r}", remedy="write TYPE=N or TYPE=LOW..HIGH") from error


def _constant(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError as error:
        raise BadInputError(
            f"the constant {text!r} has no value in JSON",
            remedy="write NAME=VALUE, for example  --constant 'carries=[false, true]'",
        ) from error


def loaded(paths: Sequence[Path] = ()) -> list[Manifest]:
    """The given manifests, else those of the project. Raises ManifestError; BadInputError if two of them have
    one name, or an entry of one name: verdicts and commands say no more than these names.
    """
    found = [load(path) for path in chosen_manifests(paths)]
    seen: dict[tuple[str, str], Manifest] = {}
    for manifest in found:
        entries = (("entry name", entry.name) for entry in manifest.entries())
        for what, name in (("name", manifest.name), *entries):
            other = seen.setdefault((what, name), manifest)
            if other is not manifest:
                files = f"{shown_path(other.path)} and {shown_path(manifest.path)}"
                raise BadInputError(
                    f"the {what} {name!r} is used in {files}",
                    remedy=f"rename one of them, for example to {manifest.name}-{name}",
                )
    return found


def manifests(paths: Sequence[Path] = ()) -> list[Manifest]:
    """The same, each compared with its specification. Raises PinError also."""
    found = loaded(paths)
    for manifest in found:
        assert manifest.path is not None
        check_against_spec(manifest, file=manifest.path.name)
    return found
