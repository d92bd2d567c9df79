"""The table of a run as data: property x judge -> verdict, over how much. Console and page draw it."""

import itertools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from tidemark.checks.verdicts.result import RunResult, SourceNote
from tidemark.checks.verdicts.verdict import UNPINNED, Aspect, Judgement, Outcome

_NOUN = {
    "distinct": "states",
    "obligations": "obligations",
    "executions": "executions",
    "examples": "examples",
    "events": "events",
    "queries": "queries",
    "edges": "edges",
    "pins": "pins",
    "parts": "parts of claims",
}


def amount(counts: Mapping[str, int]) -> str:
    """The work of a verdict in words, for example ``12,345 states``."""
    for name, noun in _NOUN.items():
        if name in counts:
            count = counts[name]
            return f"{count:,} {_one(noun) if count == 1 else noun}"
    return ""


def _one(noun: str) -> str:
    if noun.startswith("parts"):
        return "part of a claim"
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun[:-1]


def total_amount(several: list[Mapping[str, int]]) -> str:
    """The work of several searches together, by kind."""
    sums: dict[str, int] = {}
    for counts in several:
        name = next((name for name in _NOUN if name in counts), None)
        if name is not None:
            sums[name] = sums.get(name, 0) + counts[name]
    return ", ".join(amount({name: count}) for name, count in sums.items())


