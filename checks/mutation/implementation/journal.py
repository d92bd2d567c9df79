"""Trials that are kept, so that a long run can be stopped and continued, and its table printed again.

A journal is good as long as no file of the implementation, its programs and its judges has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path

from tidemark.checks.mutation.implementation.fate import Fate, Trial
from tidemark.models.rooms import files

FOLDER = "mutants"


@cache
def code_digest() -> str:
    """Hash of all code and all manifests."""
    found = hashlib.sha256()
    for path in files(suffixes=frozenset({".py", ".toml"})):
        found.update(path.as_posix().encode())
        found.update(path.read_bytes())
    return found.hexdigest()


class Journal:
    """The trials of one entry in ``build/mutants/ENTRY.jsonl``. Those of other code are left out.

    The gate and ``tidemark mutants`` have the same one: the file of the entry that names the files.
    """

    def __init__(self, build: Path, entry: str, *, seed: int = 0) -> None:
        """``seed``: of the hosts; with another one the same mutants may die elsewhere."""
        self.path = build / FOLDER / (f"{entry}.jsonl" if not seed else f"{entry}.seed-{seed}.jsonl")

    def trials(self) -> Iterator[Trial]:
        """What was kept; a line that is cut short is left out."""
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                content = json.loads(line)
            except ValueError:
                continue
            if content.pop("code", "") == code_digest():
                content["fate"] = Fate(content["fate"])
                content["tried"] = tuple(content["tried"])
                yield Trial(**content)

    def keep(self, trial: Trial) -> None:
        """Add one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"code": code_digest(), **asdict(trial)})
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
