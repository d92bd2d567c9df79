"""The table of the mutants of the implementation: per file and per room, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.checks.mutation.implementation.fate import Fate, Trial

COLUMNS = (
    "file",
    "made",
    "equivalent",
    "killed",
    "by count",
    "by refusal",
    "endless",
    "survived",
    "unreached",
    "undecided",
    "killed of the rest",
)
JUDGES = "killed by"
"""The column that is there if the entries' judges are known."""


@dataclass(frozen=True)
class Row:
    """Mutants of one file, or of several together. ``rest``: those that are not equivalent."""

    name: str
    fates: Counter[Fate]
    equivalent: int
    hosts: Counter[str] = field(default_factory=Counter)
    """How many each entry has killed."""

    @classmethod
    def of(cls, name: str, trials: Iterable[Trial], equivalent: Collection[str]) -> Row:
        """Count the trials of a file."""
        found = list(trials)
        rest = [trial for trial in found if trial.id not in equivalent]
        fates = Counter(trial.fate for trial in rest)
        hosts = Counter(trial.host for trial in rest if trial.fate is Fate.KILLED)
        return cls(name, fates, len(found) - len(rest), hosts)

    def judges(self, judges: Mapping[str, str]) -> str:
        """How many each judge has killed; ``judges``: the judge of each entry."""
        killed: Counter[str] = Counter()
        for host, number in self.hosts.items():
            killed[judges.get(host, "?")] += number
        return ", ".join(f"{judge} {number}" for judge, number in killed.most_common()) or "-"

    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        fates, rest = self.fates, self.fates.total()
        undecided = fates[Fate.LATE] + fates[Fate.BROKEN]
        share = f"{fates[Fate.KILLED] / rest:.1%}" if rest else "-"
        shown = (Fate.KILLED, Fate.COUNTED, Fate.REFUSED, Fate.ENDLESS, Fate.SURVIVED, Fate.UNREACHED)
        numbers = (rest + self.equivalent, self.equivalent, *(fates[fate] for fate in shown), undecided)
        return (self.name, *map(str, numbers), share)


def rows(trials: Sequence[Trial], equivalent: Collection[str]) -> Iterator[Row]:
    """A row per file, one per room (the first folder) that has several files, and one for all."""
    files = list(dict.fromkeys(_file(trial) for trial in trials))
    rooms = list(dict.fromkeys(room_of(file) for file in files))
    for room in rooms:
        inside = [file for file in files if room_of(file) == room]
        for file in inside:
            yield Row.of(file, (t for t in trials if _file(t) == file), equivalent)
        if len(inside) > 1:
            yield Row.of(f"**{room}**", (t for t in trials if _file(t) in inside), equivalent)
    if len(rooms) > 1:
        yield Row.of("**all**", trials, equivalent)


def _file(trial: Trial) -> str:
    return trial.id.partition(":")[0]


def room_of(file: str) -> str:
    """The folder of a file or of a mutant; ``shared`` for the files above the folders."""
    return file.partition("/")[0] if "/" in file else "shared"


def table_text(
    trials: Sequence[Trial],
    equivalent: Collection[str],
    *,
    judges: Mapping[str, str] | None = None,
) -> str:
    """The table as Markdown, with a last column if ``judges`` names the judge of each entry."""
    shown = list(rows(trials, equivalent))
    found = [COLUMNS, *(row.cells() for row in shown)]
    if judges is not None:
        found = _with(found, JUDGES, [row.judges(judges) for row in shown])
    lines = [found[0], ("---", *("---:" for _ in found[0][1:])), *found[1:]]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _with(found: Sequence[tuple[str, ...]], head: str, column: Sequence[str]) -> list[tuple[str, ...]]:
    return [(*cells, last) for cells, last in zip(found, (head, *column), strict=True)]


def killers_text(trials: Sequence[Trial], judges: Mapping[str, str]) -> str:
    """How many each judge has killed, and each of its entries; ``judges``: the judge of each entry."""
    killed = Counter(trial.host for trial in trials if trial.fate is Fate.KILLED)
    lines = []
    for judge in dict.fromkeys(judges.values()):
        hosts = [(host, number) for host, number in killed.most_common() if judges.get(host) == judge]
        if hosts:
            names = ", ".join(f"{host} {number}" for host, number in hosts)
            lines.append(f"{judge} kills {sum(number for _, number in hosts)}: {names}")
    return "\n".join(lines)


def seconds_text(trials: Sequence[Trial]) -> str:
    """How soon the kills come, in processor time."""
    seconds = sorted(trial.seconds for trial in trials if trial.fate is Fate.KILLED)
    if not seconds:
        return "nothing is killed"
    soon = sum(one <= 10 for one in seconds) / len(seconds)
    middle = seconds[len(seconds) // 2]
    return (
        f"seconds of processor time to a kill: median {middle:.1f}, longest {seconds[-1]:.1f}; "
        f"{soon:.0%} within 10 s"
    )


def measured_text(entry: str, trials: Sequence[Trial], judges: Mapping[str, str]) -> str:
    """What the manifest's entry may say as ``measured``; ``judges``: the judge of each entry."""
    killed = [trial for trial in trials if trial.fate is Fate.KILLED]
    by = Counter(judges.get(trial.host, "?") for trial in killed)
    numbers = ", ".join(f"{judge} = {number}" for judge, number in by.most_common())
    seconds = sorted(trial.seconds for trial in killed) or [0.0]
    return (
        f"{entry}: measured = {{ judges = {{ {numbers} }}, "
        f"median = {seconds[len(seconds) // 2]:.2f}, longest = {seconds[-1]:.2f} }}"
    )
