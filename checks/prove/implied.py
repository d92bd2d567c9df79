"""Which claims follow from the others in the same state: what a proof may say instead of an induction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tidemark.checks.prove.prover import FIRST_S, Prover
from tidemark.models.symbolic.subject import ProofSubject


def implied_claims(
    subject: ProofSubject,
    *,
    timeout_s: float = FIRST_S,
    seed: int = 0,
    told: Callable[[str], None] = lambda _claim: None,
) -> dict[str, tuple[str, ...]]:
    """Claims that the others imply in any state, each with those that the solver used; without a circle.

    From the last claim to the first: one that the claims that are left imply is taken out, so that nothing
    which implies it rests on it. Which ones are found depends on this order. Raises SpecError.
    """
    plain = replace(subject, implied={})
    kept = [prop.id for prop in plain.spec.of_kind("invariant", "lemma")]
    found: dict[str, tuple[str, ...]] = {}
    for claim in reversed(kept.copy()):
        told(claim)
        others = tuple(name for name in kept if name != claim)
        if not others:
            break
        prover = Prover(replace(plain, implied={claim: others}), seed)
        outcome = prover.attempt(prover.obligations[0], timeout_s=timeout_s)
        if outcome.proved:
            kept.remove(claim)
            found[claim] = tuple(name for name in others if name in outcome.answer.used)
    return found
