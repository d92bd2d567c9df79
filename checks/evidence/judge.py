"""From answers about evidence to verdicts: the one place where evidence meets the suite's own results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.checks.evidence.histories.claims import CLAIMS as HISTORY_CLAIMS
from tidemark.checks.evidence.histories.judge import MONITOR as HISTORY_MONITOR
from tidemark.checks.evidence.histories.judge import judge_history
from tidemark.checks.evidence.histories.operations import COLUMNS, KINDS
from tidemark.checks.evidence.monitors.base import Answer, Breach, Monitor
from tidemark.checks.evidence.monitors.run import MONITORS, judge, ordered
from tidemark.checks.evidence.order import settle
from tidemark.checks.evidence.readers.wrapped import files_of
from tidemark.checks.evidence.table.files import Sort, writers
from tidemark.checks.evidence.table.plain import Evidence
from tidemark.checks.evidence.table.whole import Gap, family, gaps, mixed, unknown_versions, versions
from tidemark.checks.verdicts.counterexample import Counterexample, Step
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.result import RunResult, Unjudged
from tidemark.checks.verdicts.verdict import (
    Judgement,
    Outcome,
    Subject,
    Verdict,
    holds,
    inconclusive,
    refuted,
)
from tidemark.checks.verdicts.verdict import judge as compared

JUDGE = "evidence"
_BY_NAME: dict[str, type[Monitor]] = {one.name: one for one in MONITORS}
_NAMED = 4
"""So many files are named in a sentence."""
_ASIDE = frozenset((".md", ".yaml", ".yml", ".toml", ".json", ".py", ".svg", ".html", ".parquet", ".pid"))
"""Files beside the evidence that are none."""


@dataclass
class Finding:
    """All that came out about some evidence."""

    answers: list[Answer] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What is worth knowing about the files."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """File, and why it, or what depends on it, was not judged."""
    idle: list[tuple[str, str]] = field(default_factory=list)
    """Monitor, and what it would have needed."""
    unruled: list[str] = field(default_factory=list)
    """Logs of which no line has a rule, with who has written how many."""


def judge_evidence(evidence: Evidence, answers: Sequence[Answer] | None = None) -> Finding:
    """Judge what can be judged. ``answers`` are those that Spark has found already.

    Of mixed clusters only what is in one file is judged: order between files means nothing then.
    """
    found = Finding(gaps=gaps(evidence.events, evidence.accounts.values()))
    _files(evidence, found)
    strange = mixed(evidence.events)
    if strange:
        what = "evidence of more than one cluster: " + "; ".join(strange)
        found.problems.append(("all files together", f"{what}; only single files are judged"))
    if answers is None:
        answers = judge(evidence.events.table()) + history_answers(evidence)
    answers = settle(answers, evidence.events, found.gaps)
    alone = {one.name for one in MONITORS if one.within == "source"}
    found.answers = [one for one in answers if not strange or one.monitor in alone]
    _idle(evidence, found)
    # A file with lines that cannot be read is not passed over because no verdict rests on it.
    touched = {family for answer in found.answers if answer.events for family in _families(answer.monitor)}
    reasons = {reason for answer in found.answers for reason in answer.left_out}
    for name, gap in {str(gap): gap for gap in found.gaps}.items():
        if (
            gap.family != "state"
            and name not in reasons
            and (gap.lost if gap.family == "log" else gap.family not in touched)
        ):
            found.problems.append(
                (gap.source, f"no verdict rests on its {gap.count} lines that cannot be read")
            )
    return found


def history_answers(evidence: Evidence) -> list[Answer]:
    """The answers about what clients saw; none if there is no history."""
    mine = evidence.events.table(*COLUMNS, kinds=KINDS)
    return judge_history(ordered(mine, "source")) if mine.num_rows else []


def _files(evidence: Evidence, found: Finding) -> None:
    for source in evidence.sources:
        if source.problem and source.sort in (Sort.NONE, Sort.OTHER):
            aside = source.sort is Sort.OTHER or "read once" in source.problem or source.path.suffix in _ASIDE
            if aside:
                found.notes.append(f"{source.name}: {source.problem}")
            else:
                found.problems.append((source.name, source.problem))
        account = evidence.accounts.get(source.name)
        if (
            source.sort is Sort.LOG
            and account is not None
            and not account.events
            and not account.counts.damaged
        ):
            counted = (f"{name} {count:,}" for name, count in writers(source).most_common(4))
            found.unruled.append(f"{source.name} (lines of {', '.join(counted)})")
    if found.unruled:
        found.notes.append(f"no rule for {_some(found.unruled)}")
    found.notes += _apart(evidence)
    for account in evidence.accounts.values():
        if account.unfinished:
            found.notes.append(
                f"{account.name}: the last line has no end: the file is being written, or was cut; "
                "that line was not read"
            )
        found.notes += [f"{account.name}: {problem}" for problem in account.problems]
    named = versions(evidence.events)
    if len(named) > 1:
        found.notes.append(f"sessions of several versions: {', '.join(named)}")
    for version in unknown_versions(evidence.events):
        found.problems.append(
            ("version", f"{version} is not among 2.2 to 3.1: lines that it words otherwise are not seen")
        )


def _apart(evidence: Evidence) -> Iterator[str]:
    """The files whose writers are judged each by itself."""
    streams: dict[str, list[str]] = {}
    for (source,) in evidence.events.distinct("source"):
        for file in files_of(str(source)):
            streams.setdefault(file, []).append(str(source))
    for account in evidence.accounts.values():
        own = streams.get(account.name, ())
        if account.sort is Sort.LOG and len(own) > 1:
            yield f"each writer is judged by itself: {_some(own)}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _idle(evidence: Evidence, found: Finding) -> None:
    present = evidence.events.kinds()
    for one in MONITORS:
        if lacking := one.lacks(present):
            found.idle.append((one.name, f"no {', no '.join(lacking)} events"))
    for answer in found.answers:
        if not (_speaks(answer) or answer.left_out):
            why = next(iter(answer.unsure), next(iter(answer.reports), "nothing to compare"))
            found.idle.append((answer.monitor, why))


def verdicts(found: Finding, *, instance: str, replay: str) -> list[Verdict]:
    """One verdict an answer that has something to say, and one about the files that were left out of it."""
    made: list[Verdict] = []
    for answer in found.answers:
        if _speaks(answer):
            made.append(_verdict(answer, found.gaps, instance=instance, replay=replay))
        if answer.left_out:
            rest = f"{instance}:left out" if _speaks(answer) else instance
            reason = "; ".join(answer.left_out)
            made.append(inconclusive(_subject(answer, rest), reason=reason, replay=replay))
    return made


def told(sentence: str, count: int) -> str:
    """A report, with how often."""
    return f"{sentence} {count:,} times." if count > 1 else sentence


def _speaks(answer: Answer) -> bool:
    """Did it compare something, or know reads and counts of clients that it could not judge?"""
    unjudged = answer.monitor == HISTORY_MONITOR and bool(answer.unsure)
    return bool(answer.events or answer.broken) or unjudged


def _subject(answer: Answer, instance: str) -> Subject:
    return Subject(
        protocol=answer.property_id.partition(".")[0],
        property_id=answer.property_id,
        judge=JUDGE,
        instance=f"{instance}:{answer.monitor}",
    )


def _verdict(answer: Answer, missing: Sequence[Gap], *, instance: str, replay: str) -> Verdict:
    subject = _subject(answer, instance)
    notes = tuple(told(sentence, count) for sentence, count in answer.reports.items())
    counts = {"events": answer.events}
    doubts = [f"{reason} ({count})" for reason, count in answer.unsure.items()]
    families = _families(answer.monitor)
    # What is missing from a log is in `left_out` where it matters.
    holes = dict.fromkeys(str(gap) for gap in missing if gap.family in families - {"log"})
    doubts += holes
    known = _BY_NAME.get(answer.monitor)
    open_ = bool(doubts) and answer.monitor == HISTORY_MONITOR and not answer.events
    if holes and known is not None:
        open_ = any(family(kind) == "etcd" for kind in known.excused_by)
    if answer.broken and not open_:
        return refuted(
            subject,
            counts={"events": max(1, answer.events), "breaches": answer.broken},
            counterexample=_counterexample(answer.breaches[0]),
            replay=replay,
            bounds=_BOUNDS,
            notes=(*_others(answer), *notes, *doubts),
        )
    if doubts:
        return inconclusive(subject, reason="; ".join(doubts), counts=counts, replay=replay, notes=notes)
    return holds(subject, counts=counts, bounds=_BOUNDS, replay=replay, notes=notes)


_BOUNDS = "the events of the given files, and no others"


def _families(monitor: str) -> set[str]:
    if monitor == HISTORY_MONITOR:
        return {"op"}
    known = _BY_NAME.get(monitor)
    if known is None:
        return {"trace"}
    return {family(kind) for kind in known.kinds} | ({"state"} if known.of_state else set())


_SORTS = {
    "log": "log",
    "etcd": "store",
    "state": "store",
    "broker": "broker",
    "op": "clients",
    "trace": "trace",
}


def sorts_of(monitor: str) -> str:
    """The sorts of evidence that a monitor compares, in words."""
    return " and ".join(sorted({_SORTS[one] for one in _families(monitor)}))


def _others(answer: Answer) -> tuple[str, ...]:
    """The further breaches, each with its places."""
    shown = [
        f"{breach.sentence} {' | '.join(str(place) for place in breach.places)}"
        for breach in answer.breaches[1:]
    ]
    more = answer.broken - len(answer.breaches)
    return (*shown, *([f"... and {more:,} more like these."] if more > 0 else []))


def _counterexample(breach: Breach) -> Counterexample:
    """The events that show it, in order: each is a step of what is known."""
    steps = tuple(
        Step(
            action=f"{place.source}:{place.line}",
            after={"known": place.shown},
            actor=breach.key or place.source,
        )
        for place in breach.places
    )
    return Counterexample(initial={"known": "nothing"}, steps=steps, failing=breach.sentence)


def result(
    found: Finding,
    *,
    instance: str,
    replay: str,
    seconds: float,
    expected: Mapping[str, Outcome] | None = None,
    further: Iterable[Verdict] = (),
) -> RunResult:
    """Everything as the result of a run. Every claim is expected to hold, but for what ``expected`` says by
    property id, or by PROPERTY/MONITOR; a file that could not be judged makes the run inconclusive.
    """
    decided = [*verdicts(found, instance=instance, replay=replay), *further]
    judged = [compared(verdict, expected=_due(verdict.subject, expected or {})) for verdict in decided]
    unjudged = [
        Unjudged(
            task=name,
            exit_code=ExitCode.INCONCLUSIVE,
            message=problem,
            remedy="give the file as the system wrote it, or leave it out",
            replay=replay,
        )
        for name, problem in found.problems
    ]
    if not judged and not unjudged:
        unjudged.append(_nothing(found, replay))
    work = len({one.verdict.subject.instance for one in judged}) + len(unjudged)
    return RunResult(
        tier="evidence",
        seed=0,
        judgements=tuple(judged),
        unjudged=tuple(unjudged),
        planned=work,
        done=work,
        descriptions=descriptions(judged),
        seconds=seconds,
        task_seconds={f"{JUDGE}/{instance}": seconds},
    )


def _due(subject: Subject, expected: Mapping[str, Outcome]) -> Outcome:
    """What is expected of one monitor of a property, or of all of them; if nothing is said, that it holds."""
    monitor = subject.instance.rpartition(":")[2]
    of_all = expected.get(subject.property_id, Outcome.HOLDS)
    return expected.get(f"{subject.property_id}/{monitor}", of_all)


def _nothing(found: Finding, replay: str) -> Unjudged:
    why = f": no rule for {_some(found.unruled)}" if found.unruled else ""
    return Unjudged(
        task=JUDGE,
        exit_code=ExitCode.INCONCLUSIVE,
        message=f"there is nothing in these files that a claim speaks about{why}",
        remedy="`tidemark evidence --claims` lists what each claim needs",
        replay=replay,
    )


def descriptions(judged: Iterable[Judgement]) -> dict[str, str]:
    """Property id -> sentence, for what was judged."""
    from tidemark.checks.evidence.claims import sentence_of

    ids = {one.verdict.subject.property_id for one in judged}
    known = {one.property_id: one.rule for one in MONITORS} | HISTORY_CLAIMS
    found = {name: sentence_of(name) or known.get(name) for name in sorted(ids)}
    return {name: sentence for name, sentence in found.items() if sentence}
