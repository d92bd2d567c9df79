"""Which lines are judged: those of protocols, implementations, mappings and programs, ours and a user's."""

import functools
import inspect
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tidemark.models.rooms import ROOT

_JUDGED = tuple(ROOT / room for room in ("spec", "impl", "models/protocols"))
"""Folders of ours whose text is judged, like a user's."""

_OURS = tuple(ROOT / room for room in ("spec/language", "models", "checks", "bench"))

_LIBRARY = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def judged_place(error: BaseException) -> str:
    """``file:line`` of the innermost line of judged text that was running; empty if none was."""
    places = [
        f"{Path(frame.filename).name}:{frame.lineno}"
        for one in _parts(error)
        for frame in traceback.extract_tb(one.__traceback__)
        if _is_judged(frame.filename)
    ]
    return places[-1] if places else ""


def _parts(error: BaseException) -> Iterator[BaseException]:
    """The exception, or those of a group."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _parts(one)
    else:
        yield error


def _is_judged(filename: str) -> bool:
    if filename.startswith("<"):
        return False
    path = Path(filename).resolve()
    if any(path.is_relative_to(room) for room in _JUDGED):
        return not path.is_relative_to(ROOT / "spec" / "language")
    return not any(path.is_relative_to(room) for room in (*_OURS, *_LIBRARY))


def place_of(function: Any) -> str:
    """``file:line`` where a function or a class begins; empty if it is not known."""
    found = inspect.unwrap(function.func if isinstance(function, functools.partial) else function)
    code = getattr(found, "__code__", None)
    if code is not None:
        return f"{Path(code.co_filename).name}:{code.co_firstlineno}"
    try:
        return f"{Path(inspect.getfile(found)).name}:{inspect.getsourcelines(found)[1]}"
    except (OSError, TypeError):
        return ""
