"""Ways of searching that cannot decide some claims: refused before the search, with what to do instead."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checks.verdicts.errors import UnsoundCombinationError
from tidemark.models.instance import Instance
from tidemark.models.native.reduction import DECIDED
from tidemark.spec.language.spec import Property


def refuse_liveness(instance: Instance, properties: Sequence[str] | None) -> None:
    """Symmetry and liveness do not go together: a cycle of representatives need not be a cycle of states.

    Raises UnsoundCombinationError that names the first leads_to among the properties (all if None).
    """
    spec = instance.spec
    chosen = spec.properties if properties is None else [spec.property(name) for name in properties]
    for prop in chosen:
        if prop.kind == "leads_to":
            raise UnsoundCombinationError(
                f"{instance.name}: {prop.id} is a liveness property, which symmetry cannot decide",
                remedy="judge it on an instance without symmetry",
            )


def refuse_all_but_invariants(instance: Instance, properties: Sequence[str] | None) -> list[Property]:
    """The invariants and lemmas that a reduced search is to decide.

    Raises UnsoundCombinationError that names the first other claim among the properties (all if None).
    """
    spec = instance.spec
    chosen = spec.properties if properties is None else [spec.property(name) for name in properties]
    for prop in chosen:
        if prop.kind not in DECIDED:
            raise UnsoundCombinationError(
                f"{instance.name}: {prop.id} is a {prop.kind.replace('_', ' ')}, which a search with "
                "partial-order reduction cannot decide",
                remedy="judge it without reduction, or give the invariants as properties",
            )
    return list(chosen)
