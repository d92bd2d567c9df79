"""Lemmas that a proof does not need: left out on a small instance first, then for any size."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from tidemark.checks.prove.proof import Proof, prove
from tidemark.checks.prove.prover import FIRST_S, SIZE, Prover
from tidemark.models.lemmas.needed import Needed
from tidemark.models.symbolic.hints import small_bounds
from tidemark.models.symbolic.subject import ProofSubject

_TIMEOUT_S = 20.0


def implied_claims(
    subject: ProofSubject,
    *,
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
        outcome = prover.attempt(prover.obligations[0], timeout_s=FIRST_S)
        if outcome.proved:
            kept.remove(claim)
            found[claim] = tuple(name for name in others if name in outcome.answer.used)
    return found


@dataclass(frozen=True)
class Minimised:
    """``redundant`` lemmas can be left out together: ``proof`` is the proof without them."""

    needed: tuple[str, ...]
    redundant: tuple[str, ...]
    proof: Proof
    restored: tuple[str, ...] = ()
    """Lemmas that the small instance does not need, but the proof for any size does."""


def minimise(
    subject: ProofSubject,
    *,
    seed: int = 0,
    jobs: int = 1,
    watch: Callable[[str], None] = lambda _text: None,
) -> Minimised | None:
    """Which lemmas can be left out of a complete proof; None if the proof is not complete.

    Of several answers one is given: it is smallest in the sense that on the small instance no further
    lemma can be left out. Raises SpecError; BadInstance if the protocol has no small instance.
    """
    spec = subject.spec
    lemmas = tuple(prop.id for prop in spec.of_kind("lemma"))
    watch("proving with all lemmas")
    whole = prove(subject, timeout_s=_TIMEOUT_S, seed=seed, jobs=jobs)
    if whole.open():
        return None
    watch("leaving out lemmas on a small instance")
    needed = Needed(subject.instance(small_bounds(spec, elements=SIZE[0], greatest=SIZE[1]))).lemmas()
    left_out = frozenset(lemmas) - frozenset(lemmas if needed is None else needed)
    restored: frozenset[str] = frozenset()
    proof = whole
    while left_out:
        watch(f"proving without {len(left_out)} lemmas")
        fewer = replace(subject, without=subject.without | left_out)
        proof = prove(fewer, timeout_s=_TIMEOUT_S, seed=seed, jobs=jobs)
        if not proof.open():
            break
        back = _missed(whole, proof) & left_out or left_out
        left_out, restored = left_out - back, restored | back
        proof = whole
    return Minimised(
        tuple(name for name in lemmas if name not in left_out),
        tuple(name for name in lemmas if name in left_out),
        proof,
        tuple(name for name in lemmas if name in restored),
    )


def _missed(whole: Proof, proof: Proof) -> frozenset[str]:
    """What the obligations that are open now used when all lemmas were there."""
    names = {outcome.obligation.name for outcome in proof.open()}
    used = (o.answer.used for o in whole.outcomes if o.obligation.name in names)
    return frozenset[str]().union(*used)
