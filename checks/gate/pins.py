"""What the manifest pins, against what a judge reported: claim ids, counts, expected outcomes."""

from collections import Counter
from collections.abc import Mapping, Sequence

from tidemark.checks.verdicts.judge import Judge
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.verdict import (
    COVERAGE,
    RUN_STEPS,
    SECOND_OPINION,
    UNPINNED,
    Aspect,
    Judgement,
    Outcome,
    Subject,
    Verdict,
    holds,
    judge,
    refuted,
)
from tidemark.models.manifest import (
    ArgumentEntry,
    ConformEntry,
    FramesEntry,
    GeneratedMutants,
    ImplementationMutants,
    InstanceEntry,
    InterleaveEntry,
    MutantEntry,
    PinsEntry,
    ProofEntry,
    SearchEngine,
    StrengthEntry,
)

EQUIVALENT = "equivalent"
"""Claim id of a mutant that is listed as equivalent: it ``holds`` if no property tells it apart."""

ADDITIVE = ("obligations", "implied", RUN_STEPS)
"""Counts that each verdict of an entry reports for itself; the pin is their sum."""

OF_ONE_ENGINE = frozenset({"edges", "unreduced"})
"""Counts that one engine of an instance reports and the others do not: they cannot be pinned for all."""

OF_TWO_SOLVERS = ("agreed", "unanswered")
"""Counts of a second opinion, which its entry must pin: what is answered no more is seen."""

USUAL = {
    "instance": ("distinct", "generated", "depth", RUN_STEPS),
    "proof": ("obligations", "implied", *OF_TWO_SOLVERS),
    "interleave": ("executions", "blocked", "merged", "steps", "final_states", "final_states_crc32"),
}
"""The counts that are written for an entry without any, by its section."""

CLAIMS = "pinned-claims"
COUNTS = "pinned-counts"


def expected_claims(task: Task, by: Judge) -> tuple[str, ...] | None:
    """The claims that ``by`` must answer for this task; None if the number of them is pinned instead."""
    entry = task.entry
    if isinstance(entry, ProofEntry):
        return (*task.manifest.claims_of(entry, by.kinds), *entry.failing)
    if isinstance(entry, InstanceEntry):
        return task.manifest.claims_of(entry, by.kinds)
    if isinstance(entry, MutantEntry):
        return (entry.killer or EQUIVALENT,)
    if isinstance(entry, PinsEntry):
        return entry.claims
    if isinstance(entry, FramesEntry | StrengthEntry):
        kinds = entry.kinds if isinstance(entry, StrengthEntry) else by.kinds
        return entry.claims or tuple(c for c, kind in task.manifest.kinds.items() if kind in kinds)
    return None if isinstance(entry, GeneratedMutants | ImplementationMutants) else entry.claims


def expected_outcome(task: Task, verdict: Verdict) -> Outcome:
    """What must come out for one verdict."""
    entry, claim, aspect = task.entry, verdict.subject.property_id, verdict.subject.aspect
    if aspect is Aspect.PIN:
        return Outcome.HOLDS
    if aspect is Aspect.OBLIGATION:
        return Outcome.REFUTED
    if isinstance(entry, MutantEntry):
        return Outcome.HOLDS if entry.killer is None else Outcome.REFUTED
    if isinstance(entry, ImplementationMutants):
        whole = next((one for one in task.manifest.implementation if one.name == entry.of), entry)
        return Outcome.HOLDS if claim in {**whole.equivalent, **whole.holes} else Outcome.REFUTED
    if isinstance(entry, GeneratedMutants):
        return Outcome.HOLDS if claim in entry.equivalent else Outcome.REFUTED
    extra = task.manifest.kinds_of(entry) if isinstance(entry, InstanceEntry | ProofEntry) else {}
    own = claim in task.manifest.kinds or claim in extra
    if aspect is Aspect.VACUITY and not own and not isinstance(entry, ArgumentEntry):
        # Nothing is vacuous but what the entry lists; if it lists something, the whole is refuted too.
        known = entry.vacuous if isinstance(entry, InstanceEntry | InterleaveEntry) else {}
        return Outcome.REFUTED if claim in known or (claim == COVERAGE and known) else Outcome.HOLDS
    return Outcome(entry.expect.of(claim).value)


