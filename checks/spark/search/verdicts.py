"""From the result of a distributed search to verdicts: counts, bounds, and runs that the interpreter takes
again.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tidemark.checks.explore.replay import replay_command
from tidemark.checks.spark.search.breadth_first import Result, Search
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.trace import BrokenRunError, counterexample, failing_at_end, run_again
from tidemark.checks.verdicts.verdict import (
    RUN_STEPS,
    Aspect,
    Searched,
    Subject,
    Verdict,
    holds,
    inconclusive,
    refuted,
)
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.spec.language.spec import Property

NAME = "distribute"

MakeSubject = Callable[[Property, Aspect], Subject]


@dataclass(frozen=True)
class Judged:
    """From a search's result to verdicts."""

    search: Search
    result: Result
    interpreter: Interpreter
    subject: MakeSubject
    forecast: str

    @property
    def counts(self) -> dict[str, int]:
        """Counts as the native engine defines them."""
        result = self.result
        return {
            "distinct": result.distinct,
            "generated": result.levels[0] + result.generated,
            "depth": len(result.levels),
            "outside": sum(result.steps.out_of_bounds),
        }

    @property
    def rates(self) -> dict[str, float]:
        """What differs from run to run."""
        result, rounds = self.result, self.result.rounds
        seconds = sum(done.seconds for done in rounds)
        bytes_sent = result.steps.sent * self.search.directory.plan.kernel.words * 8
        return {
            "states_per_s": sum(done.expanded for done in rounds) / max(seconds, 1e-9),
            "rounds_on_spark": sum(done.on_spark for done in rounds),
            "sent_bytes_per_state": bytes_sent / max(result.distinct, 1),
        }

    @property
    def bounds(self) -> str:
        """Over what the verdicts speak."""
        out_of_bounds = sum(self.result.steps.out_of_bounds)
        left = f"; {out_of_bounds:,} steps leave the bounds and were not followed" if out_of_bounds else ""
        return f"{self.interpreter.instance.bounds_text()}{left}"

    @property
    def searched(self) -> Searched:
        """What all verdicts have; of the seconds only the caller knows."""
        replay = check_command(NAME, self.interpreter.instance.name)
        return {"counts": self.counts, "bounds": self.bounds, "seconds": 0.0, "replay": replay}

    @property
    def notes(self) -> tuple[str, ...]:
        """Who did the work, and the forecast."""
        rounds = self.result.rounds
        spread = sum(done.on_spark for done in rounds)
        return (f"{spread} of {len(rounds)} rounds ran on Spark, the small ones in the driver", self.forecast)

    def verdict(self, prop: Property) -> Verdict:
        """The verdict on one property."""
        if prop.kind == "reachable":
            # A witness is there to show that a search is not about nothing.
            subject = self.subject(prop, Aspect.VACUITY)
            if prop.id in self.result.events:
                return self._holds(subject)
            if self.result.stopped:
                return self._unless_stopped(subject)
            return refuted(
                subject, reason=f"never reached within the bounds: {prop.description}", **self.searched
            )
        found = self.result.violations.get(prop.id)
        if found is not None:
            depth, finding = found
            return self._refuted(prop, *self._run_to(finding.state, depth))
        if prop.id in self.result.events:
            return self._refuted(prop, *self._run_through(prop, self.result.events[prop.id]))
        return self._unless_stopped(self.subject(prop, Aspect.PROPERTY))

    def _unless_stopped(self, subject: Subject) -> Verdict:
        if not self.result.stopped:
            return self._holds(subject)
        return inconclusive(subject, reason=self.result.stopped, **self.searched, notes=self.notes)

    def _holds(self, subject: Subject) -> Verdict:
        return holds(subject, **self.searched, notes=self.notes, rates=self.rates)

    def _run_to(self, state: tuple[int, ...], depth: int) -> tuple[list[tuple[object, ...]], list[Step]]:
        """A shortest run to a packed state, taken again by the interpreter."""
        rows, numbers = self.search.run_to(state, depth)
        unpacked = [self.search.directory.plan.kernel.unpack(row) for row in rows]
        steps = [self.interpreter.steps[number] for number in numbers]
        if run_again(self.interpreter, unpacked[0], steps) != unpacked:
            raise BrokenRunError("the interpreter comes to other states than the kernel on the same steps")
        return unpacked, steps

    def _run_through(self, prop: Property, depth: int) -> tuple[list[tuple[object, ...]], list[Step]]:
        """A shortest run whose last step breaks a transition invariant."""
        states, steps = self._run_to(self.search.culprit(prop.id, depth), depth)
        for transition in self.interpreter.successors(states[-1]):
            if transition.in_bounds and not self.interpreter.holds(prop, states[-1], transition.state):
                return [*states, transition.state], [*steps, transition.step]
        raise BrokenRunError(
            f"the kernel says that {prop.id} fails after depth {depth}, the interpreter does not"
        )

    def _refuted(self, prop: Property, states: list[tuple[object, ...]], steps: list[Step]) -> Verdict:
        instance = self.interpreter.instance
        failing = failing_at_end(self.interpreter, prop, states)
        searched = self.searched
        searched["counts"][RUN_STEPS] = len(steps)
        searched["replay"] = replay_command(
            self.interpreter, entry=instance.name, property_id=prop.id, initial=states[0], steps=steps
        )
        shown = counterexample(instance, states=states, steps=steps, failing=failing)
        subject = self.subject(prop, Aspect.PROPERTY)
        return refuted(subject, counterexample=shown, **searched, notes=self.notes, rates=self.rates)
