"""Coroutines of adapters over media that do not suspend."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any


def finish(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that never waits. Raises AssertionError if it does."""
    if next(work.__await__(), None) is not None:
        raise AssertionError(f"{work!r} waits, though nothing that it uses does")
