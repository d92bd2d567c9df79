"""The manifest against the specification: are the pinned properties there, do the instances fit?"""

import difflib
import json
from collections.abc import Mapping, Sequence

from tidemark.models.instance import BadInstance, Instance
from tidemark.models.manifest.errors import ManifestError, PinError
from tidemark.models.manifest.model import InstanceEntry, Kind, Manifest, MutantEntry, ProofEntry
from tidemark.models.manifest.pins import ids_by_kind
from tidemark.models.mutation.generated import mutated
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.references import ReferenceNotFoundError
from tidemark.spec.language.spec import Spec


def check_against_spec(manifest: Manifest, *, file: str) -> None:
    """Compare what is pinned with what the specification declares.

    Raises PinError if a property id or kind differs, ManifestError if a protocol does not exist or an
    instance does not fit its protocol (unknown sort or constant, missing or empty bound).
    """
    declared = _kinds(_trace(manifest.protocol, where="protocol", file=file))
    _compare(manifest.kinds, declared, file=file)
    for proof in manifest.proof:
        _check_variant(manifest, proof, file=file)
    for entry in manifest.instance:
        _check_variant(manifest, entry, file=file)
        _check_instance(entry, file=file)


def declared_properties(protocol: str, *, file: str) -> dict[str, list[str]]:
    """The ids of all properties of a protocol, by kind. Raises ManifestError."""
    declared = _kinds(_trace(protocol, where="protocol", file=file))
    found = {kind.value: [claim for claim in declared if declared[claim] is kind] for kind in Kind}
    return {kind: claims for kind, claims in found.items() if claims}


def added_properties(protocol: str, variant: str) -> dict[str, list[str]]:
    """The ids by kind of what a variant declares beyond its base; nothing if one of them cannot be traced."""
    try:
        known, declared = (_kinds(resolve(one).trace()) for one in (protocol, variant))
    except SpecError:
        return {}
    return ids_by_kind((kind.value, claim) for claim, kind in declared.items() if claim not in known)


def instance_of(entry: InstanceEntry) -> Instance:
    """The instance that an entry describes."""
    return Instance(entry.protocol, bounds=entry.bounds, constants=entry.constants, name=entry.name)


def instance_of_mutant(entry: MutantEntry, host: InstanceEntry) -> Instance:
    """A wrong protocol with the bounds, the constants and the name of the instance on which it must die."""
    wrong = Instance(entry.ref, host.bounds, {**host.constants, **entry.constants}, host.name)
    return wrong if entry.rule is None else mutated(wrong, entry.rule)


def _trace(reference: str, *, where: str, file: str) -> Spec:
    try:
        return resolve(reference).trace()
    except SpecError as error:
        place = "" if isinstance(error, ReferenceNotFoundError) else f"{error.place}: "
        raise ManifestError(f"{where}: {place}{error.problem}", file=file, remedy=error.remedy) from error


def _kinds(spec: Spec) -> dict[str, Kind]:
    return {prop.id: Kind(prop.kind) for prop in spec.properties}


def _compare(pinned: Mapping[str, Kind], declared: Mapping[str, Kind], *, file: str) -> None:
    """Raises PinError with all differences at once, and the lines to write."""
    lost = [claim for claim in pinned if claim not in declared]
    new = [claim for claim in declared if claim not in pinned]
    changed = [claim for claim in pinned if declared.get(claim, pinned[claim]) is not pinned[claim]]
    problems = [
        f"the pinned property {claim!r} is not in the specification{_near(claim, new)}" for claim in lost
    ]
    problems += [
        f"the specification declares the {declared[claim].value} {claim!r}, which is not pinned"
        for claim in new
    ]
    problems += [
        f"{claim!r} is pinned as {pinned[claim].value}, but is declared as {declared[claim].value}"
        for claim in changed
    ]
    if not problems:
        return
    kinds = {kind: [claim for claim in declared if declared[claim] is kind] for kind in Kind}
    written = [f"{kind.value} = {json.dumps(claims)}" for kind, claims in kinds.items() if claims]
    raise PinError(
        "; ".join(problems),
        file=file,
        remedy="correct the specification, or change the manifest on purpose:\n    [properties]\n    "
        + "\n    ".join(written),
    )


def _near(claim: str, new: Sequence[str]) -> str:
    near = difflib.get_close_matches(claim, new, n=1)
    return f" (renamed to {near[0]!r}?)" if near else ""


def _check_variant(manifest: Manifest, entry: ProofEntry | InstanceEntry, *, file: str) -> None:
    """A variant has the pinned properties of its base, so that its verdicts speak about the same claims."""
    where = f"{entry.section} {entry.name!r}"
    if entry.protocol == manifest.protocol and not entry.adds:
        return
    declared = _kinds(_trace(entry.protocol, where=where, file=file))
    pinned = manifest.kinds_of(entry)
    for claim, kind in pinned.items():
        if declared.get(claim) is not kind:
            raise PinError(
                f"{where}: the variant {entry.protocol} has no {kind.value} {claim!r}",
                file=file,
                remedy="leave the properties of its base in place",
            )
    for claim, kind in declared.items():
        if claim not in pinned:
            raise PinError(
                f"{where}: {entry.protocol} declares the {kind.value} {claim!r}, which is not pinned",
                file=file,
                remedy="pin the variant:  tidemark pin",
            )


def _check_instance(entry: InstanceEntry, *, file: str) -> None:
    instance = instance_of(entry)
    try:
        spec = instance.spec
        for kind in spec.types:
            instance.domain(kind)
        _ = instance.map_constants
    except (BadInstance, SpecError) as error:
        raise ManifestError(
            f"instance {entry.name!r}: {error}",
            file=file,
            remedy="correct its bounds and constants in the manifest",
        ) from error
