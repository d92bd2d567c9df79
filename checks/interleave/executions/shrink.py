"""Making a failing execution short and natural before it is shown.

The natural way takes the oldest event that is enabled. The measure of an execution is (deviations from it,
steps, picks): a run that goes its natural way but for a few places is read more easily than a shorter one
that does not. An event that is held back for many steps is one deviation, not many.

A candidate is accepted if it shows a violation of the same identity with a smaller measure. Passes: set a
block of picks to the default, delete a block of picks, leave out a block of events by their names, lower
one pick. They repeat until none helps, or the limit of attempts is reached. How far that goes on the
planted bugs of the manifest is bounded in ``tests/quality``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidemark.checks.interleave.executions.record import Step
from tidemark.checks.interleave.executions.replay import ByLabel, Lenient
from tidemark.checks.interleave.executions.run import run_once
from tidemark.checks.interleave.executions.token import encode
from tidemark.checks.interleave.result import Found
from tidemark.checks.interleave.search_loop import quiet
from tidemark.checks.interleave.strategies.strategy import Strategy
from tidemark.models.simulation import Interner, ProgramRef
from tidemark.models.simulation.spinning import SPIN

Picks = tuple[int, ...]
Measure = tuple[int, int, Picks]


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The result of shrinking.

    Attributes:
        found: the short execution. Its violation may differ in words, not in identity.
        before: steps and deviations of the original.
        deviations: those that are left.
        attempts: executions that were run.
        complete: whether no pass helped any more; False if the limit of attempts ended it.
    """

    found: Found
    before: tuple[int, int]
    deviations: int
    attempts: int
    complete: bool


def shrink(program: ProgramRef, found: Found, *, attempts: int = 2_000, fewest: bool = False) -> Shrunk:
    """Look for a shorter execution with the same violation. ``fewest``: steps count first, not deviations."""
    if found.violation.kind == SPIN:
        attempts = 1  # each one takes seconds: the natural way only
    search = _Shrinker(program, found, attempts=attempts, fewest=fewest)
    with quiet():
        complete = search.run()
    return Shrunk(
        found=search.best(),
        before=(len(found.picks), search.before),
        deviations=search.deviations,
        attempts=search.spent,
        complete=complete,
    )


class _Shrinker:
    def __init__(self, program: ProgramRef, found: Found, *, attempts: int, fewest: bool) -> None:
        self._program = program
        self._factory = program.load()
        self._identity = found.violation.identity
        self._found = found
        self._picks = found.picks
        self._allowed = attempts
        self._fewest = fewest
        passes = (self._defaults, self._deletions, self._without, self._lowered)
        self._passes = passes[::-1] if fewest else passes
        self._seen: set[Picks] = set()
        self._named: set[tuple[str, ...]] = set()
        self._measure: Measure = (len(found.picks) + 1, 0, ())
        self.before = self.deviations = 0
        self.spent = 0

    def best(self) -> Found:
        """Return the best execution so far."""
        return self._found

    def run(self) -> bool:
        """Repeat the passes until none helps. Return whether that point was reached."""
        self._is_better(Lenient(self._picks))
        self.before = self.deviations
        improved = True
        while improved:
            improved = False
            for candidates in self._passes:
                for candidate in candidates():
                    if self.spent >= self._allowed:
                        return False
                    if self._is_better(candidate):
                        improved = True
                        break
        return True

    def _defaults(self) -> Iterator[Strategy]:
        picks = self._picks
        for size, start in _blocks(len(picks)):
            block = picks[start : start + size]
            if any(block):
                yield from self._new(picks[:start] + (0,) * len(block) + picks[start + size :])

    def _deletions(self) -> Iterator[Strategy]:
        picks = self._picks
        for size, start in _blocks(len(picks)):
            yield from self._new(picks[:start] + picks[start + size :])

    def _without(self) -> Iterator[Strategy]:
        labels = self._found.labels
        for size, start in _blocks(len(labels)):
            kept = labels[:start] + labels[start + size :]
            if kept not in self._named:
                self._named.add(kept)
                yield ByLabel(kept, loosely=self._fewest)

    def _lowered(self) -> Iterator[Strategy]:
        picks = self._picks
        for place, pick in enumerate(picks):
            for lower in sorted({1, pick // 2, pick - 1}):
                if 0 < lower < pick:
                    yield from self._new((*picks[:place], lower, *picks[place + 1 :]))

    def _new(self, candidate: Picks) -> Iterator[Strategy]:
        """The candidate, unless it was tried before."""
        # Drop defaults at the end: they are taken anyway.
        end = len(candidate)
        while end and not candidate[end - 1]:
            end -= 1
        trimmed = candidate[:end]
        if trimmed not in self._seen:
            self._seen.add(trimmed)
            yield Lenient(trimmed)

    def _is_better(self, strategy: Strategy) -> bool:
        self.spent += 1
        strategy.new_execution()
        run = run_once(self._factory, strategy, interner=Interner(), steps=2_000)
        if run.violation is None or run.violation.identity != self._identity:
            return False
        count, steps = deviations(run.trace), len(run.trace)
        measure = (steps, count, run.picks) if self._fewest else (count, steps, run.picks)
        if measure >= self._measure:
            return False
        self._measure, self.deviations = measure, count
        assert run.violation is not None
        self._picks = run.picks
        labels = tuple(step.label for step in run.trace)
        token = encode(self._program.digest(), run.trace)
        self._found = Found(run.violation, run.picks, labels, token)
        return True


def deviations(trace: Sequence[Step]) -> int:
    """Count the steps that pass over an event which the step before has not passed over already."""
    count = 0
    held: frozenset[str] = frozenset()
    for step in trace:
        passed = frozenset(step.enabled[: step.pick])
        count += not passed <= held
        held = passed
    return count


def _blocks(length: int) -> Iterator[tuple[int, int]]:
    """Yield (size, start) of blocks, the largest first."""
    size = length
    while size:
        for start in range(0, length, size):
            yield size, start
        size //= 2
