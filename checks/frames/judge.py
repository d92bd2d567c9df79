"""Judge of the marks ``frame``: a claim that says no more than the steps do is marked so, and no other one.

A marked claim is judged like the others, but does not count as a property. The decision is the solver's: does
every step, by itself, keep the claim, with no other claim assumed?
"""

from __future__ import annotations

from dataclasses import replace

from tidemark.checks.frames.alone import Frames
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Aspect, Subject, Verdict, holds, inconclusive, refuted
from tidemark.models.manifest import AnyEntry, FramesEntry, Kind
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.spec import Property


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
        return refuted(subject, counts=counts, counterexample=None, reason=reason, replay=replay)
    if prop.frame and (lemma := frames.of(lemmas[prop.frame])).open:
        reason = f"is marked as a frame condition given {prop.frame}, which is none itself: {lemma.open}"
        return refuted(subject, counts=counts, counterexample=None, reason=reason, replay=replay)
    if not alone.open:
        return holds(subject, counts=counts, bounds="any size; a frame condition", replay=replay)
    reason = f"is marked as a frame condition, and {alone.open} does not follow from the step alone"
    if not alone.failed:
        return inconclusive(
            subject, reason=f"{reason}, as far as the solver tells", counts=counts, replay=replay
        )
    return refuted(subject, counts=counts, counterexample=None, reason=reason, replay=replay)


JUDGE = FramesJudge()
