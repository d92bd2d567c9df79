"""Lemmas for a proof that does not go through: found on a small instance, then proved for any size."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from tidemark.checks.prove.proof import Proof, prove
from tidemark.models.instance import Bound, Instance
from tidemark.models.lemmas.closure import Closed, Closure
from tidemark.models.lemmas.samples import Batch, Sample, batch, sample
from tidemark.models.lemmas.text import Lemma, lemmas
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.spec.language.spec import Spec
from tidemark.spec.language.types import NumberType, SortType

SIZES = ((2, 3), (3, 4), (2, 6))
"""Elements of each sort and greatest number where induction is tried, one after the other."""

LARGER = ((3, 5), (3, 3), (2, 3))
"""The same of the instance whose reachable states filter the candidates: the first in which every action is
taken.
"""

STATES = 12_000
"""Reachable states that are collected, at most."""

COLLECT_S = 120.0
"""Seconds after which collecting them stops with fewer."""

ROUNDS = 8
"""How often candidates that fail for any size are dropped and others are looked for."""


@dataclass(frozen=True)
class Suggestion:
    """What is offered. ``after`` is the proof with the lemmas; without lemmas it is the proof as it was."""

    lemmas: tuple[Lemma, ...]
    before: Proof
    after: Proof
    states: int
    """Reachable states that filtered the candidates."""
    dropped: int
    """Candidates that were tried and were not inductive."""
    open: tuple[str, ...] = ()
    """Claims for which no template helps, within the small instance."""
    stopped: str = ""
    """Why the search ended early; empty if it did not."""
    never: tuple[str, ...] = ()
    """Actions that lead to none of the states that filtered the candidates."""

    @property
    def complete(self) -> bool:
        """With the lemmas every claim is proved for any size."""
        return not self.after.open()


def suggest(
    subject: ProofSubject,
    *,
    seconds: float = 120.0,
    jobs: int = 1,
    seed: int = 0,
    timeout_s: float = 20.0,
    watch: Callable[[str], None] = lambda _text: None,
) -> Suggestion:
    """Look for lemmas that complete the proof of a protocol, for about so many seconds.

    Whatever is offered is inductive together with what is stated only if ``complete``. Raises SpecError;
    BadInstance if the protocol has no small instance.
    """
    ends = time.perf_counter() + seconds
    watch("proving what is stated")
    before = prove(subject, timeout_s=timeout_s, seed=seed, jobs=jobs)
    if not before.open():
        return Suggestion((), before, before, states=0, dropped=0)
    watch("collecting reachable states")
    samples, never = _samples(subject, seed=seed)
    best = Suggestion((), before, before, states=samples.size, dropped=0, never=never)
    for size in SIZES:
        left = ends - time.perf_counter()
        if left <= 0:
            return replace(best, stopped=best.stopped or f"the limit of {seconds:g} s was reached")
        closure = Closure(subject.instance(_bounds(subject.spec, size)), samples)
        search = _Search(subject, closure, before, timeout_s=timeout_s, seed=seed, jobs=jobs, watch=watch)
        best = replace(search.run(ends=ends), states=samples.size, never=never)
        if best.complete or best.stopped:
            break
    return best


def _samples(subject: ProofSubject, *, seed: int) -> tuple[Batch, tuple[str, ...]]:
    """Reachable states, and the actions that none of them comes from: as few as the sizes allow."""
    best: tuple[Instance, Sample] | None = None
    for size in LARGER:
        instance = subject.instance(_bounds(subject.spec, size))
        found = sample(instance, states=STATES, seconds=COLLECT_S / len(LARGER), seed=seed)
        if best is None or len(found.never) < len(best[1].never):
            best = instance, found
        if not found.never:
            break
    assert best is not None
    return batch(best[0], best[1].states), best[1].never


@dataclass
class _Search:
    """The search on one small instance."""

    subject: ProofSubject
    closure: Closure
    before: Proof
    timeout_s: float
    seed: int
    jobs: int
    watch: Callable[[str], None]

    def run(self, *, ends: float) -> Suggestion:
        """Drop what fails for any size, and look again."""
        found, offered, after = Closed(), list[Lemma](), self.before
        for _ in range(ROUNDS):
            found = self.closure.run(seconds=max(1.0, ends - time.perf_counter()), watch=self.watch)
            offered = lemmas(self.closure.families, [(item.family, item.cube) for item in found.kept])
            after = self._with(offered) if offered else self.before
            wrong = _not_inductive(after, offered)
            if not wrong or found.stopped or time.perf_counter() > ends:
                break
            for candidate in found.kept:
                if any(candidate.family == item.family and candidate.cube in item.cubes for item in wrong):
                    self.closure.drop(candidate)
        claims = tuple(found.open)
        return Suggestion(tuple(offered), self.before, after, 0, found.dropped, claims, found.stopped)

    def _with(self, offered: list[Lemma]) -> Proof:
        self.watch(f"proving with {len(offered)} lemmas")
        spec = self.subject.spec
        prefix = next((prop.id.partition(".")[0] for prop in spec.properties), spec.name.lower())
        added = (*self.subject.added, *(item.claim(prefix) for item in offered))
        changed = replace(self.subject, added=added)
        return prove(changed, timeout_s=self.timeout_s, seed=self.seed, jobs=self.jobs)


def _bounds(spec: Spec, size: tuple[int, int]) -> dict[str, Bound]:
    """Elements of each sort, and the greatest of all numbers."""
    bounds: dict[str, Bound] = {}
    for kind in spec.types:
        if isinstance(kind, SortType):
            bounds[kind.name] = size[0]
        elif isinstance(kind, NumberType):
            bounds[kind.name] = (-size[1], size[1]) if kind.signed else size[1]
    return bounds


def _not_inductive(proof: Proof, offered: list[Lemma]) -> list[Lemma]:
    """The lemmas that fail for any size (or could not be decided in time), although not on the instance."""
    failed = {o.obligation.claim.partition(".")[2] for o in proof.outcomes if o.answer.status != "proved"}
    return [item for item in offered if item.name in failed]
