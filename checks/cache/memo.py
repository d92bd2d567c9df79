"""Results of slow pure functions of files, kept between runs: what a file imports, the digest of a protocol.

An entry is valid for the digest of what it was computed from. A damaged file is empty, and a folder that
cannot be written costs only time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tidemark.checks.verdicts.sealed import DamagedError, ForeignError, read_sealed, write_sealed

FORMAT = 2
NAME = "computed.json"


class Memo:
    """The table; ``folder`` None keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / NAME
        self._entries: dict[str, list[Any]] = {}
        self._changed = False
        self.problem = ""
        if self._path is not None:
            try:
                body = read_sealed(self._path, version=FORMAT)
                self._entries = json.loads(body) if body is not None else {}
            except (DamagedError, ForeignError, ValueError) as error:
                self.problem = str(error)

    def get(self, name: str, of: str, compute: Callable[[], Any]) -> Any:
        """The value (plain JSON) for ``name``; computed, unless it was so from the same digest ``of``."""
        known = self._entries.get(name)
        if known is not None and known[0] == of:
            return known[1]
        value = compute()
        self._entries[name] = [of, value]
        self._changed = True
        return value

    def save(self) -> None:
        """Write the table if it has changed."""
        if self._path is not None and self._changed:
            with suppress(OSError):
                write_sealed(self._path, json.dumps(self._entries, sort_keys=True), version=FORMAT)
                self._changed = False
