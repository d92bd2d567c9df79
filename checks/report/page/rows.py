"""The table of the page: a section a protocol, in it the rows by kind of property."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.checks.report.matrix import MEANINGS, Cell, Matrix, Row
from tidemark.checks.verdicts.verdict import COVERAGE, Aspect

KINDS = {
    "invariant": "invariant",
    "transition_invariant": "transition invariant",
    "leads_to": "liveness",
    "reachable": "witness",
    "lemma": "lemma",
    "implementation": "claim of the implementation",
    "frame": "frame condition",
    "argument": "assumption",
    "obligation": "obligation",
    "vacuity": "coverage",
    "pin": "pin",
}
"""Kinds of rows in the order of the page, and what they are called."""

_WORDS = {
    "pinned-claims": "The judge answered exactly the claims that the manifest lists.",
    "pinned-counts": "The counts (states, steps, executions) are those that the manifest pins.",
    MEANINGS: "Claims, steps and variants say what the lock of claims says.",
    COVERAGE: "Each action was taken, each conjunct of a guard was false once, no variable is constant.",
    "controls": "A mutant that changes nothing is not killed.",
    "generated-mutants": "The mutants made by rule are those that are pinned.",
    "implementation-mutants": "The mutants of the implementation are those that are pinned.",
    "execution": "No execution ends in an exception, a deadlock or a leaked task.",
    "refinement": "Each step of the implementation is a step of the specification, or changes nothing.",
    "conformance": "After each step the implementation is in a state that the specification allows.",
}
"""What the rows say that are no property of a specification."""


@dataclass(frozen=True)
class Line:
    """One outcome within a cell; ``ok`` is false for one that is not as expected."""

    text: str
    ok: bool


@dataclass(frozen=True)
class Shown:
    """A row with its kind (a key of KINDS) and its words."""

    row: Row
    kind: str
    words: str

    @property
    def label(self) -> str:
        """The kind in words."""
        return KINDS[self.kind]


@dataclass(frozen=True)
class Section:
    """The rows of a protocol, and the judges that answered one of them."""

    protocol: str
    judges: tuple[str, ...]
    rows: tuple[Shown, ...]

    @property
    def ok(self) -> bool:
        """Every row is as expected."""
        return all(shown.row.ok for shown in self.rows)

    @property
    def summary(self) -> str:
        """How many rows there are of each kind."""
        parts = []
        for kind, group in itertools.groupby(self.rows, key=lambda shown: shown.kind):
            number = len(list(group))
            parts.append(f"{number} {_plural(KINDS[kind], number)}")
        return ", ".join(parts)


def _plural(word: str, number: int) -> str:
    if number == 1 or word in ("coverage", "liveness"):
        return word
    if word == "witness":
        return "witnesses"
    return word.replace("claim", "claims", 1) if word.startswith("claim") else f"{word}s"


def sections(arranged: Matrix) -> list[Section]:
    """The rows of a table by protocol, in the order of the kinds."""
    found = []
    for protocol, group in itertools.groupby(arranged.rows, key=lambda row: row.protocol):
        rows = [Shown(row, kind_of(row), row.description or _words(row)) for row in group]
        order = list(KINDS)
        rows.sort(key=lambda shown: order.index(shown.kind))
        judges = [name for name in arranged.judges if any(not s.row.cells[name].empty for s in rows)]
        found.append(Section(protocol, tuple(judges), tuple(rows)))
    return found


def kind_of(row: Row) -> str:
    """The key of KINDS that a row has."""
    if row.frame:
        return "frame"
    if row.kind:
        return row.kind
    aspects = {j.verdict.subject.aspect for cell in row.cells.values() for j in cell.judgements}
    judges = {j.verdict.subject.judge for cell in row.cells.values() for j in cell.judgements}
    if aspects & {Aspect.PIN, Aspect.MEANING}:
        return "pin"
    if "argue" in judges:
        return "argument"
    if Aspect.VACUITY in aspects:
        return "vacuity"
    return "obligation" if Aspect.OBLIGATION in aspects else "implementation"


def _words(row: Row) -> str:
    name = row.property_id
    action = name.removeprefix("vacuity.action.")
    if action != name:
        return f"The action {action} was taken."
    return _WORDS.get(name, "")


def lines(cell: Cell) -> Sequence[Line]:
    """The outcomes within a cell, each with its own colour."""
    return [Line(text, ok) for text, ok in cell.parts()]
