"""Settling a future with what an effect returns or raises."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def settle(future: "asyncio.Future[T]", effect: Callable[[], T]) -> None:
    """Perform an effect and give its result or error to a future that may have been cancelled meanwhile."""
    try:
        result = effect()
    except Exception as error:  # noqa: BLE001  # whatever the effect raises belongs to the waiting code
        if not future.done():
            future.set_exception(error)
    else:
        if not future.done():
            future.set_result(result)
