"""From what is stored, and what readers and collector do, to the state of ``tidemark.spec.garbage``."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.types import ChannelRecord
from tidemark.models.refinement.origins import Environment


@dataclass(frozen=True)
class GarbageView:
    """What is stored, read and about to be deleted; files by their terms.

    Attributes:
        files, written: what is in the object store, and what was put there once.
        given: what readers have been given, and have not read.
        deleting: what the collector has told the object store to delete.
        named, replaced: what a stored record names, and has named before a compaction.
        record: of the channel, as it is stored.
        first: the first term of the present collection, or of the next one.
    """

    files: tuple[int, ...]
    written: tuple[int, ...]
    given: tuple[int, ...]
    deleting: tuple[int, ...]
    named: tuple[int, ...]
    replaced: tuple[int, ...]
    record: ChannelRecord
    first: int


def named_in(stored: MemoryMetaStore) -> tuple[int, ...]:
    """The files that a stored record names, by their terms."""
    return terms_of(one.path for record in stored.segments.values() for one in record.binlogs)


def replaced_in(stored: MemoryMetaStore) -> tuple[int, ...]:
    """The files of segments that were compacted: a segment is that of a term."""
    return tuple(sorted(number for number, record in stored.segments.items() if record.dropped))


def terms_of(paths: Iterable[str]) -> tuple[int, ...]:
    """The terms in the names of files, in order."""
    return tuple(sorted(int(path.partition("/term-")[2].partition("-")[0]) for path in paths))


def abstract(view: GarbageView, *, terms: int) -> dict[str, Any]:
    """The state of ``tidemark.spec.garbage``, by variable name and without the fault counter."""
    every, record = range(terms + 1), view.record
    life = "gone" if record.collected else "dropped" if record.dropped else "living"
    return {
        "stored": {f: f in view.files for f in every},
        "written": {f: f in view.written for f in every},
        "reading": {(0, f): f in view.given for f in every},
        "life": life,
        "term": record.term,
        "first": view.first,
        "entry": {
            f: "named" if f in view.named else "replaced" if f in view.replaced else "none" for f in every
        },
        "marked": {f: f in view.deleting for f in every},
    }


ENVIRONMENT = Environment(
    "spec/garbage:Garbage",
    {
        "stored, written": "the object store",
        "reading": "what a reader has yet to read; what it was lent may be more",
        "first": "a history: which term the last drop has ended",
        "marked": "deletions that are on their way to the object store",
    },
)
"""What is not read from the implementation, and why."""
