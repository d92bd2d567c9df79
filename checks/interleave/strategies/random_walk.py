"""Random search: picks uniformly. It can refute, never confirm.

Random priorities: probabilistic concurrency testing.

Each chain of events has a random priority, and the highest one that can act does. At ``depth - 1`` random
steps the acting chain falls below all others. A bug that shows whenever ``depth`` events happen in one order
is hit by an execution with probability at least 1 / (n * k ** (depth - 1)), n chains and k steps given; a
uniform walk has no such bound. Source: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler
with Probabilistic Guarantees of Finding Bugs", 2010.
"""

import random
from collections.abc import Callable, Sequence

from tidemark.checks.interleave.strategies.bounded import DelayBounded, PreemptionBounded
from tidemark.checks.interleave.strategies.strategy import StateStrategy, Strategy
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.simulation import Event, Execution, Footprint

_FIRST_GUESS = 16


class Priorities(StateStrategy):
    """A fixed number of executions by random priorities, all from one seed.

    The number of steps k is that of the longest execution so far, and a guess in the first one.

    Args:
        seed: of all random numbers.
        executions: how many.
        depth: how many events have to be in a certain order, at least 1.
    """

    def __init__(self, *, seed: int, executions: int, depth: int = 3) -> None:
        if depth < 1:
            raise BadInputError(f"a depth of {depth}", remedy="give 1 or more; 3 finds most bugs")
        self._words = (
            f"{executions} executions by random priorities, depth {depth} (seed {seed}) are a sample"
        )
        self._random = random.Random(seed)
        self._left = executions
        self._depth = depth
        self._longest = 0
        self._step = 0
        self._changes: frozenset[int] = frozenset()
        self._priorities: dict[str, float] = {}
        self._chains: list[str] = []

    def __str__(self) -> str:
        return self._words

    def new_execution(self) -> bool:
        """Count down, and draw where priorities change."""
        self._left -= 1
        self._step = 0
        self._priorities.clear()
        steps = range(max(self._longest, _FIRST_GUESS if not self._longest else 1))
        self._changes = frozenset(self._random.sample(steps, min(self._depth - 1, len(steps))))
        return self._left >= 0

    def arrive(self, execution: Execution) -> bool:
        """See which chains can act."""
        self._chains = [_chain(event) for event in execution.enabled()]
        return True

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Let the chain with the highest priority act."""
        del enabled, last
        for chain in self._chains:
            if chain not in self._priorities:
                self._priorities[chain] = self._random.random()
        if self._step in self._changes:
            self._priorities[self._highest()] = -1.0 - self._step
        self._step += 1
        return self._chains.index(self._highest())

    def done(self, last: Footprint | None) -> None:
        """Note how long the execution was."""
        del last
        self._longest = max(self._longest, self._step)

    def _highest(self) -> str:
        return max(self._chains, key=lambda chain: self._priorities[chain])


def _chain(event: Event) -> str:
    """The task that acts; what no task waits for (a message, a timer, a fault) is a chain of its own."""
    return f"{event.lane.title} {event.owner}" if event.owner and not event.fault else event.label


NAMED: dict[str, Callable[[], Strategy]] = {
    "random": lambda: RandomWalk(seed=1, executions=500),
    "priorities": lambda: Priorities(seed=1, executions=500),
    "delays": lambda: DelayBounded(2),
    "preemptions": lambda: PreemptionBounded(2),
}


def strategy_of(given: object) -> Strategy:
    """Return the strategy that is meant. Raises BadInputError: it is neither."""
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]()
    if not isinstance(given, str | type) and hasattr(given, "new_execution") and hasattr(given, "pick"):
        return given  # type: ignore[return-value]  # just looked at
    raise BadInputError(
        f"strategy is {given!r}",
        remedy=f"give one of {', '.join(map(repr, NAMED))}, or a strategy, as in "
        "`from tidemark.checks.interleave import RandomWalk` and strategy=RandomWalk(seed=1, executions=500)",
    )


class RandomWalk:
    """A fixed number of random executions, all from one seed."""

    def __init__(self, *, seed: int, executions: int) -> None:
        self._words = f"{executions} random executions (seed {seed}) are a sample"
        self._random = random.Random(seed)
        self._left = executions

    def __str__(self) -> str:
        return self._words

    def new_execution(self) -> bool:
        """Count down."""
        self._left -= 1
        return self._left >= 0

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Pick any event."""
        del last
        return self._draw(len(enabled))

    def _draw(self, choices: int) -> int:
        return int(self._random.random() * choices) if choices > 1 else 0

    def done(self, last: Footprint | None) -> None:
        """Nothing is learned."""
