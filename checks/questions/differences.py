"""Which claims does a variant change? Both are searched, within bounds that grow until a time is over."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.checks.inputs.manifests import instance_within, small_bounds
from tidemark.checks.questions.ask import Answer, explored, named
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.verdict import Aspect, Outcome, Verdict
from tidemark.models.instance import Bound, Instance
from tidemark.models.native.errors import NativeError
from tidemark.spec.language.protocol import resolve

LARGEST = 6
"""Elements of a sort in the last round."""

Round = tuple[Answer, Answer]
"""The answers about both protocols within the same bounds."""


@dataclass(frozen=True)
class Changed:
    """A claim that is refuted of one of two protocols and holds of the other within the same bounds."""

    claim: str
    """The name of its method."""
    holds: str
    """The protocol of which it holds."""
    refuted: str
    """The other one."""
    verdict: Verdict
    """The verdict on this one, with a shortest run unless the claim is a witness."""


def differences(
    pair: tuple[str, str],
    claims: Sequence[str] = (),
    *,
    bounds: Mapping[str, Bound],
    constants: Mapping[str, Any],
    seconds: float,
) -> Iterator[Round]:
    """Compare two protocols ``module:Class`` within growing bounds; those that are given stay. ``claims``:
    only these. Raises BadInputError if a claim, bound or constant is unknown, or no claim is common.
    """
    ends, done = time.monotonic() + seconds, list[list[Instance]]()
    shared = common(*pair)[0]
    _check(pair, bounds, constants)
    for claim in claims:
        if claim not in shared:
            remedy = known_names(claim, shared)
            raise BadInputError(f"{' and '.join(pair)} have no common claim {claim!r}", remedy=remedy)
    for size in range(1, LARGEST + 1):
        try:
            instances = [_sized(one, size, bounds, constants) for one in pair]
            if instances in done:
                return
            found = list[Answer]()
            for instance in instances:
                left = ends - time.monotonic()
                if left <= 0 and done:
                    return
                seconds = max(left, 1.0)  # the smallest size is always searched
                found.append(explored(instance, claims=claims or shared, first=False, seconds=seconds))
        except (NativeError, BadInputError):  # an instance too large, or constants of one size only
            if not done:
                raise
            return
        done.append(instances)
        yield found[0], found[1]


def common(one: str, other: str) -> tuple[list[str], list[str]]:
    """The names of the claims that ``other`` has too, and of those that only one of both has. Raises
    BadInputError if none is common.
    """
    own, others = ([p.id.partition(".")[2] for p in resolve(r).trace().properties] for r in (one, other))
    shared = [name for name in own if name in others]
    if not shared:
        remedy = "derive the variant from its base, or give claims that mean the same one name"
        raise BadInputError(f"{one} and {other} have no claim in common", remedy=remedy)
    return shared, [name for name in (*own, *others) if name not in shared]


def changed(rounds: Sequence[Round]) -> list[Changed]:
    """The claims that are refuted of one protocol alone; witnesses by the last round that decides them."""
    first: dict[str, dict[int, Changed]] = {}
    witnesses: dict[str, list[Changed]] = {}
    for pair in rounds:
        for side, (one, other) in enumerate((pair, pair[::-1])):
            for verdict in one.verdicts:
                claim, against = named(verdict), other[named(verdict)]
                if verdict.outcome is not Outcome.REFUTED or against.outcome is Outcome.INCONCLUSIVE:
                    continue
                found = Changed(claim, other.protocol, one.protocol, verdict)
                if verdict.subject.aspect is Aspect.VACUITY:
                    differs = against.outcome is Outcome.HOLDS
                    witnesses[claim] = [found] if differs else []
                else:
                    first.setdefault(claim, {}).setdefault(side, found)
    alone = [next(iter(by.values())) for by in first.values() if len(by) == 1]
    return [*alone, *(one for found in witnesses.values() for one in found)]


def _check(pair: tuple[str, str], bounds: Mapping[str, Bound], constants: Mapping[str, Any]) -> None:
    """Raises BadInputError if none of both has one of these types or constants."""
    specs = [resolve(one).trace() for one in pair]
    types = {kind.name for spec in specs for kind in spec.types}
    names = {variable.name for spec in specs for variable in spec.constants}
    for what, given, known in (("sort or number", bounds, types), ("constant", constants, names)):
        for name in given:
            if name not in known:
                problem = f"{' and '.join(pair)} have no {what} {name!r}"
                raise BadInputError(problem, remedy=known_names(name, known))


def _sized(reference: str, size: int, bounds: Mapping[str, Bound], constants: Mapping[str, Any]) -> Instance:
    """The protocol in a size, with those of the bounds and constants that it has."""
    spec = resolve(reference).trace()
    small, names = small_bounds(spec, size), {variable.name for variable in spec.constants}
    own = small | {name: bound for name, bound in bounds.items() if name in small}
    return instance_within(reference, own, {n: value for n, value in constants.items() if n in names})[0]
