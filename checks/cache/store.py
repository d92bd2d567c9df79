"""Kept verdicts on disk: a file a task and key, written at once, believed only if it is whole and our own."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tidemark.checks.verdicts.sealed import DamagedError, ForeignError, read_sealed, write_sealed
from tidemark.checks.verdicts.verdict import Judgement

FORMAT = 1
FOLDER = "cache"
GENERATIONS = 4
"""Records kept of one task: going back to an earlier state of the sources finds its verdicts again."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """What is kept of one task.

    Attributes:
        task: ``judge/entry``.
        key: digest of all that the verdicts depend on.
        made_with: digest of the Python and the machine that judged.
        date: when it was judged, ISO 8601 in UTC.
        seconds: wall time of judging.
        parts: the parts of the key by name.
        judgements: the verdicts with their expectations.
    """

    task: str
    key: str
    made_with: str
    date: str
    seconds: float
    parts: dict[str, str]
    judgements: tuple[Judgement, ...]


class Store:
    """The folder of records."""

    def __init__(self, folder: Path, *, made_with: str) -> None:
        self.folder = folder
        self._made_with = made_with

    def read(self, task: str, key: str) -> Record | None:
        """The record of a task under a key; None if there is none.

        Raises:
            DamagedError: there is one, but it cannot be read, or it is not whole.
            ForeignError: it is whole, but of another format, machine or task.
        """
        path = self.path(task, key)
        record = _load(path)
        if record is None:
            return None
        if (record.task, record.key, record.made_with) != (task, key, self._made_with):
            raise ForeignError(f"{path.name}: of another task, key or machine")
        return record

    def write(self, record: Record) -> None:
        """Keep a record, and of its task only the newest. Raises OSError."""
        plain = {**vars(record), "judgements": [one.model_dump(mode="json") for one in record.judgements]}
        body = json.dumps(plain, sort_keys=True)
        write_sealed(self.path(record.task, record.key), body, version=FORMAT)
        for old in self._of(record.task)[GENERATIONS:]:
            with suppress(OSError):
                old.unlink()

    def latest(self, task: str) -> Record | None:
        """The record that was written last for a task, whatever its key."""
        for path in self._of(task):
            with suppress(DamagedError, ForeignError):
                return _load(path)
        return None

    def path(self, task: str, key: str) -> Path:
        """Where the record of a task under a key is."""
        return self.folder / f"{_file_name(task)}.{key[:20]}.json"

    def _of(self, task: str) -> list[Path]:
        """The records of a task, newest first."""
        found = []
        for path in self.folder.glob(f"{_file_name(task)}.{'[0-9a-f]' * 20}.json"):
            with suppress(OSError):
                found.append((path.stat().st_mtime_ns, path))
        return [path for _, path in sorted(found, reverse=True)]


def _load(path: Path) -> Record | None:
    body = read_sealed(path, version=FORMAT)
    if body is None:
        return None
    try:
        plain = json.loads(body)
        found = tuple(Judgement.model_validate(one) for one in plain.pop("judgements"))
        return Record(judgements=found, **plain)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedError(f"{path.name}: {error}") from error


def survives(found: tuple[Judgement, ...]) -> bool:
    """Reading back what would be written, and writing it again, gives the same text: nothing is lost there.

    A tuple may come back as a list, where the model says no more than "any value".
    """
    texts = [one.model_dump_json() for one in found]
    try:
        again = [Judgement.model_validate_json(text) for text in texts]
    except ValueError:
        return False
    return texts == [one.model_dump_json() for one in again]


def _file_name(task: str) -> str:
    return re.sub(r"[^A-Za-z0-9_+-]+", "-", task)