def judgements(task: Task, by: Judge, verdicts: Sequence[Verdict]) -> list[Judgement]:
    """The verdicts with their expectations, followed by what the pins have to say; without what is unknown
    because a new manifest was never pinned (see ``unpinned``).
    """
    claims = _claims(task, by, verdicts)
    compared = [claims] if task.manifest.states_claims or claims.outcome is Outcome.REFUTED else []
    new = task.manifest.never_pinned(task.entry)
    everything = [one for one in verdicts if not (new and _idle(one))]
    everything += [*compared, *_counts(task, verdicts)]
    return [judge(verdict, expected=expected_outcome(task, verdict)) for verdict in everything]


def _idle(verdict: Verdict) -> bool:
    """Does it say that something is not exercised, or not reached?"""
    return verdict.subject.aspect is Aspect.VACUITY and verdict.outcome is Outcome.REFUTED


def unpinned(task: Task, verdicts: Sequence[Verdict]) -> str:
    """What ``tidemark pin`` would write of an entry of a new manifest; empty if the entry has pins."""
    if not task.manifest.never_pinned(task.entry):
        return ""
    seen = seen_counts([one for one in verdicts if is_counted(one)])
    counts = "".join(f" {name}={seen[name]}" for name in USUAL[task.entry.section] if name in seen)
    idle = [one.subject.property_id for one in verdicts if _idle(one) and one.subject.property_id != COVERAGE]
    return f"{task.entry.name}{counts}" + f" | {', '.join(idle)}" * bool(idle)


def _pin(task: Task, what: str, problems: Sequence[str], *, pins: int) -> Verdict:
    subject = Subject(
        protocol=task.manifest.name,
        property_id=what,
        judge=task.judge,
        instance=task.entry.name,
        aspect=Aspect.PIN,
    )
    if not problems:
        return holds(subject, counts={"pins": pins}, bounds="the manifest", replay=task.command)
    return refuted(
        subject,
        counts={"pins": max(pins, 1)} | ({} if pins else {UNPINNED: len(problems)}),
        reason="; ".join(problems),
        replay=task.command,
    )


def _claims(task: Task, by: Judge, verdicts: Sequence[Verdict]) -> Verdict:
    """Exactly the pinned claims are answered, each once, by the judge and for the entry that was asked."""
    own = [v for v in verdicts if v.subject.aspect is not Aspect.PIN]
    strangers = [
        v.subject.text()
        for v in own
        if (v.subject.judge, v.subject.instance) != (task.judge, task.entry.name)
    ]
    answered = Counter(v.subject.property_id for v in own)
    problems = [f"a verdict about something else: {text}" for text in strangers]
    problems += [f"{claim!r} is answered {times} times" for claim, times in answered.items() if times > 1]
    claims = expected_claims(task, by)
    if claims is None:
        return _generated(task, own, problems)
    vacuity = {v.subject.property_id for v in own if v.subject.aspect is Aspect.VACUITY}
    problems += [f"{claim!r} is pinned but was not judged" for claim in claims if claim not in answered]
    problems += [
        f"{claim!r} was judged but is not pinned" for claim in answered if claim not in {*claims, *vacuity}
    ]
    problems += _vacuity(task, vacuity)
    if not own:
        problems.append("the judge returned no verdict")
    return _pin(task, CLAIMS, problems, pins=len(claims))


def _vacuity(task: Task, answered: set[str]) -> list[str]:
    """The native search answers for coverage, and finds vacuous all that the entry lists as such. So does
    the search of interleavings, if the entry lists something.
    """
    if isinstance(task.entry, InterleaveEntry):
        return [f"{claim!r} was not looked at" for claim in task.entry.vacuous if claim not in answered]
    if not isinstance(task.entry, InstanceEntry) or task.judge != SearchEngine.EXPLORE.value:
        return []
    due = (COVERAGE, *task.entry.vacuous)
    return [f"{claim!r} was not looked at" for claim in due if claim not in answered]


