"""One run of an implementation and the interpreter side by side, and the shortening of a failing one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NoReturn

from tidemark.models.conformance.adapter import Adapter, BrokenRunError, CountsFaults, State
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.refinement.step import StepChecker

Move = tuple[Step, int]
"""A step and the chance with which it is performed."""


class Mismatch(AssertionError):  # noqa: N818  an assertion that failed, as Hypothesis expects it
    """Implementation and interpreter have come apart; the message has the claim and what differs."""

    def __init__(self, claim: str, text: str) -> None:
        self.claim = claim
        super().__init__(f"{claim}: {text}")


class ConformanceRun:
    """A run from its start on: what was done, the abstract states before and after, and the mismatch at the
    end.
    """

    def __init__(self, checker: StepChecker, build: Callable[[], Adapter]) -> None:
        self.checker = checker
        self.moves: list[Move] = []
        self.mismatch: Mismatch | None = None
        self._adapter = build()
        self._state = self._adapter.state()
        self.states: list[State] = [self._state]
        self._offers: dict[str, list[Step]] | None = None

    def begin(self) -> None:
        """The first abstract state must be an initial state of the specification. Raises Mismatch."""
        wrong = self.checker.start(self._state)
        if wrong is not None:
            self._fail(wrong.claim, wrong.text)

    def offered(self, action: str) -> list[Step]:
        """Steps of an action that both sides can do now, that change something and stay within the bounds."""
        if self._offers is None:
            self._offers = {}
            for found in self.checker.successors(self._state):
                if found.in_bounds and found.state != self._state and self._adapter.offers(found.step):
                    self._offers.setdefault(found.step.action, []).append(found.step)
        return self._offers.get(action, [])

    def do(self, step: Step, chance: int) -> None:
        """One step on both sides. Raises Mismatch."""
        before, self._offers = self._state, None
        self.moves.append((step, chance))
        try:
            self._adapter.perform(step, chance)
        except BrokenRunError as error:
            self.states.append(before)
            self._fail("conformance", f"during {step}: {error}")
        self._state = self._adapter.state()
        self.states.append(self._state)
        expected = self.checker.apply(before, step)
        assert expected is not None
        wanted = expected.state
        if self._state != wanted:
            differs = self.checker.changes(wanted, self._state)
            self._fail(
                "conformance", f"after {step} the implementation differs (specified -> seen): {differs}"
            )
        # The lemmas are the proof's: a state that the interpreter has reached too satisfies them.
        broken = self.checker.broken(self._state, lemmas=False)
        if broken is not None:
            self._fail(broken.id, broken.description)

    def faults(self) -> Mapping[str, int]:
        """How often each kind of fault has happened, as far as the adapter counts them."""
        return self._adapter.faults() if isinstance(self._adapter, CountsFaults) else {}

    def close(self) -> None:
        """End the implementation's run."""
        self._adapter.close()

    def _fail(self, claim: str, text: str) -> NoReturn:
        self.mismatch = Mismatch(claim, text)
        raise self.mismatch


def again(moves: Sequence[Move], checker: StepChecker, build: Callable[[], Adapter]) -> ConformanceRun:
    """Run the moves as far as they are offered, to the first mismatch."""
    run = ConformanceRun(checker, build)
    try:
        run.begin()
        for step, chance in moves:
            if step in run.offered(step.action):
                run.do(step, chance)
    except Mismatch:
        pass
    finally:
        run.close()
    return run


def shortest(failing: ConformanceRun, build: Callable[[], Adapter], *, attempts: int) -> ConformanceRun:
    """A run with the same broken claim from which neither one move nor two can be left out (some belong
    together: a channel is taken away and given back), nor one be made plainer; after so many attempts the
    best so far. Hypothesis would shrink its choices, whose meaning changes with each step that is left out.
    """
    assert failing.mismatch is not None
    best, shorter = failing, True
    while shorter:
        shorter = False
        for moves in _shorter(best.moves):
            if attempts <= 0:
                return best
            attempts -= 1
            found = again(moves, failing.checker, build)
            if found.mismatch is not None and found.mismatch.claim == failing.mismatch.claim:
                best, shorter = found, True
                break
    return best


def _shorter(moves: Sequence[Move]) -> Iterator[list[Move]]:
    """Candidates: halves and smaller blocks left out, one move made plainer, two moves left out."""
    size = len(moves) // 2
    while size:
        for place in range(len(moves) - size, -1, -size):
            yield [*moves[:place], *moves[place + size :]]
        size //= 2
    for place, (step, chance) in reversed(list(enumerate(moves))):
        for plainer in sorted({0, 1, chance - 1}):
            if 0 <= plainer < chance:
                yield [*moves[:place], (step, plainer), *moves[place + 1 :]]
    for first, second in combinations(range(len(moves)), 2):
        yield [move for place, move in enumerate(moves) if place not in {first, second}]
