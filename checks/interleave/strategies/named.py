"""Strategies by a word, for those who want a sample and have no opinion on how it is drawn."""

from collections.abc import Callable

from tidemark.checks.interleave.strategies.bounded import DelayBounded, PreemptionBounded
from tidemark.checks.interleave.strategies.priorities import Priorities
from tidemark.checks.interleave.strategies.random_walk import RandomWalk
from tidemark.checks.interleave.strategies.strategy import Strategy
from tidemark.checks.verdicts.errors import BadInputError

NAMED: dict[str, Callable[[], Strategy]] = {
    "random": lambda: RandomWalk(seed=1, executions=500),
    "priorities": lambda: Priorities(seed=1, executions=500),
    "delays": lambda: DelayBounded(2),
    "preemptions": lambda: PreemptionBounded(2),
}


def strategy_of(given: object) -> Strategy:
    """Return the strategy that is meant.

    Args:
        given: a strategy, or the name of one.

    Raises:
        BadInputError: it is neither.
    """
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]()
    if not isinstance(given, str | type) and hasattr(given, "new_execution") and hasattr(given, "pick"):
        return given  # type: ignore[return-value]  # just looked at
    raise BadInputError(
        f"strategy is {given!r}",
        remedy=f"give one of {', '.join(map(repr, NAMED))}, or a strategy, as in "
        "`from tidemark.checks.interleave import RandomWalk` and strategy=RandomWalk(seed=1, executions=500)",
    )
