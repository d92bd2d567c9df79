"""The table of the page on mutants of the implementation: what became of those that were tried, by file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.checks.mutation.implementation.fate import BY, FATE, REVIEWED
from tidemark.checks.verdicts.verdict import Aspect, Judgement


@dataclass(frozen=True)
class Slips:
    """The mutants of one file.

    Attributes:
        file: below ``impl``.
        fates: how many came out how, the most frequent first: "killed" by a claim of a judge, and others.
        killers: by judged entry how many it has killed.
        reviewed: those that need not be killed, for a reason.
    """

    file: str
    tried: int
    fates: str
    killers: str
    reviewed: int


def slips(judgements: Sequence[Judgement]) -> list[Slips]:
    """A row for each file of which mutants were tried, by name."""
    by_file: dict[str, list[Judgement]] = {}
    for one in judgements:
        if one.verdict.subject.aspect is Aspect.SLIP:
            by_file.setdefault(one.verdict.subject.property_id.partition(":")[0], []).append(one)
    return [_row(file, group) for file, group in sorted(by_file.items())]


def _row(file: str, group: Sequence[Judgement]) -> Slips:
    notes = [note for one in group for note in one.verdict.notes]
    told = [note.removeprefix(FATE).partition(BY) for note in notes if note.startswith(FATE)]
    return Slips(
        file=file,
        tried=len(group),
        fates=_words(Counter(fate for fate, _, _ in told)),
        killers=_words(Counter(host for _, _, host in told if host)),
        reviewed=sum(note.startswith(REVIEWED) for note in notes),
    )


def _words(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.most_common())
