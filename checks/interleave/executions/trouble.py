"""The traceback of a failed task as text: free of addresses and of folders, so that equal failures look
equal.
"""

import linecache
import os
import traceback
from collections.abc import Iterator
from pathlib import Path

from tidemark.models.simulation.loop.freezing import without_addresses
from tidemark.models.simulation.loop.lane import INSIDE

_HERE = str(Path(__file__).parents[1]) + os.sep
"""This package, whose pytest plugin stands between a test and the simulation."""
_DEEPEST = 4
"""Errors of a chain that are shown."""


def traceback_of(error: BaseException) -> list[str]:
    """Return where an error was raised, call by call, and then the errors that it comes from.

    Frames of the simulation are left out; those of asyncio and of other libraries are shown.
    """
    lines: list[str] = []
    current: BaseException | None = error
    for depth in range(_DEEPEST):
        if current is None:
            break
        lines += ["  while this was handled or because of it:"] if depth else []
        lines += [*_frames(current), f"  {_words(current)}"]
        hidden = current.__suppress_context__
        current = current.__cause__ or (None if hidden else current.__context__)
    return lines


def _words(error: BaseException) -> str:
    text = without_addresses(str(error)).partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _frames(error: BaseException) -> Iterator[str]:
    for frame, number in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if code.co_filename.startswith((INSIDE[0], _HERE)):
            continue
        source = linecache.getline(code.co_filename, number, frame.f_globals).strip()
        place = f"    {code.co_filename.rpartition('/')[2]}:{number} in {code.co_qualname}"
        yield f"{place}: {source}" if source else place
