"""Reading manifests: TOML -> ``Manifest``, with errors that name file, value and remedy."""

import difflib
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tidemark.models.manifest.common import SAFETY, expand
from tidemark.models.manifest.errors import ManifestError
from tidemark.models.manifest.folders import make_importable
from tidemark.models.manifest.model import (
    ConformEntry,
    Expectation,
    Expected,
    FramesEntry,
    InstanceEntry,
    InterleaveEntry,
    Kind,
    Manifest,
    PinsEntry,
    ProofEntry,
)
from tidemark.models.manifest.mutants import MODULES, entries_of
from tidemark.models.manifest.pins import Pin, added_by, lock_file, properties_of, read_lock
from tidemark.models.manifest.resolve import added_properties, declared_properties
from tidemark.models.manifest.usual import with_usual
from tidemark.models.manifest.verdicts_lock import LOCKED, read_verdicts, verdicts_file, with_verdicts
from tidemark.models.rooms import protocol_files


def manifest_files() -> tuple[Path, ...]:
    """The manifests of the suite's own protocols, by name."""
    return protocol_files("manifest.toml")


def shown_name(path: Path) -> str:
    """A manifest file in messages: those of the suite have one name, so their folder is said too."""
    path = path.resolve()
    return f"{path.parent.name}/{path.name}" if path in manifest_files() else path.name


def load(path: Path, *, anew: bool = False, mutants: bool = True) -> Manifest:
    """Read and check one manifest file, with its locks and the files in the folder of its name, which add
    entries. ``anew``: the ids of the properties are those of the protocol as it is now, not those of the
    lock. ``mutants``: with those that its modules declare, which imports the implementation. Modules beside
    a manifest that is not the suite's can be imported from now on.

    Raises ManifestError if it is missing, not TOML, has an unknown or missing key, or refers to a property or
    entry that it does not declare.
    """
    data = _listed(_read(path), file=shown_name(path))
    make_importable(path)
    for more in sorted(path.with_suffix("").glob("*.toml")):
        if more.name in OTHER_TABLES:
            continue
        file = f"{path.stem}/{more.name}"
        for section, entries in _listed(_read(more), file=file).items():
            known = data.setdefault(section, [])
            if not (isinstance(known, list) and isinstance(entries, list)):
                remedy = f"put it into {path.name}; this file has entries only"
                raise ManifestError(f"{section} has no entries", file=file, remedy=remedy)
            known.extend(entries)
    file, pinned = shown_name(path), read_lock(lock_file(path))
    data = _with_those_of_the_base(data, path, file=file)
    data = with_usual(data, locked=bool(pinned), file=file)
    data = with_verdicts(data, read_verdicts(verdicts_file(path)), file=file)
    states_claims = bool(pinned) or "properties" in data
    if "properties" not in data:
        data["properties"] = _properties(data, () if anew else pinned, file=file)
    known = {} if anew else added_by(pinned)
    if not mutants:
        data.pop("mutants", None)
    return parse(data, file=file, pinned=pinned, added=known).read_from(
        path.resolve(), never_pinned=not verdicts_file(path).exists(), states_claims=states_claims
    )


def _with_those_of_the_base(data: dict[str, Any], path: Path, *, file: str) -> dict[str, Any]:
    """The content of the manifest of a variant, with the instances and proofs of its base: another manifest,
    which ``like`` names by its file or, if it is the suite's, by the name of its protocol. Keys that the
    variant gives an entry stand above those of the base; what was counted there is not taken over.
    """
    if "like" not in data:
        return data
    named = str(data["like"])
    suite = {one.parent.name: one for one in manifest_files()}
    place = path.parent / named if (path.parent / named).is_file() else suite.get(named, path.parent / named)
    if "like" in _read(place):
        remedy = f"name that one's base instead: {_read(place)['like']!r}"
        raise ManifestError(f"like = {named!r}, which is like another manifest", file=file, remedy=remedy)
    base, content = load(place), {key: value for key, value in data.items() if key != "like"}
    for section, entries in (("instance", base.instance), ("proof", base.proof)):
        own = {str(one.get("name")): one for one in data.get(section, []) if isinstance(one, dict)}
        said = {
            f"{data.get('name')}-{entry.name.removeprefix(f'{base.name}-')}": _said(entry)
            for entry in entries
            if entry.protocol == base.protocol
            and not getattr(entry, "second_opinion", False)
            and not getattr(entry, "fails", {})
        }
        content[section] = [
            {"name": name, **said.get(name, {}), **own.get(name, {})} for name in dict.fromkeys((*said, *own))
        ]
    return content


