"""What ``tidemark mutants`` does: try the mutants, keep what became of them, print it and the table."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from tidemark.checks.mutation.implementation.farm import Farm, Order
from tidemark.checks.mutation.implementation.fate import NOTICED, UNNOTICED, Fate, Journal, Trial
from tidemark.checks.mutation.implementation.judge import Plan, is_harmless, reaches_of, trials_without_hosts
from tidemark.checks.mutation.implementation.unit_tests import unit_tests_of
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.cores import cores
from tidemark.models.manifest import Manifest
from tidemark.models.manifest.about import about

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


@dataclass(frozen=True)
class _Found:
    """What is known of the mutants of one entry."""

    plan: Plan
    trials: tuple[Trial, ...]

    @property
    def unexpected(self) -> list[Trial]:
        """Neither noticed nor reviewed, or reviewed and noticed all the same."""
        whole = self.plan.whole
        quiet = {*whole.equivalent, *whole.holes}
        harmless = {trial.id for trial in self.trials if is_harmless(trial, self.plan)}
        return [
            trial
            for trial in self.trials
            if trial.id not in harmless and trial.fate not in (UNNOTICED if trial.id in quiet else NOTICED)
        ]


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The options of the command. master: of the Spark session that tries them; None for processes of this
    machine. tests: files and folders of tests that are hosts, too.
    """

    entry: str
    only: str
    listed: bool
    last: bool
    build: Path
    jobs: int | None
    master: str | None = None
    tests: tuple[str, ...] = ()


def mutants(chosen: Chosen, manifests: Sequence[Manifest]) -> int:
    """Try, print, and return the exit status. Raises BadInputError for an unknown entry or id."""
    more = unit_tests_of(chosen.tests)
    plans = [replace(plan, hosts=(*plan.hosts, *more)) for plan in _plans(manifests, chosen.entry)]
    if not any(chosen.only in mutant.id for plan in plans for mutant in plan.mutants):
        remedy = f"{shlex.join(['tidemark', 'mutants', *filter(None, [chosen.entry]), '--list'])}  lists them"
        raise BadInputError(f"no mutant has {chosen.only!r} in its id", remedy=remedy)
    if chosen.listed:
        for plan in plans:
            for mutant in plan.mutants:
                if chosen.only in mutant.id:
                    print(mutant)
        return ExitCode.AS_EXPECTED.value
    found = [_tried(plan, chosen) for plan in plans]
    return _show(found)


def _plans(manifests: Sequence[Manifest], name: str) -> Iterator[Plan]:
    whole = {
        entry.name: (entry, manifest)
        for manifest in manifests
        for entry in manifest.implementation
        if (entry.name == name if name else entry.of is None)
    }
    if not whole:
        known = [entry.name for one in manifests for entry in one.implementation]
        if not known:
            remedy = "write [implementation.NAME] with the files (docs/mutation.md)"
            raise BadInputError("no manifest here has mutants of an implementation", remedy=remedy)
        raise BadInputError(f"there are no mutants {name!r}", remedy=known_names(name, known))
    print(about((manifest, name) for name, (_, manifest) in whole.items()))
    for entry, manifest in whole.values():
        yield Plan.of(entry, manifest, every=True)


def _tried(plan: Plan, chosen: Chosen) -> _Found:
    journal = Journal(chosen.build, plan.entry.name)
    known = {trial.id: trial for trial in journal.trials()}
    due = [mutant.id for mutant in plan.mutants if chosen.only in mutant.id]
    if not chosen.last and not set(due) <= set(known):
        reaches = reaches_of(plan, progress=_progress)
        orders = [order for order in plan.orders(reaches) if order[0] in due and order[0] not in known]
        seconds = {name: reach.seconds for name, reach in reaches.items()}
        tried = _trials(plan, [one for one in orders if one[1]], seconds, chosen)
        for trial in chain(trials_without_hosts(orders), tried):
            journal.keep(trial)
            known[trial.id] = trial
    return _Found(plan, tuple(known[name] for name in due if name in known))


def _trials(
    plan: Plan, orders: Sequence[Order], seconds: Mapping[str, float], chosen: Chosen
) -> Iterator[Trial]:
    """Try them here, or on Spark."""
    if chosen.master is None:
        yield from Farm(plan.target, seconds=seconds, jobs=chosen.jobs or cores()).trials(orders)
        return
    from tidemark.checks.mutation.implementation.farm import spread
    from tidemark.checks.spark.session import spark_session

    session = spark_session(master=chosen.master, build=chosen.build)
    name = plan.entry.name
    for found in spread(session, plan.target, orders, name=name, seconds=seconds, seed=0, progress=_Rounds()):
        yield from found


class _Rounds:
    """Tells how far a round on Spark is, once for each part that is done."""

    def __init__(self) -> None:
        self._told = -1

    def __call__(self, done: int, *, total: int | None = None, unit: str = "", note: str = "") -> None:
        if done != self._told:
            self._told = done
            _progress(done, total=total, unit=unit, note=note)


def _progress(done: int, *, total: int | None = None, unit: str = "", note: str = "") -> None:
    sys.stderr.write(f"[{done}/{total}] {unit}: {note}\n")


def _show(found: Sequence[_Found]) -> int:
    trials = [trial for one in found for trial in one.trials]
    equivalent = {name for one in found for name in one.plan.whole.equivalent}
    for one in found:
        texts = {mutant.id: str(mutant) for mutant in one.plan.mutants}
        for trial in one.trials:
            if trial in one.unexpected:
                print(f"{trial}\n    {texts[trial.id]}")
    if not trials:
        raise BadInputError("nothing was tried", remedy="leave --last or --only out")
    judges = {host.name: host.judge for one in found for host in one.plan.hosts}
    print(table_text(trials, equivalent, judges=judges))
    print(killers_text(trials, judges))
    print(seconds_text(trials))
    for one in found:
        print(measured_text(one.plan.entry.name, one.trials, judges))
    bad = any(one.unexpected for one in found)
    return (ExitCode.MISSING_REFUTATION if bad else ExitCode.AS_EXPECTED).value
