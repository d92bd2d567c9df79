"""Who discharges obligations: one process with its solvers, several processes, or tasks of Spark.

The obligations are dealt out in fixed portions, each with solvers of its own: the answers do not depend on
the number of processes that share the portions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

from tidemark.models.instance import BadInstance
from tidemark.models.symbolic.hints import Hint, Hints, SmallModel, small_bounds
from tidemark.models.symbolic.obligations import Obligation, Obligations
from tidemark.models.symbolic.solve import Answer, Terms, Watch, discharge
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.spec.language.spec import Spec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIZE = (2, 3)
"""Elements of each sort and greatest key of the instance that picks lemmas."""

LARGER = ((3, 4), (2, 6))
"""Where a counterexample is looked for when that instance has none."""

SMALLER = ((1, 1), (1, 2), (2, 2))
"""Where a smaller counterexample is looked for, smallest first."""

FIRST_S = 3.0
"""Time limit of the first pass over all obligations; what remains gets its full time afterwards."""

FURTHER = 3
"""How much further numbers of a bounded instance may go, if its assumptions need more."""

DIRECT_S = 1.0
"""Time limit of the first attempt at a reason of a liveness claim, before any instance is asked."""

ARTEFACT_S = 1.0
"""Time limit where a bounded instance has a counterexample, which may owe its existence to the bounds."""

PORTION = 24
"""Obligations that need a solver in one portion, at least: a portion is whole actions."""

ENOUGH = 2 * PORTION
"""Obligations for a solver below which starting processes takes longer than it saves."""

Portion = Sequence[int]
"""Places of obligations that are discharged one after the other."""

Reply = tuple[Answer, SmallModel | None]
"""What travels back from another process about one obligation."""

Progress = Callable[[int, int, str], None]
"""Told how many obligations are done, of how many, and which one is next."""


@dataclass(frozen=True)
class ObligationOutcome:
    """An obligation, the solver's answer, and a small counterexample if there is one."""

    obligation: Obligation
    answer: Answer
    model: SmallModel | None = None
    missing: frozenset[str] = frozenset()
    """Claims without which it is not proved, although they are not proved themselves. The model is then of a
    state in which they need not hold.
    """

    @property
    def proved(self) -> bool:
        """Discharged, and by proved claims only."""
        return self.answer.status == "proved" and not self.missing


@dataclass
class Prover:
    """Proves one protocol. Raises SpecError, BadInstance."""

    subject: ProofSubject
    seed: int = 0
    watch: Watch | None = None
    """Told of every query; in this process only."""
    _hints: dict[tuple[int, int], Hints | None] = field(default_factory=dict)

    @property
    def spec(self) -> Spec:
        """The protocol with its options put in."""
        return self.subject.spec

    @cached_property
    def terms(self) -> Terms:
        """What its queries share."""
        return Terms(self.spec)

    @cached_property
    def obligations(self) -> tuple[Obligation, ...]:
        """All obligations, in a fixed order."""
        return tuple(Obligations(self.spec, implied=self.subject.implied).all())

    def portions(
        self, only: Collection[str] | None = None, *, without: Collection[int] = ()
    ) -> list[tuple[int, ...]]:
        """The places of the obligations, dealt out: whole actions, in order, the same on every machine.

        ``only``: names of those that are wanted, all if None. ``without``: places that are left out.
        Raises LookupError for an unknown name.
        """
        known = {obligation.name for obligation in self.obligations}
        for name in sorted(set(only or ()) - known):
            raise LookupError(f"{self.subject.protocol} has no obligation {name!r}")
        dealt: list[list[int]] = [[]]
        hard, last = 0, ""
        for place, obligation in enumerate(self.obligations):
            if place in without or (only is not None and obligation.name not in only):
                continue
            if hard >= PORTION and obligation.action != last:
                dealt.append([])
                hard = 0
            dealt[-1].append(place)
            hard += not obligation.trivial
            last = obligation.action
        return [tuple(places) for places in dealt if places]

    def hints(self, size: tuple[int, int]) -> Hints | None:
        """The bounded instance of a size, or None if the protocol has none. Numbers go further if the
        assumptions exclude all constants within the bounds.
        """
        if size not in self._hints:
            elements, greatest = size
            found = (self._instance_of(elements, greatest + more) for more in range(FURTHER + 1))
            self._hints[size] = next((hints for hints in found if hints is not None and hints.possible), None)
        return self._hints[size]

    def _instance_of(self, elements: int, greatest: int) -> Hints | None:
        bounds = small_bounds(self.spec, elements=elements, greatest=greatest)
        try:
            return Hints(self.subject.instance(bounds))
        except BadInstance:
            return None

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
            return ObligationOutcome(obligation, discharge(self.terms, obligation, timeout_s=timeout_s))
        usable = replace(
            obligation,
            lemmas=tuple(fact for fact in obligation.lemmas if fact.source not in without),
            post_invariants=tuple(fact for fact in obligation.post_invariants if fact.source not in without),
        )
        if obligation.of_a_run:
            # To ask an instance about a rank takes longer than the proof, which nearly always succeeds.
            first = discharge(self.terms, usable, timeout_s=DIRECT_S, seed=self.seed, watch=self.watch)
            if first.status == "proved":
                return ObligationOutcome(obligation, first)
        hint = self.hint(obligation, SIZE, without)
        # A counterexample within bounds is nearly always a real one; the proof then gets a short try only.
        limit = min(timeout_s, ARTEFACT_S) if hint.model is not None else timeout_s
        answer = discharge(
            self.terms, usable, timeout_s=limit, seed=self.seed, core=hint.core, watch=self.watch
        )
        return ObligationOutcome(obligation, answer, hint.model if answer.status != "proved" else None)

    def attempt_all(self, places: Portion, *, timeout_s: float) -> list[ObligationOutcome]:
        """One portion. Earlier portions leave no trace in the answers: queries have contexts of their own,
        and what an instance says does not depend on what it was asked before.
        """
        return [self.attempt(self.obligations[place], timeout_s=timeout_s) for place in places]

    def smallest(self, outcome: ObligationOutcome) -> ObligationOutcome:
        """The same outcome with a counterexample that is as small as possible."""
        sizes = (*SMALLER, SIZE) if outcome.model is not None else LARGER
        for size in sizes:
            found = self.hint(outcome.obligation, size).model
            if found is not None:
                return replace(outcome, model=found)
        return outcome