def _generated(task: Task, own: Sequence[Verdict], problems: list[str]) -> Verdict:
    assert isinstance(task.entry, GeneratedMutants | ImplementationMutants)
    mutants = {v.subject.property_id for v in own if v.subject.of_mutant}
    pinned = task.entry.total
    if len(mutants) != pinned:
        problems.append(f"generated mutants: pinned {pinned}, seen {len(mutants)}")
    # Of the implementation the judge itself looks whether they exist. A sample leaves some out.
    whole = isinstance(task.entry, GeneratedMutants) and task.entry.sample is None
    reviewed = task.entry.reviewed if whole else ()
    problems += [f"reviewed mutant {name!r} was not generated" for name in reviewed if name not in mutants]
    return _pin(task, CLAIMS, problems, pins=pinned)


def is_counted(verdict: Verdict) -> bool:
    """Are its counts pinned? Those of the pins themselves are not, but for the comparison of two solvers."""
    return verdict.subject.aspect is not Aspect.PIN or verdict.subject.property_id == SECOND_OPINION


def _counts(task: Task, verdicts: Sequence[Verdict]) -> list[Verdict]:
    entry = task.entry
    if isinstance(entry, MutantEntry | GeneratedMutants):
        return []
    if isinstance(entry, ImplementationMutants):
        verdicts = [v for v in verdicts if v.subject.aspect is Aspect.PIN]
    of_pins = isinstance(entry, ImplementationMutants)
    decided = [v for v in verdicts if v.outcome is not Outcome.INCONCLUSIVE and is_counted(v) != of_pins]
    if not decided:
        return []
    if task.manifest.never_pinned(entry):
        return []
    counts = {"examples": entry.examples} if isinstance(entry, ConformEntry) else entry.counts
    if not counts:
        if not isinstance(entry, InstanceEntry | ProofEntry | InterleaveEntry | ImplementationMutants):
            return []
        whole = len(decided) == sum(is_counted(v) for v in verdicts)
        problem = _nothing_pinned(decided) if whole else "no count is pinned; what was seen is not the whole"
        return [_pin(task, COUNTS, [problem], pins=0)]
    as_expected = all(v.outcome is expected_outcome(task, v) for v in decided)
    due = list(OF_TWO_SOLVERS if isinstance(entry, ProofEntry) and entry.second_opinion else ())
    due += [RUN_STEPS] if as_expected and _seen(RUN_STEPS, decided) else []
    # What ends with a violation is compared only if the claims are as expected: else that is the news.
    ends = (RUN_STEPS, "examples")
    compared = {name: count for name, count in counts.items() if as_expected or name not in ends}
    problems = [f"{name}: not pinned" for name in due if name not in compared]
    problems += _differing(compared, decided)
    return [_pin(task, COUNTS, problems, pins=len(compared))] if compared or problems else []


def _differing(counts: Mapping[str, int], decided: Sequence[Verdict]) -> list[str]:
    """What is not as pinned."""
    problems = list[str]()
    for name, pinned in counts.items():
        seen = _seen(name, decided)
        if not seen:
            problems.append(f"{name}: pinned {pinned}, not reported")
        elif seen != [pinned]:
            problems.append(f"{name}: pinned {pinned}, seen {', '.join(map(str, seen))}")
    return problems


def _seen(name: str, decided: Sequence[Verdict]) -> list[int]:
    """What is reported under ``name``: the verdicts of one search agree, but obligations add up."""
    reported = [v.counts[name] for v in decided if name in v.counts]
    return [sum(reported)] if reported and name in ADDITIVE else sorted(set(reported))


def _nothing_pinned(decided: Sequence[Verdict]) -> str:
    line = ", ".join(f"{name} = {value}" for name, value in seen_counts(decided).items())
    return f"no count is pinned; seen counts = {{ {line} }}"


def seen_counts(decided: Sequence[Verdict]) -> dict[str, int]:
    """The counts of one judge's verdicts on an entry that can be pinned: one number for the whole entry."""
    names = sorted({name for v in decided for name in v.counts} - OF_ONE_ENGINE)
    seen = {name: _seen(name, decided) for name in names}
    return {name: values[0] for name, values in seen.items() if len(values) == 1}