def _said(entry: InstanceEntry | ProofEntry) -> dict[str, Any]:
    """What an entry says that holds of a variant too."""
    left_out = {"name", "section", "protocol", "counts", "vacuous", "adds", "skip"}
    if entry.expect.refuted and entry.kinds == SAFETY:  # made by rule, of what is expected
        left_out.add("kinds")
    found = entry.model_dump(mode="json", exclude_defaults=True, exclude=left_out)
    skip: dict[str, list[str]] = {}
    for claim, reason in entry.skip.items():
        skip.setdefault(reason, []).append(claim)
    skip.pop(LOCKED, None)
    return {**found, "skip": skip} if skip else found


OTHER_TABLES = ("actions.toml", "findings.toml")
"""Files in the folder of a manifest that have no entries."""

NAMED = (
    "instance",
    "proof",
    "interleave",
    "conform",
    "argument",
    "pins",
    "frames",
    "mutant",
    "generated",
    "implementation",
    "mutants",
)
"""Sections whose entries are tables ``[SECTION.NAME]``; of mutants, by module."""


def _listed(data: dict[str, Any], *, file: str) -> dict[str, Any]:
    """The content of a file with a list of entries in place of the tables of a section, by name."""
    for section in NAMED:
        if not isinstance(data.get(section, {}), dict):
            remedy = f"write  [{section}.NAME]  in place of  [[{section}]]  and its name"
            if section == "mutants":
                remedy = 'write  [mutants]  with a line  "MODULE" = { prefix = "P-", number = N }'
            raise ManifestError(f"{section} is no table of entries", file=file, remedy=remedy)
    return _with_names(data)


def _with_names(data: dict[str, Any]) -> dict[str, Any]:
    found = dict(data)
    for section in NAMED:
        entries = data.get(section)
        if isinstance(entries, dict):
            key = "module" if section == "mutants" else "name"
            named = ({key: name, **one} if isinstance(one, dict) else one for name, one in entries.items())
            found[section] = list(named)
    return found


