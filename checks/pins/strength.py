"""Is a claim that has changed weaker or stronger than it was? The prover tells, within a limit of work."""

from collections.abc import Iterator

from tidemark.models.symbolic.obligations import Fact, Obligation, closed
from tidemark.models.symbolic.solve import Terms, discharge
from tidemark.spec.language.expr import Expr, Local, Read, Variable, walk
from tidemark.spec.language.spec import Property, Spec

SECONDS = 2.0
"""Work of one question, in nominal seconds of the solver."""

_WORDS = {
    (True, True): "as strong as before",
    (True, False): "weaker than before",
    (False, True): "stronger than before",
    (False, False): "the prover cannot tell whether it is weaker or stronger",
}
"""By whether the old claim implies the new one, and the new one the old one."""


def compared(old: Property | None, new: Property, spec: Spec) -> str:
    """How strong a claim of the protocol is now, in words. What cannot be compared cannot be told."""
    if old is None or not _comparable(old, new) or not _read(old) <= {*spec.variables, *spec.constants}:
        return _WORDS[False, False]
    terms = Terms(spec)
    return _WORDS[_implies(terms, old, new), _implies(terms, new, old)]


def _comparable(old: Property, new: Property) -> bool:
    """Are they of one kind? Promises have the same parameters and rest on the same fairness."""
    alike = (old.params, old.without) == (new.params, new.without)
    return old.kind == new.kind != "reachable" and (alike or new.kind != "leads_to")


def _read(claim: Property) -> set[Variable]:
    parts = (node for part in (claim.premise, claim.expr) for node in walk(part))
    return {node.variable for node in parts if isinstance(node, Read)}


def _implies(terms: Terms, one: Property, other: Property) -> bool:
    """Does the first claim imply the second one, as far as the prover finds out?"""
    return all(
        discharge(
            terms,
            Obligation("weaker", "implied", other.id, goal, params=params, hypotheses=(Fact(one.id, given),)),
            timeout_s=SECONDS,
        ).status
        == "proved"
        for given, goal, params in _parts(one, other)
    )


def _parts(one: Property, other: Property) -> Iterator[tuple[Expr, Expr, tuple[Local, ...]]]:
    """What implies what, for the same values of some parameters."""
    if one.params != other.params:
        yield closed(one), closed(other), ()
        return
    yield one.expr, other.expr, one.params
    if one.kind == "leads_to":
        yield other.premise, one.premise, one.params
