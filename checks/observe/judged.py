"""The evidence of a run, judged and compared with what is expected of that scenario on that version."""

import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidemark.checks.evidence.command import Options, finish, read_and_judge, say_files
from tidemark.checks.evidence.judge import sorts_of, verdicts
from tidemark.checks.observe.stage import read_record
from tidemark.checks.report.console import show_result
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode, most_severe
from tidemark.checks.verdicts.verdict import Outcome, Verdict

FILE = Path(__file__).with_name("expected.toml")


class Case(BaseModel):
    """The expectation of the runs of one scenario on one version.

    All names are ``PROPERTY/MONITOR``. ``refuted`` holds those that every run refutes. ``refuted_if`` holds,
    by a count of the run's record, those that a run refutes if that count is not zero. ``may`` holds those
    that come out one way or the other; one that is in ``refuted_if`` too is open while its count is zero.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    server: str
    scenario: str
    refuted: tuple[str, ...] = ()
    refuted_if: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    may: tuple[str, ...] = ()
    why: str = Field(min_length=1)

    def demanded(self, facts: Mapping[str, int]) -> frozenset[str]:
        """The names that a run with these counts has to refute."""
        by_count = (names for count, names in self.refuted_if.items() if facts.get(count, 0) > 0)
        return frozenset(self.refuted).union(*by_count)

    def due(self, facts: Mapping[str, int], refuted: Iterable[str]) -> frozenset[str]:
        """The names that must be refuted, given those that were: what is left open follows what came out."""
        return self.demanded(facts) | (frozenset(self.may) & frozenset(refuted))


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    case: tuple[Case, ...]


def read_cases(file: Path = FILE) -> tuple[Case, ...]:
    """All cases; raise BadInputError if the file is no manifest, or two cases speak about the same runs."""
    try:
        found = _Manifest.model_validate(tomllib.loads(file.read_text()))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise BadInputError(f"{file}: {error}", remedy="compare it with the one of the repository") from error
    names = [(each.server, each.scenario) for each in found.case]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadInputError(f"{file}: two cases for {twice[0]}", remedy="keep one of them")
    for each in found.case:
        both = set(each.refuted) & set(each.may)
        if both:
            raise BadInputError(f"{file}: {min(both)} is in refuted and in may", remedy="keep one")
    return found.case


def case_of(server: str, scenario: str, *, cases: Iterable[Case] | None = None) -> Case:
    """The case of a scenario on a version; raise BadInputError if none is pinned."""
    known = read_cases() if cases is None else tuple(cases)
    found = next((each for each in known if (each.server, each.scenario) == (server, scenario)), None)
    if found is None:
        pinned = [f"{each.scenario} on {each.server}" for each in known]
        raise BadInputError(
            f"no expectation is pinned for {scenario} on {server}",
            remedy=f"{known_names(f'{scenario} on {server}', pinned)}; or only collect:  --collect",
        )
    return found


_STRONG, _KEPT = "history.strong/client-history", "history.kept/client-history"
_RECORDED = "flush.checkpoint_before_earliest_unsynced/rows-recorded"
_LATE = "timetick.watermark_promise/broker-watermark"
STORY = "docs/paused-proxy.md"


def outcome(verdicts: Mapping[str, Verdict], facts: Mapping[str, int]) -> str:
    """Which rows are gone, and which messages came after their tick.

    ``verdicts`` are those of the run by ``PROPERTY/MONITOR``, ``facts`` what it counted itself: with
    ``lost_rows`` it has compared what was read before a crash with what was read after the restart.
    """
    lost, late = _lost(verdicts, facts), _late(verdicts)
    told = "; ".join(one for one in (lost, late) if one)
    if not told:
        hold = {name for name, one in verdicts.items() if one.outcome is Outcome.HOLDS}
        undecided = [name for name in (_STRONG, _KEPT, _LATE) if name not in hold]
        if undecided:
            return f"No loss was found, but not everything is decided: {', '.join(undecided)}."
        return "Nothing was lost: reads show all that was acknowledged, and no message came after its tick."
    return f"{told[0].upper()}{told[1:]}. {STORY if 'lost_rows' in facts else 'docs/observe.md'}"


def _lost(verdicts: Mapping[str, Verdict], facts: Mapping[str, int]) -> str:
    count = facts.get("lost_rows", 0)
    strong, kept, recorded = (_breaches(verdicts, name) for name in (_STRONG, _KEPT, _RECORDED))
    if count:
        what = "acknowledged rows" if strong else "rows"
        unseen = "" if strong or kept else " (no judge of the clients' histories has found it)"
        verb = "are" if count > 1 else "is"
        what = what if count > 1 else what.removesuffix("s")
        return f"{count:,} {what} {verb} gone: read before the crash, not after the restart{unseen}"
    if strong or kept:
        reads = max(strong, kept)
        who = f"{reads:,} Strong reads miss" if reads > 1 else "1 Strong read misses"
        return f"{who} rows that were acknowledged or read before"
    return "rows below the stored checkpoint are in no binlog" if recorded else ""


def _late(verdicts: Mapping[str, Verdict]) -> str:
    late = _breaches(verdicts, _LATE)
    if not late:
        return ""
    return f"{late:,} messages came after their tick" if late > 1 else "1 message came after its tick"


def _breaches(verdicts: Mapping[str, Verdict], name: str) -> int:
    one = verdicts.get(name)
    return one.counts.get("breaches", 0) if one is not None and one.outcome is Outcome.REFUTED else 0


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What came out: the names ``PROPERTY/MONITOR`` that are refuted, and the exit status."""

    refuted: tuple[str, ...]
    status: ExitCode


