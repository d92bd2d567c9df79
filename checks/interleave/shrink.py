"""Making a failing execution short and natural before it is shown.

The measure is (picks that differ from the default choice, steps, picks). A candidate is accepted if it shows
a violation of the same identity with a smaller measure. Passes: set a block of picks to the default, delete a
block of picks, lower one pick. They repeat until none helps, or the limit of attempts is reached.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from checks.interleave.explore import quiet
from checks.interleave.replay import Lenient
from checks.interleave.result import Found
from checks.interleave.run import Run, run_once
from checks.interleave.token import encode
from models.scheduled import Interner, ProgramRef

Picks = tuple[int, ...]
Measure = tuple[int, int, Picks]


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The result of shrinking.

    Attributes:
        found: the short execution. Its violation may differ in words, not in identity.
        before: steps and deviations of the original.
        attempts: executions that were run.
        complete: whether no pass helped any more; False if the limit of attempts ended it.
    """

    found: Found
    before: tuple[int, int]
    attempts: int
    complete: bool


def shrink(program: ProgramRef, found: Found, *, attempts: int = 2_000, steps: int = 2_000) -> Shrunk:
    """Look for a shorter execution with the same violation.

    Args:
        program: the program.
        found: the failing execution.
        attempts: executions that may be spent.
        steps: limit of steps of one execution.
    """
    search = _Shrinker(program, found, attempts=attempts, steps=steps)
    with quiet():
        complete = search.run()
    before = (len(found.picks), sum(1 for pick in found.picks if pick))
    return Shrunk(found=search.best(), before=before, attempts=search.spent, complete=complete)


class _Shrinker:
    def __init__(self, program: ProgramRef, found: Found, *, attempts: int, steps: int) -> None:
        self._program = program
        self._factory = program.load()
        self._identity = found.violation.identity
        self._found = found
        self._picks = found.picks
        self._allowed = attempts
        self._steps = steps
        self._seen: set[Picks] = set()
        self.spent = 0

    def best(self) -> Found:
        """Return the best execution so far."""
        return self._found

    def run(self) -> bool:
        """Repeat the passes until none helps. Return whether that point was reached."""
        self._try(self._picks)
        improved = True
        while improved:
            improved = False
            for candidates in (self._defaults, self._deletions, self._lowered):
                for candidate in candidates():
                    if self.spent >= self._allowed:
                        return False
                    if self._try(candidate):
                        improved = True
                        break
        return True

    def _defaults(self) -> Iterator[Picks]:
        picks = self._picks
        for size, start in _blocks(len(picks)):
            block = picks[start : start + size]
            if any(block):
                yield picks[:start] + (0,) * len(block) + picks[start + size :]

    def _deletions(self) -> Iterator[Picks]:
        picks = self._picks
        for size, start in _blocks(len(picks)):
            yield picks[:start] + picks[start + size :]

    def _lowered(self) -> Iterator[Picks]:
        picks = self._picks
        for place, pick in enumerate(picks):
            for lower in sorted({1, pick // 2, pick - 1}):
                if 0 < lower < pick:
                    yield (*picks[:place], lower, *picks[place + 1 :])

    def _try(self, candidate: Picks) -> bool:
        trimmed = _trim(candidate)
        if trimmed in self._seen:
            return False
        self._seen.add(trimmed)
        self.spent += 1
        strategy = Lenient(trimmed)
        run = run_once(self._factory, strategy, interner=Interner(), steps=self._steps)
        if run.violation is None or run.violation.identity != self._identity:
            return False
        if _measure(run.picks) >= _measure(self._picks):
            return False
        self._accept(run)
        return True

    def _accept(self, run: Run) -> None:
        assert run.violation is not None
        self._picks = run.picks
        labels = tuple(step.label for step in run.trace)
        token = encode(self._program.digest(), run.trace)
        self._found = Found(run.violation, run.picks, labels, token)


def _measure(picks: Picks) -> Measure:
    return (sum(1 for pick in picks if pick), len(picks), picks)


def _trim(picks: Picks) -> Picks:
    """Drop defaults at the end: they are taken anyway."""
    end = len(picks)
    while end and not picks[end - 1]:
        end -= 1
    return picks[:end]


def _blocks(length: int) -> Iterator[tuple[int, int]]:
    """Yield (size, start) of blocks, the largest first."""
    size = length
    while size:
        for start in range(0, length, size):
            yield size, start
        size //= 2
