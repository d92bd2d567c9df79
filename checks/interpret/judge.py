"""The judge ``interpreted``: exhaustive search by the plain interpreter, the meaning of the language."""

import time

from tidemark.checks.explore.replay import replay_command
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.trace import counterexample, failing_conjunct
from tidemark.checks.verdicts.verdict import (
    RUN_STEPS,
    Aspect,
    Searched,
    Verdict,
    holds,
    inconclusive,
    refuted,
)
from tidemark.models.instance import Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.models.interpreted.search import Found, Reached, Search
from tidemark.models.manifest import AnyEntry, InstanceEntry, Kind
from tidemark.spec.language.spec import Property

LIMIT = 50_000
"""States; beyond it the compiled engines are the ones to use."""

_KINDS = frozenset({Kind.INVARIANT, Kind.LEMMA, Kind.TRANSITION, Kind.REACHABLE})


class InterpretJudge:
    """Judges one instance state by state."""

    name = "interpreted"
    kinds = _KINDS

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """See ``Judge``."""
        assert isinstance(entry, InstanceEntry)
        if entry.symmetry:
            raise BadInputError(
                f"{entry.name}: the interpreter knows no symmetry ({', '.join(entry.symmetry)})",
                remedy="take the engine 'interpreted' or the symmetry out of the entry",
            )
        instance = Instance(entry.protocol, entry.bounds, entry.constants, entry.name)
        begin = time.perf_counter()
        interpreter = Interpreter(instance)
        reached = Search(interpreter, limit=LIMIT).run(
            lambda distinct, frontier, depth: context.progress(
                distinct, unit="states", note=f"depth {depth}, frontier {frontier}"
            )
        )
        seconds = time.perf_counter() - begin
        claims = context.manifest.claims_of(entry, self.kinds)
        properties = [interpreter.spec.property(claim) for claim in claims]
        return [self._verdict(entry, context, (interpreter, reached, seconds), prop) for prop in properties]

    def _verdict(
        self,
        entry: InstanceEntry,
        context: Context,
        run: tuple[Interpreter, Reached, float],
        prop: Property,
    ) -> Verdict:
        interpreter, reached, seconds = run
        witness = prop.kind == "reachable"
        aspect = Aspect.VACUITY if witness else Aspect.PROPERTY
        subject = context.subject(entry, self.name, prop.id, aspect)
        searched: Searched = {
            "counts": {
                "distinct": len(reached.parents),
                "generated": reached.generated,
                "depth": reached.depth,
                "outside": reached.out_of_bounds,
            },
            "bounds": interpreter.instance.bounds_text(),
            "seconds": seconds,
            "replay": check_command(self.name, entry.name),
        }
        found = reached.found.get(prop.id)
        if found is not None and not witness:
            states, steps = _run(reached, found)
            failing = failing_conjunct(interpreter, prop, found.before, found.after)
            shown = counterexample(interpreter.instance, states=states, steps=steps, failing=failing)
            searched["counts"][RUN_STEPS] = len(steps)
            searched["replay"] = replay_command(
                interpreter, entry=entry.name, property_id=prop.id, initial=states[0], steps=steps
            )
            return refuted(subject, counterexample=shown, **searched)
        if found is None and not reached.complete:
            reason = f"more than {LIMIT} states; let explore or distribute judge {entry.name}"
            return inconclusive(subject, reason=reason, **searched)
        if found is None and witness:
            reason = f"not reached within the bounds: {prop.description}"
            return refuted(subject, reason=reason, **searched)
        return holds(subject, **searched)


def _run(reached: Reached, found: Found) -> tuple[list[State], list[Step]]:
    """States and steps to the end of what was found."""
    states, steps = reached.run_to(found.before)
    if found.step is not None and found.after is not None:
        states.append(found.after)
        steps.append(found.step)
    return states, steps


JUDGE = InterpretJudge()
