"""The same draws in every process.

Hypothesis draws, now and then, a number that is in the source of some loaded module. Which modules are
loaded depends on what ran before, and with it every later draw of the same seed. Here nothing may depend on
that: the verdict of a check is the same alone and among others.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants


@contextmanager
def same_draws_everywhere() -> Iterator[None]:
    """Within it, Hypothesis knows no constants of our modules. There is no public switch for that."""
    known = providers._get_local_constants  # noqa: SLF001
    providers._get_local_constants = Constants  # noqa: SLF001
    providers.CONSTANTS_CACHE.cache.clear()
    try:
        yield
    finally:
        providers._get_local_constants = known  # noqa: SLF001
        providers.CONSTANTS_CACHE.cache.clear()
