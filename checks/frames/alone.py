"""Frame conditions: claims that say what the steps say one by one.

A claim about steps is one if every step satisfies it from any state at all; a claim about states, if it holds
at the start and every step keeps it. No other claim is assumed. Such a claim can break only if a single step
is changed, never by how steps work together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tidemark.models.symbolic.obligations import Obligation, Obligations
from tidemark.models.symbolic.solve import Terms, discharge
from tidemark.spec.language.spec import Property, Spec

LIMIT_S = 0.6
"""Limit of one obligation, in seconds' worth of work. A frame condition needs a few milliseconds."""


@dataclass(frozen=True)
class Alone:
    """What the steps by themselves say about a claim.

    Attributes:
        obligations: how many were tried.
        open: the first that is not proved; empty if all are.
        failed: there is a state in which that one fails.
    """

    obligations: int
    open: str = ""
    failed: bool = False


class Frames:
    """Decides claims of one protocol, given with its options put in."""

    def __init__(self, spec: Spec, *, seed: int = 0) -> None:
        self._terms = Terms(spec)
        self._seed = seed
        self._obligations: dict[str, list[Obligation]] = {}
        for one in Obligations(spec).all():
            self._obligations.setdefault(one.claim, []).append(one)

    def of(self, claim: Property, *, assuming: str = "") -> Alone:
        """Do the steps imply a claim, with no other one assumed than ``assuming``?"""
        tried = 0
        for obligation in self._alone(claim, assuming):
            tried += 1
            answer = discharge(self._terms, obligation, timeout_s=LIMIT_S, seed=self._seed)
            if answer.status != "proved":
                return Alone(tried, obligation.name, answer.status == "failed")
        return Alone(tried)

    def _alone(self, claim: Property, assuming: str) -> Iterator[Obligation]:
        """The obligations of a claim without the other claims. A claim about states is assumed before the
        step: that is what induction over the steps means.
        """
        for one in self._obligations[claim.id]:
            assumed = {assuming} if one.kind == "step" else {assuming, claim.id}
            yield replace(
                one,
                lemmas=tuple(fact for fact in one.lemmas if fact.source in assumed),
                post_invariants=tuple(fact for fact in one.post_invariants if fact.source in assumed),
            )