def judge_run(folder: Path, *, case: Case, build: Path, console: Console) -> Judged:
    """Judge the evidence in ``folder`` and show the verdicts.

    The status is that of ``tidemark evidence``, or MISSING_REFUTATION if something that has to be
    refuted was not judged at all.
    """
    begun = time.perf_counter()
    options = Options(build=build)
    replay = options.command([folder])
    read, found = read_and_judge([folder], options)
    say_files(read, found, console)
    first = verdicts(found, instance=folder.name, replay=replay)
    facts = read_record(folder)["facts"]
    refuted = tuple(name_of(each) for each in first if each.outcome is Outcome.REFUTED)
    wanted = case.due(facts, refuted)
    finished = finish(
        read, found, replay=replay, options=options, begun=begun, name=folder.name,
        expected=dict.fromkeys(wanted, Outcome.REFUTED),
    )  # fmt: skip
    show_result(finished.result, console, build=build, files=finished.files)
    missing = sorted(case.demanded(facts) - {name_of(each) for each in first})
    for name in missing:
        console.print(Text(f"NOT JUDGED {name}, which has to be refuted: {case.why}"), soft_wrap=True)
    if wanted:
        console.print(Text(f"expected on Milvus {case.server}: {' '.join(case.why.split())}"), soft_wrap=True)
    console.print(Text(outcome({name_of(each): each for each in first}, facts)), soft_wrap=True)
    status = finished.result.exit_code
    if missing:
        status = most_severe([status, ExitCode.MISSING_REFUTATION])
    return Judged(refuted=refuted, status=status)


def name_of(verdict: Verdict) -> str:
    """``PROPERTY/MONITOR`` as the expectations name it."""
    return f"{verdict.subject.property_id}/{_monitor(verdict)}"


@dataclass(kw_only=True)
class Summary:
    """All runs of one scenario on one version with one lease."""

    runs: int = 0
    verdicts: Counter[tuple[str, Outcome]] = field(default_factory=Counter)
    """How many verdicts there are, by the sort of evidence that they rest on."""
    facts: Counter[str] = field(default_factory=Counter)
    refuted: Counter[tuple[str, str]] = field(default_factory=Counter)
    """In how many runs a name was refuted, and what the manifest says of that."""
    missing: Counter[str] = field(default_factory=Counter)
    """In how many runs a name was not refuted although the manifest demands it."""