def duration(seconds: float) -> str:
    """``0.4 s``, ``12 s``, ``3 min 05 s``, ``1 h 02 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"


@dataclass(frozen=True)
class Failure:
    """Judgements that say the same, the one to show first: with the shortest run, if there is a run."""

    judgements: tuple[Judgement, ...]

    @property
    def lead(self) -> Judgement:
        """The judgement that is shown in full."""
        return self.judgements[0]

    @property
    def others(self) -> tuple[Judgement, ...]:
        """The judgements that agree with it."""
        return self.judgements[1:]


def failures(result: RunResult) -> list[Failure]:
    """The failures of a run, the most telling first.

    A property that is refuted by two engines, or on three instances, is one failure. A pin, a mutant and a
    check of the coverage belong to their entry: two entries are two failures. What another failure has
    caused is one.
    """
    groups: dict[Hashable, list[Judgement]] = {}
    for one in result.failures:
        subject = one.verdict.subject
        entry = "" if subject.aspect is Aspect.PROPERTY else subject.instance
        key: Hashable = (subject.protocol, subject.property_id, entry, one.verdict.outcome)
        key = (subject.protocol, one.cascade) if one.cascade else key
        groups.setdefault(key, []).append(one)
    return [Failure(tuple(sorted(group, key=_steps))) for group in groups.values()]


def _steps(one: Judgement) -> float:
    trace = one.verdict.counterexample
    return float("inf") if trace is None else len(trace.steps)


_LISTED = "vacuity."
MEANINGS = "pinned-meanings"
"""The row of all claims and steps that say what is pinned."""
_ALIKE = 3
_OWN = ("obligations", "pins", "parts")
"""Counts of which each verdict has its own."""
_STRENGTH = (Outcome.INCONCLUSIVE, Outcome.HOLDS, Outcome.PROVED, Outcome.REFUTED)


@dataclass(frozen=True)
class Cell:
    """All judgements of one judge about one property."""

    judgements: tuple[Judgement, ...]

    @property
    def ok(self) -> bool:
        """Every one is as expected."""
        return all(j.ok for j in self.judgements)

    @property
    def empty(self) -> bool:
        """The judge does not answer this property."""
        return not self.judgements

    def lines(self) -> list[str]:
        """At most three lines, for example ``holds: 1,234 (2)`` and ``refuted as expected (2)``.

        The number is the greatest among the judgements; the judge's total has the unit.
        """
        return [text for text, _ in self.parts()]

    def parts(self) -> list[tuple[str, bool]]:
        """The same lines, each with whether it is as expected."""
        found: list[tuple[str, bool]] = []
        for outcome in _STRENGTH:
            for ok in (False, True):
                group = [j for j in self.judgements if j.verdict.outcome is outcome and j.ok is ok]
                if group:
                    found.append((_line(outcome, group, ok=ok), ok))
        return found


def _line(outcome: Outcome, group: Sequence[Judgement], *, ok: bool) -> str:
    times = f" ({len(group)})" if len(group) > 1 else ""
    if not ok and all(j.verdict.subject.aspect is Aspect.PIN for j in group):
        unpinned = all(UNPINNED in j.verdict.counts for j in group)
        return f"{'not pinned' if unpinned else 'NOT as pinned'}{times}"
    if not ok:
        return f"{outcome.value.upper()}{times}, expected {group[0].expected.value}"
    if outcome is Outcome.REFUTED:
        return f"refuted as expected{times}"
    biggest = max(_leading(amount(j.verdict.counts)) for j in group)
    return f"{outcome.value}: {biggest:,}{times}"


def _leading(text: str) -> int:
    digits = text.split(" ", maxsplit=1)[0].replace(",", "")
    return int(digits) if digits.isdigit() else 0


@dataclass(frozen=True)
class Row:
    """One property (or pin, or vacuity check) of one protocol, with a cell per judge."""

    protocol: str
    property_id: str
    description: str
    cells: Mapping[str, Cell]
    source: SourceNote | None = None
    frame: bool = False
    """A frame condition: no property, though it is judged."""
    kind: str = ""
    """The kind of the property, as the specification declares it; empty if it is none of a specification."""

    @property
    def is_claim(self) -> bool:
        """Is it about a property of the protocol, and not about a pin, coverage, or the like?"""
        return bool(self.description)

    @property
    def ok(self) -> bool:
        """Every cell is as expected."""
        return all(cell.ok for cell in self.cells.values())


def brief(rows: Sequence[Row]) -> list[Row]:
    """Fewer rows for a terminal: what is vacuous as the manifest lists it is one row a protocol, and so are
    the frame conditions, and three and more consecutive rows that say the same. Rows that are not as expected
    stay.
    """
    by_protocol = itertools.groupby(rows, key=lambda row: row.protocol)
    return [row for _, group in by_protocol for row in _brief(list(group))]


def _brief(rows: Sequence[Row]) -> list[Row]:
    listed = [row for row in rows if row.ok and row.property_id.startswith(_LISTED)]
    frames = [row for row in rows if row.ok and row.frame]
    kept = [row for row in rows if row not in listed and row not in frames]
    found: list[Row] = []
    for _, alike in itertools.groupby(kept, key=_content):
        group = list(alike)
        found += [_merged(group, "")] if len(group) >= _ALIKE and group[0].ok else group
    found += [_merged(frames, "frame conditions")] if frames else []
    return found + ([_merged(listed, "vacuous, as listed")] if listed else [])


def _content(row: Row) -> tuple[object, ...]:
    return (row.protocol, row.ok, *(tuple(cell.lines()) for cell in row.cells.values()))


def _merged(group: Sequence[Row], label: str) -> Row:
    """One row for several. Without a label the cells are those of each of them."""
    first = group[0]
    if not label:
        more = f"{first.property_id} and {len(group) - 1} more"
        return Row(first.protocol, more, "", first.cells)
    cells = {
        name: Cell(tuple(j for row in group for j in row.cells[name].judgements)) for name in first.cells
    }
    return Row(first.protocol, f"{label}: {len(group)}", "", cells)


@dataclass(frozen=True)
class Matrix:
    """Rows, and below each judge over how much and in how long."""

    judges: tuple[str, ...]
    rows: tuple[Row, ...]
    work: Mapping[str, str]
    seconds: Mapping[str, str]

    @property
    def properties(self) -> int:
        """How many of the rows are about a claim of a protocol that is no frame condition."""
        return sum(row.is_claim and not row.frame for row in self.rows)

    @property
    def frames(self) -> int:
        """How many are about frame conditions."""
        return sum(row.frame for row in self.rows)

    @property
    def protocols(self) -> tuple[str, ...]:
        """Names of the protocols to which the rows belong."""
        return tuple(dict.fromkeys(row.protocol for row in self.rows))


def matrix(result: RunResult) -> Matrix:
    """Arrange the judgements. Mutants are not in the table; they are counted apart."""
    mutation_judges = {j.verdict.subject.judge for j in result.judgements if j.verdict.subject.of_mutant}
    shown = [j for j in result.judgements if j.verdict.subject.judge not in mutation_judges]
    judges = tuple(dict.fromkeys(j.verdict.subject.judge for j in shown))
    keys: dict[tuple[str, str], list[Judgement]] = {}
    for j in shown:
        subject = j.verdict.subject
        # What says what is pinned is one row a protocol; what does not has a row of its own.
        name = MEANINGS if j.ok and subject.aspect is Aspect.MEANING else subject.property_id
        keys.setdefault((subject.protocol, name), []).append(j)
    protocols = list(dict.fromkeys(protocol for protocol, _ in keys))
    ordered = sorted(
        keys,
        key=lambda key: (protocols.index(key[0]), key[1].startswith("pinned-"), key[1] in result.frames),
    )
    rows = tuple(_row(*key, keys[key], judges, result) for key in ordered)
    return Matrix(
        judges=judges,
        rows=rows,
        work={name: _work(name, shown) for name in judges},
        seconds={name: duration(_seconds(name, result.task_seconds)) for name in judges},
    )


def _row(
    protocol: str,
    claim: str,
    own: Sequence[Judgement],
    judges: Sequence[str],
    result: RunResult,
) -> Row:
    cells = {name: Cell(tuple(j for j in own if j.verdict.subject.judge == name)) for name in judges}
    description, source = result.descriptions.get(claim, ""), result.sources.get(claim)
    kind = result.kinds.get(claim, "")
    return Row(protocol, claim, description, cells, source, claim in result.frames, kind)


def _per_entry(name: str, shown: Sequence[Judgement]) -> list[list[Judgement]]:
    entries: dict[str, list[Judgement]] = {}
    for j in shown:
        if j.verdict.subject.judge == name and j.verdict.subject.aspect is not Aspect.PIN:
            entries.setdefault(j.verdict.subject.instance, []).append(j)
    return list(entries.values())


def _work(name: str, shown: Sequence[Judgement]) -> str:
    """All verdicts of one search share its states; obligations and pins belong to one property each."""
    parts: list[Mapping[str, int]] = []
    for group in _per_entry(name, shown):
        own = next((name for name in _OWN if any(name in j.verdict.counts for j in group)), None)
        if own is not None:
            parts += [{own: j.verdict.counts.get(own, 0)} for j in group]
        else:
            parts.append(max((j.verdict.counts for j in group), key=lambda counts: _leading(amount(counts))))
    return total_amount(parts)


def _seconds(name: str, task_seconds: Mapping[str, float]) -> float:
    return sum(seconds for task, seconds in task_seconds.items() if task.partition("/")[0] == name)
