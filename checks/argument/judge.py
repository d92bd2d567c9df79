"""Judge of the argument: is everything that a protocol assumes supported?

A guarantee is supported by a proof for any size, which the gate runs too; a step that relies on guarantees by
the solver, which shows that what the step assumes follows from them; an assumption about the
environment by an entry that shows that it is needed. What is not known to be supported is inconclusive, never
green.
"""

from collections.abc import Iterator

from tidemark.checks.argument.graph import Argument, Reliance, Step, whole_argument
from tidemark.checks.argument.torn import torn_verdicts
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.trace import counterexample
from tidemark.checks.verdicts.verdict import Aspect, Verdict, holds, inconclusive, refuted
from tidemark.models.composition.follows import Composition, compose
from tidemark.models.manifest import AnyEntry, ArgumentEntry, Kind
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.render import render

_SUPPORT = {
    (True, False): "assumed, and needed as",
    (False, True): "taken as given, and not in the variant that is proved for any size by",
    (False, False): "proved for any size by",
}
"""What supports an assumption about the environment, what a variant does without, and a guarantee."""


class ArgueJudge:
    """Judges ``[argument.NAME]`` entries."""

    name = "argue"
    kinds: frozenset[Kind] = frozenset()

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """One verdict for each thing that the protocol assumes, and each step that relies."""
        if not isinstance(entry, ArgumentEntry):
            raise BadInputError(f"{entry.name!r} is not an argument", remedy="name an [argument.NAME] entry")
        if entry.torn is not None:
            return list(torn_verdicts(entry, context))
        return list(self._verdicts(entry, context, whole_argument(context.manifest)))

    def _verdicts(self, entry: ArgumentEntry, context: Context, argument: Argument) -> Iterator[Verdict]:
        """Of an entry that must fail only its own claims are judged."""
        name = context.manifest.name
        only = entry if entry.must_fail else None
        for one in argument.reliances(name, entry=only):
            if not entry.must_fail or one.claim in entry.claims:
                yield self._reliance(one, entry, context)
        for step in argument.steps(name, entry=only):
            if not entry.must_fail or step.claim in entry.claims:
                yield self._step(step, entry, context)

    def _reliance(self, one: Reliance, entry: ArgumentEntry, context: Context) -> Verdict:
        replay = check_command(self.name, entry.name)
        if one.refuted:
            subject = context.subject(entry, self.name, one.claim, Aspect.VACUITY)
            reason = f"{one.where}: {one.problem}"
            return refuted(subject, counts={"pins": 1}, reason=reason, replay=replay)
        subject = context.subject(entry, self.name, one.claim)
        if one.problem:
            return inconclusive(subject, reason=f"{one.where}: {one.problem}", replay=replay)
        kind = _SUPPORT[one.of_environment, one.of_variant]
        return holds(subject, counts={"pins": 1}, bounds=f"{kind} {one.support}", replay=replay)

    def _step(self, step: Step, entry: ArgumentEntry, context: Context) -> Verdict:
        subject = context.subject(entry, self.name, step.claim)
        replay = check_command(self.name, entry.name)
        if step.problem:
            return inconclusive(subject, reason=step.problem, replay=replay)
        try:
            found = compose(step.reading, seed=context.seed, guaranteed=not entry.without_guarantees)
        except SpecError as error:
            return inconclusive(subject, reason=f"{error.problem}. {error.remedy}", replay=replay)
        counts = {"queries": found.queries}
        if found.broken is not None:
            shown = counterexample(
                found.broken.instance,
                states=[found.broken.state],
                steps=[],
                failing=render(found.joined.goal.expr),
                replayable=False,
            )
            reason = f"{step.reading}: what {found.joined.step.name} assumes does not follow"
            return refuted(
                subject,
                counts=counts,
                counterexample=shown,
                reason=reason,
                bounds=f"a state of {found.broken.instance.bounds_text()}",
                replay=replay,
            )
        problem = doubt(found)
        if problem:
            return inconclusive(subject, reason=f"{step.reading}: {problem}", counts=counts, replay=replay)
        bounds = (
            f"for any size, from {', '.join(found.joined.claims)}, each of them needed, by {step.reading}"
        )
        return holds(subject, counts=counts, bounds=bounds, replay=replay)


def doubt(found: Composition) -> str:
    """Why a reading from which all follows still says nothing; empty if there is no reason."""
    step = found.joined.step.name
    if found.answer is None or not found.proved:
        said = found.answer.status if found.answer is not None else "not asked"
        return f"the solver does not show for any size that it follows: {said}"
    if not found.said:
        return f"what it assumes, {render(found.joined.taken)}, is no part of the step {step}"
    if found.possible is None:
        return "glue and guarantees are true in no small state: everything follows from them"
    needless = [claim for claim, shown in found.without.items() if shown is None]
    if needless:
        return f"it follows without {', '.join(needless)} too, as far as small states show"
    return ""


JUDGE = ArgueJudge()
