"""Random search: picks uniformly. It can refute, never confirm."""

import random
from collections.abc import Sequence

from tidemark.models.simulation import Footprint


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