class Workers(AbstractContextManager["Workers"]):
    """Runs portions of a proof here, in up to ``jobs`` processes or as tasks of Spark, with the same answers.

    Each process makes the obligations itself: only answers travel.
    """

    def __init__(
        self, prover: Prover, *, jobs: int, progress: Progress, spark: SparkSession | None = None
    ) -> None:
        self.prover = prover
        self.progress = progress
        self.processes = 1
        self._spark = spark
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def run(self, portions: Sequence[Portion], *, timeout_s: float) -> list[ObligationOutcome]:
        """The outcomes of all portions, in the order of the portions. ``timeout_s`` is for one obligation."""
        if self._spark is not None and portions:
            from tidemark.checks.spark.sweep import run_many

            self.processes = min(self._spark.sparkContext.defaultParallelism, len(portions))
            replies: list[list[Reply]] = run_many(
                self._spark,
                self._items(portions, timeout_s),
                f"{__name__}:portion_of",
                name=f"obligations of {self.prover.subject.protocol}",
                unit="portions",
            )
            return self._outcomes(portions, replies)
        wanted = min(self._jobs, len(portions))
        work = sum(not self.prover.obligations[place].trivial for portion in portions for place in portion)
        quick = work < ENOUGH and timeout_s <= FIRST_S
        if wanted < 2 or (self._pool is None and quick):
            return self._in_this_process(portions, timeout_s)
        if self._pool is None:
            self.processes = wanted
            self._pool = ProcessPoolExecutor(wanted, mp_context=get_context("spawn"))
        futures = {
            self._pool.submit(portion_of, item): item.places for item in self._items(portions, timeout_s)
        }
        done, total = 0, len(self.prover.obligations)
        self.progress(done, total, f"in {self.processes} processes")
        for future in as_completed(futures):
            done += len(futures[future])
            self.progress(done, total, self.prover.obligations[futures[future][-1]].name)
        return self._outcomes(portions, [self._replies(future, places) for future, places in futures.items()])

    def _in_this_process(self, portions: Sequence[Portion], timeout_s: float) -> list[ObligationOutcome]:
        found: list[ObligationOutcome] = []
        total = len(self.prover.obligations)
        for portion in portions:
            self.progress(len(found), total, self.prover.obligations[portion[0]].name)
            found += self.prover.attempt_all(portion, timeout_s=timeout_s)
        return found

    def _replies(self, future: Future[list[Reply]], places: Portion) -> list[Reply]:
        try:
            return future.result()
        except BrokenProcessPool:
            lost = "a worker process ended abruptly"
            return [
                (Answer(self.prover.obligations[n].name, "unknown", 0.0, reason=lost), None) for n in places
            ]

    def _items(self, portions: Sequence[Portion], timeout_s: float) -> list[Item]:
        return [Item(self.prover.subject, self.prover.seed, tuple(places), timeout_s) for places in portions]

    def _outcomes(
        self, portions: Sequence[Portion], replies: Sequence[Sequence[Reply]]
    ) -> list[ObligationOutcome]:
        return [
            ObligationOutcome(self.prover.obligations[place], *reply)
            for portion, several in zip(portions, replies, strict=True)
            for place, reply in zip(portion, several, strict=True)
        ]


class Item(NamedTuple):
    """The work of one task in another process."""

    subject: ProofSubject
    seed: int
    places: Portion
    timeout_s: float


def portion_of(item: Item) -> list[Reply]:
    """Answers and small counterexamples of one portion. A process keeps the prover of the last subject."""
    subject, seed, places, timeout_s = item
    if not _here or (_here[0].subject, _here[0].seed) != (subject, seed):
        _here[:] = [Prover(subject, seed)]
    outcomes = _here[0].attempt_all(places, timeout_s=timeout_s)
    return [(outcome.answer, outcome.model) for outcome in outcomes]


_here: list[Prover] = []
"""The prover of a worker process; empty elsewhere."""
