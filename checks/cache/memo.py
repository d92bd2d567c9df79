"""Results of slow pure functions of files, kept between runs: what a file imports, the digest of a protocol.

An entry is valid for the digest of what it was computed from. A damaged file is empty, and a folder that
cannot be written costs only time. What is computed from files of this package alone is kept a second time,
beside the package's compiled code, so that a new build folder does not begin with reading the whole package.
"""

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tidemark.checks.verdicts.sealed import DamagedError, ForeignError, read_sealed, write_sealed

FORMAT = 2
NAME = "computed.json"

BESIDE = Path(__file__).parent / "__pycache__" / "computed.memo"
"""Beside what Python has compiled from this package; no data file, which would travel with its code."""


class Memo:
    """The table.

    Args:
        folder: where the table of this build is; None keeps nothing.
        beside: the file with the table of the package; None keeps none. It has what ``ours`` is said of.
    """

    def __init__(self, folder: Path | None, *, beside: Path | None = None) -> None:
        self._own = _Table(None if folder is None else folder / NAME)
        self._beside = _Table(beside)
        self.problem = self._own.problem

    def get(self, name: str, of: str, compute: Callable[[], Any], *, ours: bool = False) -> Any:
        """The value (plain JSON) for ``name``; computed, unless it was so from the same digest ``of``."""
        tables = (self._own, self._beside) if ours else (self._own,)
        known = next((table.entries[name] for table in tables if table.has(name, of)), None)
        value = compute() if known is None else known[1]
        for table in tables:
            table.put(name, of, value)
        return value

    def save(self) -> None:
        """Write the tables if they have changed."""
        self._own.save()
        if not sys.dont_write_bytecode:
            self._beside.save()


class _Table:
    """One file; ``path`` None is no file."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.entries: dict[str, list[Any]] = {}
        self.problem = ""
        self._changed = False
        if self._path is not None:
            try:
                body = read_sealed(self._path, version=FORMAT)
                self.entries = json.loads(body) if body is not None else {}
            except (DamagedError, ForeignError, ValueError) as error:
                self.problem = str(error)

    def has(self, name: str, of: str) -> bool:
        """The value is known for this digest."""
        return name in self.entries and self.entries[name][0] == of

    def put(self, name: str, of: str, value: Any) -> None:
        """Keep the value, unless it is known."""
        if not self.has(name, of):
            self.entries[name] = [of, value]
            self._changed = True

    def save(self) -> None:
        """Write the file if it has changed and there is one."""
        if self._path is not None and self._changed:
            with suppress(OSError):
                write_sealed(self._path, json.dumps(self.entries, sort_keys=True), version=FORMAT)
                self._changed = False
