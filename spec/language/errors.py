"""Errors of the specification language: each names the place in the text, the value and the remedy."""

import importlib
import linecache
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

_HERE = str(Path(__file__).parent) + os.sep
_LIBRARY = tuple(str(Path(sysconfig.get_path(name))) + os.sep for name in ("stdlib", "platstdlib", "purelib"))


class SpecError(Exception):
    """A protocol text that has no meaning.

    ``place`` is ``file:line`` (file name only) in the protocol's own source, empty if the error is not in it;
    ``remedy`` says what to write instead.
    """

    def __init__(self, message: str, *, remedy: str, place: str | None = None) -> None:
        self.problem = message
        self.remedy = remedy
        self.place = place if place is not None else caller_place()
        super().__init__(f"{self.text}. {remedy}")

    @property
    def text(self) -> str:
        """The problem, behind its place."""
        return f"{self.place}: {self.problem}" if self.place else self.problem


_BARE = re.compile(
    r"(invariant|transition_invariant|leads_to|reachable|lemma)\(\) takes 0 positional arguments but 1 "
)
"""What Python says of a decorator that stands without its brackets."""


class AuthorError(SpecError):
    """The author's text raised an exception: a name that does not exist, a division by zero, bad syntax."""

    def __init__(self, error: Exception, *, place: str, doing: str) -> None:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        problem = f"{doing}: {type(error).__name__}: {text}".rstrip(": ")
        bare = _BARE.match(text)
        remedy = f"Write  @{bare[1]}()  or  @{bare[1]}(source=...)" if bare else "Correct this line"
        super().__init__(problem, remedy=remedy, place=place)


def place_in(error: BaseException) -> str | None:
    """``file:line`` in the author's text from which an exception comes; None if no such text was running: the
    innermost line outside this package and libraries.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}:{error.lineno or 1}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if not one.filename.startswith((_HERE, "<", str(importlib.__file__)))]
    written = [one for one in own if not one.filename.startswith(_LIBRARY)] or own
    return f"{Path(written[-1].filename).name}:{written[-1].lineno}" if written else None


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
