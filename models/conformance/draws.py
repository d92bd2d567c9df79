"""Examples that a seed alone decides, each independent of the others.

Left to itself Hypothesis follows each new example with up to five that repeat a part of it, keeps the first
ones short, draws numbers that are in the source of some loaded module, and takes its seed from the source of
the test function. Of sixty such walks some ten are independent: how many reach a state says little. Here each
choice is drawn evenly, and from the seed.
"""

from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

_BACKEND = "tidemark"


class EvenDraws(HypothesisProvider):
    """Draws each whole number of a range equally often. Hypothesis varies no examples but its own."""

    def draw_integer(self, min_value: int | None = None, max_value: int | None = None, **more: Any) -> int:
        """See ``HypothesisProvider``."""
        if min_value is None or max_value is None:
            return super().draw_integer(min_value, max_value, **more)
        assert self._random is not None
        return self._random.randint(min_value, max_value)


AVAILABLE_PROVIDERS[_BACKEND] = f"{__name__}.{EvenDraws.__name__}"


def even_draws(examples: int, **more: Any) -> settings:
    """Settings for so many independent examples. The test function needs ``@seed``."""
    return settings(
        backend=_BACKEND,
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        **more,
    )
