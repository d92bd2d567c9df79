"""What specifications and manifests say in words, for the report of a run."""

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.result import SourceNote, source_note
from tidemark.models.manifest import MutantEntry
from tidemark.models.rooms import ROOT
from tidemark.spec.language.protocol import resolve

Said = Callable[[str, Callable[[], Any]], Any]
"""Gives what the properties of a protocol say, computed now or known from an earlier run."""


class Texts(NamedTuple):
    """What the specification and the manifest say in words."""

    descriptions: dict[str, str]
    sources: dict[str, SourceNote]
    places: dict[str, str]
    kinds: dict[str, str]
    frames: list[str]
    """Ids of the frame conditions."""


def texts_of(tasks: Sequence[Task], said: Said) -> Texts:
    """What each pinned property says and where it comes from, and where the mutants come from."""
    found = Texts({}, {}, {}, {}, [])
    for protocol in dict.fromkeys(task.manifest.protocol for task in tasks):
        for claim, kind, description, frame, source, path, line in said(protocol, partial(_said, protocol)):
            found.descriptions[claim] = description
            found.kinds[claim] = kind
            found.places[claim] = f"{_shown(Path(path))}:{line}"
            found.frames.extend([claim] if frame else [])
            if source:
                found.sources[claim] = source_note(source, protocol=protocol)
    for task in tasks:
        if isinstance(task.entry, MutantEntry):
            found.sources[task.entry.name] = source_note(task.entry.source, protocol=task.manifest.protocol)
    return found


def _said(protocol: str) -> list[list[Any]]:
    """Of each property its id, kind, description, whether it is a frame condition, source, file and line."""
    cls = resolve(protocol)
    return [
        [
            prop.id,
            prop.kind,
            prop.description,
            prop.frame is not None,
            prop.source,
            *_place(getattr(cls, prop.id.partition(".")[2])),
        ]
        for prop in cls.trace().properties
    ]


def _place(method: Any) -> tuple[str, int]:
    """File and line of a property."""
    code = inspect.unwrap(method).__code__
    return str(Path(code.co_filename).resolve()), code.co_firstlineno


def _shown(path: Path) -> str:
    """The path from the present folder, or from that of the package."""
    root = next((folder for folder in (Path.cwd(), ROOT) if path.is_relative_to(folder)), path.parent)
    return path.relative_to(root).as_posix()
