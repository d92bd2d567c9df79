"""What became of a mutant of the implementation.

Trials that are kept, so that a long run can be stopped and continued, and its table printed again.

A journal is good as long as no file of the implementation, its programs and its judges has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

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


FATE = "fate: "
"""How the note of a verdict begins that says what became of the mutant."""
BY = ", by "
"""What is before the entry that has killed it, in that note."""
REVIEWED = "reviewed: "
"""How the note begins that says why it need not be killed."""


class Fate(StrEnum):
    """The answers that a mutant can get. Only ``KILLED`` names what is wrong."""

    KILLED = "killed"
    """A judge refutes a claim."""
    COUNTED = "by count"
    """The gate is red, but only because a pinned count, a witness or a coverage changed."""
    REFUSED = "by refusal"
    """The gate is red because a judge, or its adapter for the implementation, ended with an error."""
    ENDLESS = "endless"
    """One step of the mutant does not end."""
    SURVIVED = "survived"
    """Every judge says what it says of the real code."""
    UNREACHED = "unreached"
    """No judge runs the changed statement."""
    LATE = "timed out"
    """A limit was reached; nothing is known."""
    BROKEN = "not tried"
    """The process that tried it failed: says nothing about the mutant."""


NOTICED = frozenset({Fate.KILLED, Fate.COUNTED, Fate.REFUSED, Fate.ENDLESS})
"""The gate would be red."""
UNNOTICED = frozenset({Fate.SURVIVED, Fate.UNREACHED})
"""The gate would be green."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One mutant, tried.

    host: the entry that decided; empty if none did. claim: what it refutes. words: what was seen.
    tried: the hosts that were run, in order. seconds: processor time.
    """

    id: str
    fate: Fate
    host: str = ""
    claim: str = ""
    words: str = ""
    tried: tuple[str, ...] = ()
    seconds: float = 0.0

    def __str__(self) -> str:
        by = f" by {self.host}: {self.claim}" if self.claim else f" ({self.host})" if self.host else ""
        words = f"; {self.words}" if self.words else ""
        return f"{self.id}: {self.fate.value}{by}{words}"


@dataclass(frozen=True)
class FateCounts:
    """Mutants by fate."""

    fates: Counter[Fate]
    equivalent: int = 0
    """Those among the unnoticed that are reviewed: nothing can tell them apart."""

    @classmethod
    def of(cls, trials: Iterable[Trial], equivalent: Iterable[str] = ()) -> FateCounts:
        """Count; ``equivalent`` are the ids of the reviewed ones."""
        found = list(trials)
        reviewed = set(equivalent)
        same = sum(trial.id in reviewed for trial in found)
        return cls(Counter(trial.fate for trial in found if trial.id not in reviewed), same)

    @property
    def total(self) -> int:
        """All that were made."""
        return self.fates.total() + self.equivalent

    @property
    def share(self) -> float:
        """Killed by a claim, of those that are not equivalent; 1 if there are none."""
        return self.fates[Fate.KILLED] / self.fates.total() if self.fates else 1.0

    def __str__(self) -> str:
        parts = [f"{self.fates[fate]} {fate.value}" for fate in Fate if self.fates[fate]]
        parts += [f"{self.equivalent} equivalent"] if self.equivalent else []
        return f"{self.total} mutants: {', '.join(parts) or 'none'}"
