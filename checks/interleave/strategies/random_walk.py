"""Random search: picks uniformly. It can refute, never confirm."""

import random
from collections.abc import Callable, Sequence

from tidemark.checks.interleave.strategies.bounded import DelayBounded, PreemptionBounded
from tidemark.checks.interleave.strategies.priorities import Priorities
from tidemark.checks.interleave.strategies.strategy import Strategy
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.simulation import Footprint

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
