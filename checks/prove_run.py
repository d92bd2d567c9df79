"""Runs the proof of a protocol for any size: every obligation by name, what each one used, and what is left.

A claim is proved only if all of its obligations are, and so is every claim that they used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Any

from models.instance import BadInstance
from models.symbolic.hints import Hint, Hints, SmallModel, small_bounds
from models.symbolic.obligations import Obligation, Obligations
from models.symbolic.solve import Answer, discharge
from spec.language.protocol import resolve
from spec.language.spec import Spec

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

Progress = Callable[[int, int, str], None]
"""Told how many obligations are done, of how many, and which one is next."""


@dataclass(frozen=True)
class Outcome:
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


@dataclass(frozen=True)
class Proof:
    """All obligations of a protocol with their outcomes."""

    protocol: str
    spec: Spec
    outcomes: tuple[Outcome, ...]
    seconds: float
    constants: Mapping[str, Any] = field(default_factory=dict)

    def of(self, claim: str) -> tuple[Outcome, ...]:
        """Outcomes of the obligations of one claim."""
        return tuple(outcome for outcome in self.outcomes if outcome.obligation.claim == claim)

    def open(self) -> tuple[Outcome, ...]:
        """What is not proved."""
        return tuple(outcome for outcome in self.outcomes if not outcome.proved)

    def slowest(self) -> Outcome:
        """The obligation that took longest."""
        return max(self.outcomes, key=lambda outcome: outcome.answer.seconds)


class Prover:
    """Proves one protocol. ``constants`` override declared options. Errors: SpecError, BadInstance."""

    def __init__(self, protocol: str, constants: Mapping[str, Any] | None = None, *, seed: int = 0) -> None:
        self.protocol = protocol
        self.constants = dict(constants or {})
        self.spec = resolve(protocol).trace().with_options(self.constants)
        self.obligations = tuple(Obligations(self.spec).all())
        self.seed = seed
        self._hints: dict[tuple[int, int], Hints | None] = {}

    def hints(self, size: tuple[int, int]) -> Hints | None:
        """The bounded instance of a size, or None if the protocol has none (the assumptions may exclude
        it).
        """
        if size not in self._hints:
            bounds = small_bounds(self.spec, elements=size[0], greatest=size[1])
            try:
                self._hints[size] = Hints(self.protocol, bounds, self.constants)
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
    ) -> Outcome:
        """Try to discharge one obligation, without the lemmas named."""
        if obligation.trivial:
            return Outcome(obligation, discharge(self.spec, obligation, timeout_s=timeout_s))
        hint = self.hint(obligation, SIZE, without)
        usable = replace(
            obligation,
            lemmas=tuple(fact for fact in obligation.lemmas if fact.source not in without),
            afterwards=tuple(fact for fact in obligation.afterwards if fact.source not in without),
        )
        # A counterexample within bounds is nearly always a real one; the proof then gets a short try only.
        limit = min(timeout_s, ARTEFACT_S) if hint.model is not None else timeout_s
        answer = discharge(self.spec, usable, timeout_s=limit, seed=self.seed, core=hint.core)
        return Outcome(obligation, answer, hint.model if answer.status != "proved" else None)

    def smallest(self, outcome: Outcome) -> Outcome:
        """The same outcome with a counterexample that is as small as possible."""
        sizes = (*SMALLER, SIZE) if outcome.model is not None else LARGER
        for size in sizes:
            found = self.hint(outcome.obligation, size).model
            if found is not None:
                return replace(outcome, model=found)
        return outcome


def prove(
    protocol: str,
    *,
    constants: Mapping[str, Any] | None = None,
    timeout_s: float = 20.0,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = lambda _done, _all, _name: None,
) -> Proof:
    """Prove all invariants, lemmas and transition invariants of a protocol, named ``module:Class``.

    ``timeout_s`` is the limit of one obligation, ``jobs`` the number of processes for those that a first
    quick pass leaves open.
    """
    begin = time.perf_counter()
    prover = Prover(protocol, constants, seed=seed)
    outcomes = []
    for done, obligation in enumerate(prover.obligations):
        progress(done, len(prover.obligations), obligation.name)
        outcomes.append(prover.attempt(obligation, timeout_s=min(timeout_s, FIRST_S)))
    outcomes = _second_pass(prover, outcomes, timeout_s=timeout_s, jobs=jobs, progress=progress)
    outcomes = _without_unproved(prover, outcomes, timeout_s=timeout_s)
    outcomes = [outcome if outcome.proved else prover.smallest(outcome) for outcome in outcomes]
    return Proof(protocol, prover.spec, tuple(outcomes), time.perf_counter() - begin, prover.constants)


def _second_pass(
    prover: Prover, outcomes: Sequence[Outcome], *, timeout_s: float, jobs: int, progress: Progress
) -> list[Outcome]:
    """Full time for what the first pass left open and what no small counterexample explains."""
    hard = [i for i, o in enumerate(outcomes) if o.answer.status == "unknown" and o.model is None]
    result = list(outcomes)
    if not hard or timeout_s <= FIRST_S:
        return result
    names = [outcomes[i].obligation.name for i in hard]
    progress(len(outcomes) - len(hard), len(outcomes), f"{len(hard)} hard obligations")
    if jobs > 1 and len(hard) > 1:
        tasks = [(prover.protocol, prover.constants, name, timeout_s, prover.seed) for name in names]
        with ProcessPoolExecutor(min(jobs, len(hard)), mp_context=get_context("spawn")) as pool:
            again: Iterable[Answer] = list(pool.map(_in_process, tasks))
    else:
        again = [prover.attempt(outcomes[i].obligation, timeout_s=timeout_s).answer for i in hard]
    for i, answer in zip(hard, again, strict=True):
        result[i] = replace(result[i], answer=answer)
    return result


def _in_process(task: tuple[str, dict[str, Any], str, float, int]) -> Answer:
    protocol, constants, name, timeout_s, seed = task
    prover = Prover(protocol, constants, seed=seed)
    obligation = next(item for item in prover.obligations if item.name == name)
    return prover.attempt(obligation, timeout_s=timeout_s).answer


def _without_unproved(prover: Prover, outcomes: Sequence[Outcome], *, timeout_s: float) -> list[Outcome]:
    """Do again, without the claims that are not proved, what used them; what then fails depends on them."""
    result = list(outcomes)
    unproved: frozenset[str] = frozenset()
    while True:
        now = frozenset(o.obligation.claim for o in result if not o.proved)
        if now == unproved:
            return result
        unproved = now
        typing = frozenset(claim for claim in unproved if claim.startswith("type:"))
        for i, outcome in enumerate(result):
            if not outcome.proved or outcome.obligation.trivial or outcome.obligation.claim in unproved:
                continue
            if typing:
                result[i] = replace(outcome, missing=typing)  # the types of the state are always assumed
            elif outcome.answer.used & unproved:
                again = prover.attempt(outcome.obligation, timeout_s=timeout_s, without=unproved)
                kept = again.answer.status == "proved"
                result[i] = again if kept else replace(outcome, missing=outcome.answer.used & unproved)
