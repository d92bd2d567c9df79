"""Errors of the specification language: each names the place in the text, the value and the remedy."""

import difflib
import importlib
import linecache
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable
from itertools import islice
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
        self.excerpt = _caller_excerpt() if place is None else ""
        """The line with a mark below the part that is meant, each on a line of its own; empty without one."""
        super().__init__(f"{self.text}. {remedy}")

    @property
    def text(self) -> str:
        """The problem, behind its place."""
        return f"{self.place}: {self.problem}" if self.place else self.problem


_QUOTED = re.compile(r"'([\w.]+)'")
_BARE = re.compile(
    r"(invariant|transition_invariant|leads_to|reachable|lemma)\(\) takes 0 positional arguments but 1 "
)
"""What Python says of a decorator that stands without its brackets."""


class AuthorError(SpecError):
    """The author's text raised an exception: a name that does not exist, a division by zero, bad syntax."""

    def __init__(self, error: Exception, *, place: str, doing: str) -> None:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        problem = f"{doing}: {type(error).__name__}: {text}".rstrip(": ")
        super().__init__(problem, remedy=_remedy(error, text), place=place)
        self.excerpt = _excerpt_in(error)


def _remedy(error: Exception, text: str) -> str:
    if bare := _BARE.match(text):
        return f"Write  @{bare[1]}()  or  @{bare[1]}(source=...)"
    if "'SortType' object is not iterable" in text:
        return "Write  forall(s.Node, lambda node: ...)  for a condition,  each  for an update"
    if isinstance(error, NameError | ImportError):
        from tidemark.spec import language  # not at the top: the language raises these errors

        known = (*language.__all__, language.__name__)
        wanted = _QUOTED.findall(text)
        near = [word for name in wanted for word in difflib.get_close_matches(name, known, n=1, cutoff=0.7)]
        if near:
            return f"Did you mean {near[0]!r}?"
        if any(name in known for name in wanted):
            return f"Write  from {language.__name__} import {wanted[0]}"
    return "Correct this line"


def place_in(error: BaseException) -> str | None:
    """``file:line`` in the author's text from which an exception comes; None if no such text was running: the
    innermost line outside this package and libraries.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}:{error.lineno or 1}"
    frame = _frame_in(error)
    return f"{Path(frame.filename).name}:{frame.lineno}" if frame else None


def _frame_in(error: BaseException) -> traceback.FrameSummary | None:
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if not one.filename.startswith((_HERE, "<", str(importlib.__file__)))]
    written = [one for one in own if not one.filename.startswith(_LIBRARY)] or own
    return written[-1] if written else None


def _excerpt_in(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename and error.offset:
        return _excerpt(error.filename, error.lineno, error.offset - 1, (error.end_offset or 0) - 1)
    frame = _frame_in(error)
    return _excerpt(frame.filename, frame.lineno, frame.colno, frame.end_colno) if frame else ""


def _caller_excerpt() -> str:
    frame = _caller()
    if frame is None:
        return ""
    positions = islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
    line, last, begin, end = next(positions, (None, None, None, None))
    return _excerpt(frame.f_code.co_filename, line, begin, end if last == line else None)


def _excerpt(file: str, line: int | None, begin: int | None, end: int | None) -> str:
    """``begin`` and ``end`` count bytes of the line, as Python does."""
    text = linecache.getline(file, line or 0).rstrip()
    if not text or begin is None:
        return ""
    left = len(text) - len(text.lstrip())
    first = len(text.encode()[:begin].decode(errors="ignore"))
    width = len(text.encode()[begin:end].decode(errors="ignore")) if end is None or end > begin else 1
    return f"\n    {text.lstrip()}\n    {' ' * max(0, first - left)}{'^' * width}"


def _caller() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the cheap way to the author's line
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_HERE) and not name.startswith("<"):
            return frame
        frame = frame.f_back
    return None


def caller_place() -> str:
    """``file:line`` of the innermost frame outside the language package: where the author wrote it."""
    found = _caller()
    return f"{Path(found.f_code.co_filename).name}:{found.f_lineno}" if found else "unknown place"


def caller_text() -> str:
    """The source line of the author's statement, stripped; empty if the source is not at hand."""
    found = _caller()
    return linecache.getline(found.f_code.co_filename, found.f_lineno).strip() if found else ""


def place_of(function: Callable[..., Any] | None) -> str:
    """``file:line`` at which a function is defined (its decorator, if it has one)."""
    code = getattr(function, "__code__", None)
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}" if code is not None else "unknown place"
