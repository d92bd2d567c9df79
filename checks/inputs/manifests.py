"""The manifests that a command reads, and protocols that are named without one."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.models.instance import BadInstance, Bound, Instance
from tidemark.models.manifest import (
    InstanceEntry,
    Manifest,
    check_against_spec,
    chosen_manifests,
    instance_of,
    load,
)
from tidemark.models.manifest.about import about, shown_path
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.spec import Spec
from tidemark.spec.language.types import NumberType, SortType

SMALL = 2
"""Elements of a sort if no bound is given; numbers go up to one more."""


def chosen_instance(
    name: str,
    *,
    bounds: Sequence[str] = (),
    constants: Sequence[str] = (),
    manifests: Sequence[Path] = (),
    say: Callable[[str], None] = lambda _text: None,
) -> Instance:
    """The manifest instance of that name, or the protocol ``module:Class`` with these bounds and constants.

    ``say`` is told which manifest has the instance, and which bounds were chosen for the protocol.
    Raises BadInputError for an unknown name, or for a bound or a constant that cannot be read.
    """
    if ":" in name:
        instance, small = instance_within(name, bounds_of(bounds), constants_of(constants))
        if small:
            say(f"{name} within small bounds: {instance.bounds_text()}; for others  --bound {small[0]}=N")
        return instance
    # Not compared with the specifications: that is the gate's business, and takes seconds.
    entries: dict[str, tuple[Manifest, InstanceEntry]] = {
        entry.name: (manifest, entry)
        for manifest in loaded(manifests, of=(name,))
        for entry in manifest.instance
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


def instance_within(
    reference: str, bounds: Mapping[str, Bound], constants: Mapping[str, Any]
) -> tuple[Instance, tuple[str, ...]]:
    """The protocol ``module:Class`` within these bounds, and small ones for the types of which the names are
    returned. Raises BadInputError if bounds or constants do not fit, or a constant has no value.
    """
    small = {n: b for n, b in small_bounds(resolve(reference).trace()).items() if n not in bounds}
    short = reference.rpartition(":")[2].lower()
    instance = Instance(reference, {**small, **bounds}, dict(constants), name=short)
    try:
        for kind in instance.spec.types:
            instance.domain(kind)
        assert instance.map_constants is not None
    except BadInstance as error:
        remedy = "correct  --bound TYPE=N  or  --set CONSTANT=VALUE"
        raise BadInputError(str(error), remedy=remedy) from error
    return instance, tuple(small)


def small_bounds(spec: Spec, size: int = SMALL) -> dict[str, Bound]:
    """Bounds for every sort and number: ``size`` elements, and numbers up to one more, or to those with which
    runs begin.
    """
    found: dict[str, Bound] = {}
    for kind in spec.types:
        if isinstance(kind, SortType):
            found[kind.name] = size
        elif isinstance(kind, NumberType):
            own = (one for one in spec.variables if kind in (one.type, getattr(one.type, "value", None)))
            first = [value for one in own if isinstance(value := spec.initial[one.name], int)]
            high = max(size + 1, *map(abs, first), 0)
            found[kind.name] = (-high, high) if kind.signed else high
    return found


def bounds_of(texts: Sequence[str]) -> dict[str, Bound]:
    """``TYPE=N`` and ``TYPE=LOW..HIGH``. Raises BadInputError for anything else."""
    return dict(map(_bound, texts))


def constants_of(texts: Sequence[str]) -> dict[str, Any]:
    """``NAME=VALUE``, the value in JSON. Raises BadInputError for anything else."""
    return dict(map(_constant, texts))


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
            remedy="write NAME=VALUE, for example  --set 'carries=[false, true]'",
        ) from error


def loaded(paths: Sequence[Path] = (), *, of: Sequence[str] = (), mutants: bool = True) -> list[Manifest]:
    """The given manifests, else those of the project; only those with the entries ``of`` these names, if each
    name has one. ``mutants``: see ``load``. Raises ManifestError; BadInputError if two of the manifests have
    one name, or an entry of one name: verdicts and commands say no more than these names.
    """
    found = [load(path, mutants=mutants) for path in _written_in(chosen_manifests(paths), of)]
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


def _written_in(files: Sequence[Path], names: Sequence[str]) -> Sequence[Path]:
    """The files in which the tables of these entries are written; all files unless that is one for each."""
    tables = [re.compile(rf"^\[\w+\.{re.escape(name.rpartition('/')[2])}\]", re.MULTILINE) for name in names]
    texts = [
        (
            path,
            "\n".join(
                part.read_text(encoding="utf-8") for part in (path, *path.with_suffix("").glob("*.toml"))
            ),
        )
        for path in files
        if names and path.is_file()
    ]
    found = [[path for path, text in texts if table.search(text)] for table in tables]
    return (
        tuple(dict.fromkeys(one[0] for one in found))
        if found and all(len(one) == 1 for one in found)
        else files
    )


def manifests(paths: Sequence[Path] = ()) -> list[Manifest]:
    """The same, each compared with its specification. Raises PinError also."""
    found = loaded(paths)
    for manifest in found:
        assert manifest.path is not None
        check_against_spec(manifest, file=manifest.path.name)
    return found
