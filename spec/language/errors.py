"""Errors of the specification language: each names the place in the protocol's text, the value and the remedy."""

import linecache
import sys
from pathlib import Path

_HERE = str(Path(__file__).parent)


class SpecError(Exception):
    """A protocol text that has no meaning.

    ``place`` is ``file:line`` (file name only) in the protocol's own source, ``remedy`` says what to write instead.
    """

    def __init__(self, message: str, *, remedy: str, place: str | None = None) -> None:
        self.problem = message
        self.remedy = remedy
        self.place = place if place is not None else caller_place()
        super().__init__(f"{self.place}: {message}. {remedy}")


def _caller() -> tuple[str, int] | None:
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_HERE) and not name.startswith("<"):
            return name, frame.f_lineno
        if frame.f_back is None:
            return None
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
