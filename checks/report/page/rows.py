"""The table of the page: a section a protocol, in it the rows by kind of property."""

import itertools
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.checks.mutation.implementation.fate import BY, FATE, REVIEWED
from tidemark.checks.report.forms.bundle import bundle_id
from tidemark.checks.report.matrix import MEANINGS, Cell, Matrix, Row
from tidemark.checks.verdicts.counterexample import Axes, Counterexample, Value, index_text, show
from tidemark.checks.verdicts.result import RunResult, SourceNote
from tidemark.checks.verdicts.verdict import COVERAGE, Aspect, Judgement, Outcome, Verdict
from tidemark.models.findings import Finding, finding_files, load_findings
from tidemark.models.rooms import ROOT
from tidemark.models.sources import PAGE, repository_catalogue

_MOST = 24
"""Lines of source that are shown of one property."""


def runs_page(protocol: str) -> str:
    """The name of the page with the expected runs of a protocol."""
    return f"runs-{protocol}.html"


def run_anchor(verdict: Verdict) -> str:
    """The name of the place on its page at which a counterexample is."""
    return f"run-{bundle_id(verdict)}"


def has_expected_run(one: Judgement) -> bool:
    """Is it a refutation that has to be, with a counterexample? Then it is on the page of runs."""
    return one.ok and one.verdict.outcome is Outcome.REFUTED and one.verdict.counterexample is not None


def run_link(one: Judgement) -> str:
    """The link from the index to the counterexample of a refutation."""
    page = runs_page(one.verdict.subject.protocol) if has_expected_run(one) else ""
    return f"{page}#{run_anchor(one.verdict)}"


@dataclass(frozen=True)
class Links:
    """``here``: the folder of the page. ``places``: property -> ``path:line``."""

    here: Path
    places: Mapping[str, str]

    def source(self, name: str) -> str:
        """Relative link to the line that declares a property; empty if it is not known or not there."""
        path, line = self._place(name)
        return "" if path is None else f"{self._to(path)}#L{line}"

    def sources_page(self) -> str:
        """Relative link to ``docs/sources.md``; empty where only the packages are installed."""
        page = ROOT / PAGE
        return self._to(page) if page.exists() else ""

    def snippet(self, name: str) -> str:
        """The text of a property as its author wrote it; empty if it is not there."""
        path, line = self._place(name)
        if path is None:
            return ""
        rest = path.read_text(encoding="utf-8").splitlines()[line - 1 :]
        indent = len(rest[0]) - len(rest[0].lstrip()) if rest else 0
        found: list[str] = []
        begun = False
        for text in rest[:_MOST]:
            outside = text.strip() and len(text) - len(text.lstrip()) <= indent
            if begun and outside and not re.match(r"\s*\)", text):
                break
            begun = begun or text.lstrip().startswith(("def ", "async def "))
            found.append(text[indent:])
        return "\n".join(found).rstrip()

    def _place(self, name: str) -> tuple[Path | None, int]:
        text, _, line = self.places.get(name, "").rpartition(":")
        paths = (folder / text for folder in (Path.cwd(), ROOT)) if text else ()
        path = next((path for path in paths if path.is_file()), None)
        return path, int(line) if path is not None else 0

    def _to(self, path: Path) -> str:
        return Path(os.path.relpath(path, self.here.absolute())).as_posix()


_JUDGES = ("explore", "mutate", "prove")
"""Judges of the entries that a finding may name."""


@dataclass(frozen=True, kw_only=True)
class Decided:
    """A verdict that a finding rests on; ``link`` leads to its run, if it has one."""

    claim: str
    entry: str
    outcome: str
    link: str


@dataclass(frozen=True, kw_only=True)
class ShownFinding:
    """A finding as the page shows it."""

    title: str
    source: SourceNote
    text: str
    decided: tuple[Decided, ...]


def findings_with_runs(result: RunResult) -> list[ShownFinding]:
    """The findings that this run decided; those that rest on an entry that was not run are left out."""
    judged: dict[tuple[str, str, str], Judgement] = {}
    for judgement in result.judgements:
        subject = judgement.verdict.subject
        if subject.judge in _JUDGES and subject.aspect in (Aspect.PROPERTY, Aspect.MUTANT):
            judged[subject.protocol, subject.instance, subject.property_id] = judgement
    folders = {protocol for protocol, _, _ in judged}
    books = [load_findings(path) for path in finding_files() if path.parents[1].name in folders]
    shown = [(book.manifest, finding) for book in books for finding in book.finding]
    return [
        _shown(finding, [judged[manifest, e.entry, e.claim] for e in finding.evidence])
        for manifest, finding in shown
        if all((manifest, e.entry, e.claim) in judged for e in finding.evidence)
    ]


def _shown(finding: Finding, judged: list[Judgement]) -> ShownFinding:
    decided = tuple(
        Decided(
            claim=one.verdict.subject.property_id,
            entry=one.verdict.subject.instance,
            outcome=one.verdict.outcome.value,
            link=run_link(one) if one.verdict.outcome is Outcome.REFUTED else "",
        )
        for one in judged
    )
    # An installed package has no page of the sources.
    links = tuple(entry.link for entry in repository_catalogue().known(finding.source))
    return ShownFinding(
        title=finding.title,
        source=SourceNote(text=finding.source, links=links),
        text=finding.text.strip(),
        decided=decided,
    )


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
        fates=_words_of_slip(Counter(fate for fate, _, _ in told)),
        killers=_words_of_slip(Counter(host for _, _, host in told if host)),
        reviewed=sum(note.startswith(REVIEWED) for note in notes),
    )


def _words_of_slip(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.most_common())


def run_data(trace: Counterexample) -> dict[str, Any]:
    """``fields`` (an entry of a map is a field), their values at the start, and for each step its label and
    ``[field number, new value]`` for what it changes.
    """
    first = _flat(trace, trace.initial)
    numbers = {name: number for number, name in enumerate(first)}
    steps = []
    before = first
    for step in trace.steps:
        after = _flat(trace, step.after)
        changed = [[numbers[name], value] for name, value in after.items() if before.get(name) != value]
        steps.append([step.label, changed])
        before = after
    return {"fields": list(first), "first": list(first.values()), "steps": steps}


def _flat(trace: Counterexample, state: dict[str, Value]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in state.items():
        axes: Axes | None = trace.axes.get(name)
        if isinstance(value, tuple) and len(value) == len(_kept(trace.initial[name])):
            found |= {f"{name}[{index_text(at, axes)}]": show(item) for at, item in enumerate(value)}
        else:
            found[name] = show(value)
    return found


def _kept(value: Value) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else ()


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