def overview(out: Path, *, console: Console) -> ExitCode:
    """Judge all runs below ``out`` anew and show scenarios, evidence and verdicts in a table.

    Returns UNEXPECTED_REFUTATION if a judge objects to what the manifest calls sound, MISSING_REFUTATION if
    one misses what has to be refuted. Raises BadInputError if there is no run.
    """
    folders = sorted(path.parent for path in out.glob("*/scenario.json"))
    if not folders:
        raise BadInputError(f"there is no run in {out}", remedy="tidemark observe SCENARIO  makes one")
    found: dict[tuple[str, str, int], Summary] = {}
    for folder in folders:
        record = read_record(folder)
        if record["error"]:
            console.print(Text(f"left out: {folder.name}, which failed: {record['error']}"), soft_wrap=True)
            continue
        key = (record["name"], record["versions"]["server"], record["lease"])
        _add(found.setdefault(key, Summary()), folder, record["facts"], case_of(key[1], key[0]))
    _show_overview(found, console)
    alarms = sum(count for one in found.values() for (_, sort), count in one.refuted.items() if sort == ALARM)
    missed = sum(one.missing.total() for one in found.values())
    console.print(
        f"{sum(one.runs for one in found.values())} runs; {alarms} alarms that the manifest does not "
        f"expect; {missed} refutations missed"
    )
    statuses = [ExitCode.UNEXPECTED_REFUTATION] * bool(alarms) + [ExitCode.MISSING_REFUTATION] * bool(missed)
    return most_severe(statuses or [ExitCode.AS_EXPECTED])


DEMANDED, LEFT_OPEN, ALARM = "demanded", "left open", "NOT EXPECTED"


def _add(summary: Summary, folder: Path, facts: dict[str, int], case: Case) -> None:
    options = Options()
    _, finding = read_and_judge([folder], options)
    judged = verdicts(finding, instance=folder.name, replay=options.command([folder]))
    summary.runs += 1
    summary.facts.update(facts)
    summary.verdicts.update((sorts_of(_monitor(each)), each.outcome) for each in judged)
    refuted = {name_of(each) for each in judged if each.outcome is Outcome.REFUTED}
    demanded = case.demanded(facts)
    for name in refuted:
        sort = DEMANDED if name in demanded else LEFT_OPEN if name in case.may else ALARM
        summary.refuted[name, sort] += 1
    summary.missing.update(demanded - refuted)


def _show_overview(found: dict[tuple[str, str, int], Summary], console: Console) -> None:
    table = Table("scenario", "runs", "evidence", "hold", "refuted", "not decided", box=None)
    for (name, version, lease), one in sorted(found.items()):
        facts = ", ".join(f"{what.replace('_', ' ')}: {count:,}" for what, count in sorted(one.facts.items()))
        table.add_row(f"{name} on {version}, lease {lease} s", str(one.runs), f"counted: {facts}", "", "", "")
        for sort in sorted({sort for sort, _ in one.verdicts}):
            counts = [one.verdicts[sort, outcome] for outcome in (Outcome.HOLDS, Outcome.REFUTED)]
            rest = sum(count for (other, _), count in one.verdicts.items() if other == sort) - sum(counts)
            table.add_row("", "", sort, *(f"{count:,}" for count in (*counts, rest)))
        lines = [
            f"{claim}: refuted in {count}, {sort}" for (claim, sort), count in sorted(one.refuted.items())
        ]
        lines += [f"{claim}: MISSED in {count}" for claim, count in sorted(one.missing.items())]
        for line in lines:
            table.add_row("", "", f"  {line}", "", "", "")
    console.print(table)


def _monitor(verdict: Verdict) -> str:
    return verdict.subject.instance.rpartition(":")[2]