def _properties(
    data: Mapping[str, object], pinned: Sequence[Pin], *, file: str
) -> Mapping[str, Sequence[str]]:
    """The ids of the properties by kind: of the lock; of the protocol as it is now, if nothing is locked."""
    protocol = data.get("protocol")
    if pinned or not isinstance(protocol, str):
        return properties_of(pinned)
    return declared_properties(protocol, file=file)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ManifestError(
            f"cannot be read ({error.strerror})",
            file=path,
            remedy="give an existing manifest file",
        ) from error
    except UnicodeDecodeError as error:
        raise ManifestError(
            f"is not UTF-8: {error.reason} at byte {error.start}",
            file=shown_name(path),
            remedy="save it as UTF-8",
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(
            f"is not TOML: {error}", file=shown_name(path), remedy="correct the syntax there"
        ) from error


def parse(
    data: dict[str, object],
    *,
    file: str,
    pinned: tuple[Pin, ...] = (),
    added: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> Manifest:
    """Check the content of a manifest; ``file`` is its name in messages, ``pinned`` what lies beside it.
    ``added``: by variant the properties beyond those of its base; those of others are taken from their
    classes. None: entries say all of them. Raises ManifestError as ``load`` does; PinError if a module of
    mutants has another number of them.
    """
    data = _with_names(data)
    data = _with_mutants(expand(with_usual(data, locked=bool(pinned), file=file), file=file), file=file)
    if added is not None:
        data = _with_added(data, added)
    try:
        manifest = Manifest.model_validate(data)
    except ValidationError as error:
        raise _schema_error(data, error, file=file) from error
    manifest = _with_pins(_with_usual(manifest) if pinned else manifest, pinned, file=file)
    _check_names(manifest, file=file)
    _check_claims(manifest, file=file)
    _check_references(manifest, file=file)
    return manifest


def _with_mutants(data: dict[str, object], *, file: str) -> dict[str, object]:
    """The content with an entry for each mutant of the modules under ``mutants``."""
    rest = {section: value for section, value in data.items() if section != "mutants"}
    try:
        modules = MODULES.validate_python(data.get("mutants", []))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise ManifestError(
            f"mutants.{place}: {first['msg']}",
            file=file,
            remedy='write  [mutants]  with a line  "MODULE" = { prefix = "P-", number = N }',
        ) from error
    declared = [entry for module in modules for entry in entries_of(module, file=file)]
    written = rest.get("mutant", [])
    if declared and isinstance(written, list):
        rest["mutant"] = [*written, *declared]
    return rest


def _with_added(
    data: dict[str, object], added: Mapping[str, Mapping[str, Sequence[str]]]
) -> dict[str, object]:
    """The content with what each variant adds, in its entries that do not say it."""
    base, known = str(data.get("protocol", "")), dict(added)

    def completed(entry: dict[str, object], key: str) -> dict[str, object]:
        variant = entry.get(key)
        if entry.get("adds") or not isinstance(variant, str) or variant == base:
            return entry
        if variant not in known:
            known[variant] = added_properties(base, variant)
        return {**entry, "adds": known[variant]}

    judged = {key: _dicts(data.get(key)) for key in ("instance", "proof")}
    hosts = {entry.get("name") for entries in judged.values() for entry in entries}
    found = dict(data)
    for section, entries in judged.items():
        if entries:
            found[section] = [completed(entry, "protocol") for entry in entries]
    if mutants := [{"ref": base, **one} for one in _dicts(data.get("mutant"))]:
        found["mutant"] = [completed(one, "ref") if one.get("instance") in hosts else one for one in mutants]
    return found


def _dicts(entries: object) -> list[dict[str, object]]:
    """Entries, if all are tables: else the schema says what is wrong."""
    found = entries if isinstance(entries, list) else []
    return found if all(isinstance(one, dict) for one in found) else []


def _with_usual(manifest: Manifest) -> Manifest:
    """The manifest of a locked protocol with the entries that each has: the lock is compared; where there is
    a proof, frame conditions are marked. Each has a self-test: the first property is taken to have another
    digest, and the marks of ``wrong_marks`` to be the opposite.
    """
    holds = Expectation(every=Expected.HOLDS)
    name = manifest.name.replace("_", "-")
    pins, frames = manifest.pins, manifest.frames
    if not any(entry.compares(manifest.protocol) for entry in pins):
        about = "Claims, steps and variants say what is pinned."
        pins = (PinsEntry(name=f"{name}-pins", about=about, expect=holds, protocol=manifest.protocol), *pins)
    if manifest.proof and not any(entry.protocol == manifest.protocol for entry in frames):
        about = "Frame conditions are marked, and no other claims."
        frames = (
            FramesEntry(name=f"{name}-frames", about=about, expect=holds, protocol=manifest.protocol),
            *frames,
        )
    first = next(iter(manifest.kinds), "")
    if not any(entry.expect.refuted for entry in pins) and first:
        told = Expectation(every=Expected.HOLDS, refuted=(first,))
        wrong = PinsEntry(name=f"{name}-pins-refuted", expect=told, protocol=manifest.protocol, flipped=first)
        pins = (*pins, wrong)
    if manifest.wrong_marks:
        told, claims = Expectation(every=Expected.REFUTED), manifest.wrong_marks
        frames = (
            *frames,
            FramesEntry(
                name=f"{name}-frames-refuted",
                expect=told,
                protocol=manifest.protocol,
                claims=claims,
                flipped=True,
            ),
        )
    return manifest.model_copy(update={"pins": pins, "frames": frames})


def _with_pins(manifest: Manifest, pinned: tuple[Pin, ...], *, file: str) -> Manifest:
    """The manifest with the pins, and the variants and readings that must be pinned, in its entries."""
    for entry in manifest.pins:
        given = [key for key in ("pinned", "variants", "readings") if getattr(entry, key)]
        if given:
            raise ManifestError(
                f"pins {entry.name!r} . {given[0]} is written in the manifest",
                file=file,
                remedy="remove it:  tidemark pin  writes the lock",
            )
    found = {"pinned": pinned, "variants": manifest.variants(), "readings": manifest.readings()}
    entries = [entry.model_copy(update=found) for entry in manifest.pins]
    return manifest.model_copy(update={"pins": tuple(entries)})


def _schema_error(data: dict[str, object], error: ValidationError, *, file: str) -> ManifestError:
    """All that is wrong with the form, one line each; the remedy is that of the first."""
    found = [_problem(data, one) for one in error.errors(include_url=False)]
    problems = dict.fromkeys(problem for problem, _ in found)
    return ManifestError("\n  ".join(problems), file=file, remedy=found[0][1])


def _problem(data: dict[str, object], error: ErrorDetails) -> tuple[str, str]:
    """What is wrong, and what to do about it."""
    where = _readable_place(data, error["loc"])
    if "bounds" in error["loc"][:-1]:
        where = _readable_place(data, error["loc"][: error["loc"].index("bounds") + 2])
        return f"{where} = {error.get('input')!r} is no bound", "write a whole number, or [LOW, HIGH]"
    key = str(error["loc"][-1]) if error["loc"] else ""
    if error["type"] == "missing":
        return f"{where} is missing", f"add the key {key!r}"
    if error["type"] == "extra_forbidden" and "expect" in error["loc"] and "." in key:
        outcome = error.get("input")
        listed = f'refuted = ["{key}"]' if outcome == "refuted" else f'every = "{outcome}"'
        return f"{where} is an unknown key", f"write  {listed}  in place of  {key!r} = {outcome!r}"
    if error["type"] == "extra_forbidden":
        return f"{where} is an unknown key", "remove it or correct its spelling"
    if error["type"] == "string_pattern_mismatch" and ":" in error["ctx"]["pattern"]:
        return f"{where} = {error.get('input')!r} is no reference", "write it as module:Class"
    if error["type"] == "string_pattern_mismatch":
        remedy = f"write it in small letters, digits and hyphens ({error['ctx']['pattern']})"
        return f"{where} = {error.get('input')!r} is no name", remedy
    if error["type"] == "tuple_type":
        return f"{where} = {error.get('input')!r} is no list", "put it into brackets: [...]"
    if error["type"] == "too_short":
        return f"{where} is empty", f"name at least one in {key!r}, or leave the key out"
    return f"{where} = {error.get('input')!r}: {error['msg']}", "correct this value"


def _readable_place(data: object, location: tuple[int | str, ...]) -> str:
    """``instance 'small' . bounds`` instead of ``instance.0.bounds``."""
    parts: list[str] = []
    for step in location:
        if isinstance(step, int) and isinstance(data, list) and step < len(data):
            data = data[step]
            if isinstance(data, dict) and "name" in data and parts:
                parts[-1] += f" {data['name']!r}"
                continue
        elif isinstance(data, dict):
            data = data.get(str(step))
        elif parts and not isinstance(data, list):
            break  # a form that a value may have, not a place in the file
        parts.append(str(step))
    return " . ".join(parts) or "the manifest"


def _check_names(manifest: Manifest, *, file: str) -> None:
    repeated = [name for name, times in Counter(e.name for e in manifest.entries()).items() if times > 1]
    if repeated:
        raise ManifestError(
            f"entry name {repeated[0]!r} is used twice", file=file, remedy="rename one of them"
        )


def _check_claims(manifest: Manifest, *, file: str) -> None:
    pinned = Counter(claim for claims in manifest.properties.values() for claim in claims)
    twice = [claim for claim, times in pinned.items() if times > 1]
    if twice:
        raise ManifestError(f"property {twice[0]!r} is pinned twice", file=file, remedy="remove one of them")
    judged: tuple[InstanceEntry | ProofEntry, ...] = (*manifest.instance, *manifest.proof)
    for entry in judged:
        where = f"{entry.section} {entry.name!r}"
        named = [*(entry.claims or ()), *entry.skip, *entry.expect.refuted]
        if isinstance(entry, ProofEntry):
            named += [*(claim.partition(":")[0] for claim in entry.fails), *entry.liveness]
        for claim in named:
            _known(claim, manifest.kinds_of(entry), what=f"{where}: unknown property", file=file)
        for claim in entry.expect.refuted:
            if claim not in manifest.claims_of(entry, Kind):
                raise ManifestError(
                    f"{where}: {claim!r} is expected to be refuted but is not judged there",
                    file=file,
                    remedy="correct 'claims', 'kinds' or 'skip'",
                )
        _check_symmetry(manifest, entry, file=file)
    for frames in manifest.frames:
        for claim in (*frames.claims, *frames.expect.refuted):
            _known(claim, manifest.kinds, what=f"frames {frames.name!r}: unknown property", file=file)
    _check_strength(manifest, file=file)
    programs: tuple[InterleaveEntry | ConformEntry, ...] = (*manifest.interleave, *manifest.conform)
    for program in programs:
        for claim in program.expect.refuted:
            _known(
                claim, program.claims, what=f"{program.section} {program.name!r}: unknown claim", file=file
            )


def _check_strength(manifest: Manifest, *, file: str) -> None:
    instances = [entry.name for entry in manifest.instance]
    for entry in manifest.strength:
        where = f"strength {entry.name!r}"
        for claim in (*entry.claims, *entry.expect.refuted):
            _known(claim, manifest.kinds, what=f"{where}: unknown property", file=file)
        for name in (*entry.instances, *entry.generated):
            _known(name, instances, what=f"{where}: unknown instance", file=file)


def _check_symmetry(manifest: Manifest, entry: InstanceEntry | ProofEntry, *, file: str) -> None:
    if not isinstance(entry, InstanceEntry) or not entry.symmetry:
        return
    live = manifest.claims_of(entry, [Kind.LEADS_TO])
    if live:
        raise ManifestError(
            f"instance {entry.name!r}: symmetry with the liveness property {live[0]!r} is unsound",
            file=file,
            remedy="judge liveness on an instance without symmetry, and list the property under 'skip' here",
        )
    for sort in entry.symmetry:
        _known(sort, entry.bounds, what=f"instance {entry.name!r}: unknown sort in symmetry", file=file)


def _check_references(manifest: Manifest, *, file: str) -> None:
    instances = {entry.name for entry in manifest.instance}
    hosts = instances | {entry.name for entry in (*manifest.proof, *manifest.interleave, *manifest.conform)}
    for conform in manifest.conform:
        if conform.instance is not None:
            _known(conform.instance, instances, what=f"conform {conform.name!r}: unknown instance", file=file)
    for generated in manifest.generated:
        _known(
            generated.instance, instances, what=f"generated {generated.name!r}: unknown instance", file=file
        )
    whole = [one.name for one in manifest.implementation if one.of is None]
    for sampled in manifest.implementation:
        if sampled.of is not None:
            what = f"implementation {sampled.name!r}: unknown entry"
            _known(sampled.of, whole, what=what, file=file)
    claimed = {claim for host in manifest.interleave for claim in host.claims}
    claimed |= {claim for host in manifest.conform for claim in host.claims}
    for mutant in manifest.mutant:
        claims = claimed | set(manifest.kinds_of(mutant))
        _known(mutant.instance, hosts, what=f"mutant {mutant.name!r}: unknown instance", file=file)
        if mutant.killer is not None:
            _known(mutant.killer, claims, what=f"mutant {mutant.name!r}: unknown property", file=file)


def _known(name: str, known: Iterable[str], *, what: str, file: str) -> None:
    names = sorted(known)
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    raise ManifestError(f"{what} {name!r}", file=file, remedy=f"{guess}known: {', '.join(names) or 'none'}")
