"""Judge of the marks ``frame``: a claim that says no more than the steps do is marked so, and no other one.

A marked claim is judged like the others, but does not count as a property. The decision is the solver's: does
every step, by itself, keep the claim, with no other claim assumed?

Frame conditions: claims that say what the steps say one by one.

A claim about steps is one if every step satisfies it from any state at all; a claim about states, if it holds
at the start and every step keeps it. No other claim is assumed. Such a claim can break only if a single step
is changed, never by how steps work together.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Aspect, Subject, Verdict, holds, inconclusive, refuted
from tidemark.models.manifest import AnyEntry, FramesEntry, Kind
from tidemark.models.symbolic.obligations import Obligation, Obligations
from tidemark.models.symbolic.solve import Terms, discharge
from tidemark.spec.language.protocol import resolve
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


class FramesJudge:
    """Judges ``[frames.NAME]`` entries."""

    name = "frames"
    kinds: frozenset[Kind] = frozenset((Kind.INVARIANT, Kind.TRANSITION))

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """One verdict for each invariant and each transition invariant: is it marked as what it is?"""
        if not isinstance(entry, FramesEntry):
            raise BadInputError(f"{entry.name!r} is no [frames.NAME] entry", remedy="name one")
        spec = resolve(entry.protocol).trace().with_options()
        frames = Frames(spec, seed=context.seed)
        lemmas = {prop.id: prop for prop in spec.of_kind("invariant", "lemma")}
        asked = spec.of_kind("invariant", "transition_invariant")
        claims = [prop for prop in asked if not entry.claims or prop.id in entry.claims]
        if entry.flipped:
            claims = [replace(prop, frame="" if prop.frame is None else None) for prop in claims]
        verdicts = []
        for place, prop in enumerate(claims):
            context.progress(place, total=len(claims), unit="claims", note=prop.id)
            subject = context.subject(entry, self.name, prop.id, Aspect.VACUITY)
            verdicts.append(_verdict(subject, prop, frames, lemmas, check_command(self.name, entry.name)))
        return verdicts


def _verdict(
    subject: Subject, prop: Property, frames: Frames, lemmas: dict[str, Property], replay: str
) -> Verdict:
    alone = frames.of(prop, assuming=prop.frame or "")
    counts = {"queries": alone.obligations}
    if prop.frame is None:
        if alone.open:
            bounds = f"any size; {alone.open} does not follow from the step alone"
            return holds(subject, counts=counts, bounds=bounds, replay=replay)
        reason = "says no more than the steps do, one by one: mark it  frame=True"
        return refuted(subject, counts=counts, reason=reason, replay=replay)
    if prop.frame and (lemma := frames.of(lemmas[prop.frame])).open:
        reason = f"is marked as a frame condition given {prop.frame}, which is none itself: {lemma.open}"
        return refuted(subject, counts=counts, reason=reason, replay=replay)
    if not alone.open:
        return holds(subject, counts=counts, bounds="any size; a frame condition", replay=replay)
    reason = f"is marked as a frame condition, and {alone.open} does not follow from the step alone"
    if not alone.failed:
        return inconclusive(
            subject, reason=f"{reason}, as far as the solver tells", counts=counts, replay=replay
        )
    return refuted(subject, counts=counts, reason=reason, replay=replay)


JUDGE = FramesJudge()
