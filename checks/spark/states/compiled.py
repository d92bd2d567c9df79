"""The one way in which this package compiles a function with numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile to machine code at the first call; the result is cached on disk and shared by all worker
    processes.
    """
    return cast("F", numba.njit(cache=True, nogil=True)(function))
