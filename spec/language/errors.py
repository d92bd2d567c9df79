"""Errors of the specification language: each names the place in the text, the value and the remedy."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

_HERE = str(Path(__file__).parent) + os.sep


class SpecError(Exception):
    """A protocol text that has no meaning.

    ``place`` is ``file:line`` (file name only) in the protocol's own source, ``remedy`` says what to write
    instead.
    """

    def __init__(self, message: str, *, remedy: str, place: str | None = None) -> None:
        self.problem = message
        self.remedy = remedy
        self.place = place if place is not None else caller_place()
        super().__init__(f"{self.place}: {message}. {remedy}")


def _caller() -> tuple[str, int] | None:
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the cheap way to the author's line
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_HERE) and not name.startswith("<"):
            return name, frame.f_lineno
        frame = frame.f_back
    return None


def caller_place() -> str:
    """``file:line`` of the innermost frame outside the language package: where the author wrote it."""
    found = _caller()
    return f"{Path(found[0]).name}:{found[1]}" if found else "unknown place"


def caller_text() -> str:
    """The source line of the author's statement, stripped; empty if the source is not at hand."""
    found = _caller()
    return linecache.getline(*found).strip() if found else ""


def place_of(function: Callable[..., Any] | None) -> str:
    """``file:line`` at which a function is defined (its decorator, if it has one)."""
    code = getattr(function, "__code__", None)
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}" if code is not None else "unknown place"
