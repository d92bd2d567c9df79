"""One proof for any size, obligation by obligation, in one process.

The obligations are dealt out in fixed portions, each with solvers of its own: the answers do not depend on
the number of processes that share the portions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from tidemark.models.instance import BadInstance
from tidemark.models.symbolic.hints import Hint, Hints, SmallModel, small_bounds
from tidemark.models.symbolic.obligations import Obligation, Obligations
from tidemark.models.symbolic.solve import Answer, discharge
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.spec.language.spec import Spec

SIZE = (2, 3)
"""Elements of each sort and greatest key of the instance that picks lemmas."""

LARGER = ((3, 4), (2, 6))
"""Where a counterexample is looked for when that instance has none."""

SMALLER = ((1, 1), (1, 2), (2, 2))
"""Where a smaller counterexample is looked for, smallest first."""

FIRST_S = 3.0
"""Time limit of the first pass over all obligations; what remains gets its full time afterwards."""

ARTEFACT_S = 1.0
"""Time limit where a bounded instance has a counterexample, which may owe its existence to the bounds."""

PORTION = 24
"""Obligations that need a solver in one portion, at least: a portion is whole actions."""

Progress = Callable[[int, int, str], None]
"""Told how many obligations are done, of how many, and which one is next."""


@dataclass(frozen=True)
class ObligationOutcome:
    """An obligation, the solver's answer, and a small counterexample if there is one."""

    obligation: Obligation
    answer: Answer
    model: SmallModel | None = None
    missing: frozenset[str] = frozenset()
    """Claims without which it is not proved, although they are not proved themselves."""

    @property
    def proved(self) -> bool:
        """Discharged, and by proved claims only."""
        return self.answer.status == "proved" and not self.missing


@dataclass
class Prover:
    """Proves one protocol. Raises SpecError, BadInstance."""

    subject: ProofSubject
    seed: int = 0
    _hints: dict[tuple[int, int], Hints | None] = field(default_factory=dict)

    @property
    def spec(self) -> Spec:
        """The protocol with its options put in."""
        return self.subject.spec

    @cached_property
    def obligations(self) -> tuple[Obligation, ...]:
        """All obligations, in a fixed order."""
        return tuple(Obligations(self.spec).all())

    def portions(self) -> list[tuple[int, ...]]:
        """The places of the obligations, dealt out: whole actions, in order, the same on every machine."""
        dealt: list[list[int]] = [[]]
        hard, last = 0, ""
        for place, obligation in enumerate(self.obligations):
            if hard >= PORTION and obligation.action != last:
                dealt.append([])
                hard = 0
            dealt[-1].append(place)
            hard += not obligation.trivial
            last = obligation.action
        return [tuple(places) for places in dealt if places]

    def hints(self, size: tuple[int, int]) -> Hints | None:
        """The bounded instance of a size, or None if the protocol has none (the assumptions may exclude
        it).
        """
        if size not in self._hints:
            bounds = small_bounds(self.spec, elements=size[0], greatest=size[1])
            try:
                self._hints[size] = Hints(self.subject.instance(bounds))
            except BadInstance:
                self._hints[size] = None
        return self._hints[size]

    def hint(
        self, obligation: Obligation, size: tuple[int, int], without: frozenset[str] = frozenset()
    ) -> Hint:
        """What the instance of a size says about an obligation."""
        hints = self.hints(size)
        return hints.of(obligation, without=without) if hints is not None else Hint()

    def attempt(
        self, obligation: Obligation, *, timeout_s: float, without: frozenset[str] = frozenset()
    ) -> ObligationOutcome:
        """Try to discharge one obligation, without the lemmas named."""
        if obligation.trivial:
            return ObligationOutcome(obligation, discharge(self.spec, obligation, timeout_s=timeout_s))
        hint = self.hint(obligation, SIZE, without)
        usable = replace(
            obligation,
            lemmas=tuple(fact for fact in obligation.lemmas if fact.source not in without),
            post_invariants=tuple(fact for fact in obligation.post_invariants if fact.source not in without),
        )
        # A counterexample within bounds is nearly always a real one; the proof then gets a short try only.
        limit = min(timeout_s, ARTEFACT_S) if hint.model is not None else timeout_s
        answer = discharge(self.spec, usable, timeout_s=limit, seed=self.seed, core=hint.core)
        return ObligationOutcome(obligation, answer, hint.model if answer.status != "proved" else None)

    def attempt_all(self, places: Sequence[int], *, timeout_s: float) -> list[ObligationOutcome]:
        """One portion, with fresh solvers: earlier portions leave no trace in the answers."""
        self._hints.clear()
        return [self.attempt(self.obligations[place], timeout_s=timeout_s) for place in places]

    def smallest(self, outcome: ObligationOutcome) -> ObligationOutcome:
        """The same outcome with a counterexample that is as small as possible."""
        sizes = (*SMALLER, SIZE) if outcome.model is not None else LARGER
        for size in sizes:
            found = self.hint(outcome.obligation, size).model
            if found is not None:
                return replace(outcome, model=found)
        return outcome
