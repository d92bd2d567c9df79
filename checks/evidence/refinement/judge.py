"""Verdicts about traces, and about runs that another tool has written in the Informal Trace Format.

Is a trace a run of its protocol? Depth-first, with a set of candidate states for what was not observed.

A candidate is a state of the protocol together with how much of each file is used up. From it lead the next
event of each file (with every value of the parameters that were not observed) and, up to a bound between two
events, the hidden actions. Each candidate is visited once; how many there were is reported.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidemark.checks.evidence.monitors.run import ordered, rows
from tidemark.checks.evidence.refinement.model import COLUMNS, KINDS, Event, Trace, TraceError, traces
from tidemark.checks.evidence.table.files import Sort, Source
from tidemark.checks.evidence.table.plain import Evidence
from tidemark.checks.report.forms.itf_reader import NoRunError, model_of, read_itf, take_again
from tidemark.checks.verdicts.counterexample import Counterexample
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.trace import counterexample
from tidemark.checks.verdicts.verdict import Subject, Verdict, holds, inconclusive, refuted
from tidemark.models.instance import BadInstance, Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.spec.language.errors import SpecError

HIDDEN_IN_A_ROW = 3
"""Hidden steps between two observed ones, unless the caller says otherwise."""
CANDIDATES = 200_000

_Candidate = tuple[tuple[int, ...], int, State]
"""Events used up of each file, hidden steps since the last one, state."""


@dataclass
class Refined:
    """What came out."""

    events: int
    """Events of the trace."""
    matched: int
    """Length of the longest prefix that is a run (of all files together)."""
    candidates: int
    complete: bool
    """Every event was matched."""
    cut: bool = False
    """The search ended at its limit, without an answer."""
    run: list[tuple[Step | None, State]] = field(default_factory=list)
    """The longest run: steps (None for a stutter) with the states after them; first the initial state."""
    last: list[Event | None] = field(default_factory=list)
    """The event of each step of the run; None for a hidden one."""
    breaks: tuple[Event, ...] = ()
    """The events that do not fit after the longest prefix."""
    why: tuple[str, ...] = ()
    """For each of them the nearest step, and what keeps it from being taken."""


class _Search:
    def __init__(self, trace: Trace, limit: int) -> None:
        self.trace, self.limit = trace, limit
        self.interpreter = Interpreter(trace.instance)
        self.params = {a.name: [p.name for p in a.params] for a in self.interpreter.spec.actions}
        self.steps: dict[str, list[Step]] = {}
        for step in self.interpreter.steps:
            self.steps.setdefault(step.action, []).append(step)
        self.slots = {variable.name: n for n, variable in enumerate(self.interpreter.spec.variables)}
        self.parents: dict[_Candidate, tuple[_Candidate, Step | None, Event | None] | None] = {}

    def matching(self, event: Event) -> Iterator[Step]:
        """The steps that an event may have been: any value where none was observed."""
        names = self.params[event.action]
        fixed = [(names.index(name), value) for name, value in event.args.items()]
        for step in self.steps.get(event.action, ()):
            if all(step.args[place] == value for place, value in fixed):
                yield step

    def seen(self, event: Event, state: State) -> str:
        """What was observed and is not so in the state; empty if all is."""
        decoded: dict[str, Any] | None = None
        for variable, keys, value in event.see:
            if not keys:
                there = state[self.slots[variable]]
            else:
                decoded = decoded or self.interpreter.decode(state)
                there = decoded[variable][keys[0] if len(keys) == 1 else keys]
            if there != value:
                return f"{variable}{list(keys) if keys else ''} would be {there}, and {value} was observed"
        return ""

    def after(self, at: _Candidate) -> Iterator[tuple[_Candidate, Step | None, Event | None]]:
        """Where a candidate leads: events last, so that a stack takes them first."""
        used, hidden, state = at
        if hidden < HIDDEN_IN_A_ROW:
            for name in self.trace.hidden:
                for step in self.steps.get(name, ()):
                    found = self.interpreter.apply(state, step)
                    if found is not None and found.in_bounds and found.state != state:
                        yield (used, hidden + 1, found.state), step, None
        for place in reversed(range(len(used))):
            stream = self.trace.streams[place]
            if used[place] == len(stream):
                continue
            event = stream[used[place]]
            further = (*used[:place], used[place] + 1, *used[place + 1 :])
            for one, reached in self.taken(event, state):
                if not self.seen(event, reached):
                    yield (further, 0, reached), one, event

    def taken(self, event: Event, state: State) -> Iterator[tuple[Step | None, State]]:
        """The states after an event; a stutter leaves the state as it is."""
        if not event.action:
            yield None, state
            return
        for step in self.matching(event):
            found = self.interpreter.apply(state, step)
            if found is not None and found.in_bounds:
                yield step, found.state

    def run(self) -> Refined:
        total = sum(map(len, self.trace.streams))
        stack: list[_Candidate] = []
        for state in self.interpreter.initial():
            begin = (tuple(0 for _ in self.trace.streams), 0, state)
            self.parents.setdefault(begin, None)
            stack.append(begin)
        best, at_best = -1, []
        while stack:
            at = stack.pop()
            length = sum(at[0])
            if length > best:
                best, at_best = length, [at]
            elif length == best and len(at_best) < 100:
                at_best.append(at)
            if length == total or len(self.parents) > self.limit:
                break
            for candidate, step, event in self.after(at):
                if candidate not in self.parents:
                    self.parents[candidate] = (at, step, event)
                    stack.append(candidate)
        done = Refined(total, best, len(self.parents), complete=best == total)
        done.cut = not done.complete and len(self.parents) > self.limit
        self._back(done, at_best[0])
        if not done.complete:
            done.breaks, done.why = self._nearest(at_best)
        return done

    def _back(self, done: Refined, at: _Candidate) -> None:
        while True:
            parent = self.parents[at]
            done.run.append((parent[1] if parent else None, at[2]))
            done.last.append(parent[2] if parent else None)
            if parent is None:
                break
            at = parent[0]
        done.run.reverse()
        done.last.reverse()

    def _nearest(self, found: Sequence[_Candidate]) -> tuple[tuple[Event, ...], tuple[str, ...]]:
        """The next event of each file, and of all steps that it may be what most often keeps it away."""
        used = found[0][0]
        breaks: list[Event] = []
        why: list[str] = []
        for place, stream in enumerate(self.trace.streams):
            if used[place] == len(stream):
                continue
            event = stream[used[place]]
            reasons = Counter(
                reason for at in found if at[0] == used for reason in self._refused(event, at[2])
            )
            breaks.append(event)
            why.append(
                "; ".join(reason for reason, _ in reasons.most_common(2)) or "no step has these values"
            )
        return tuple(breaks), tuple(why)

    def _refused(self, event: Event, state: State) -> Iterator[str]:
        if not event.action:
            yield self.seen(event, state)
            return
        for step in self.matching(event):
            guard = self.interpreter.failing_guard(state, step)
            if guard is not None:
                yield f"{step} is not enabled: {guard}"
                continue
            reached = self.interpreter.effect(state, step)
            yield self.seen(event, reached.state) if reached.in_bounds else f"{step} leaves the instance"


def refine(trace: Trace, *, candidates: int = CANDIDATES) -> Refined:
    """Follow a trace. ``candidates`` bounds the search; one that ends there is no answer."""
    return _Search(trace, candidates).run()


CLAIM = "observed_steps_are_steps"
_JUDGE = "evidence"


def refinement_verdicts(
    read: Evidence, *, instance: str, replay: str, given: str = "", manifests: Sequence[Path] = ()
) -> list[Verdict]:
    """A verdict for the traces of each protocol, and for each run in ITF."""
    found: list[Verdict] = []
    mine = read.events.table(*COLUMNS, kinds=KINDS)
    if mine.num_rows:
        found += _traces(mine, instance, replay)
    for source in read.sources:
        if source.sort is Sort.ITF:
            found.append(_run(source, instance, replay, given=given, manifests=manifests))
    return found


def _subject(protocol: str, instance: str, name: str) -> Subject:
    return Subject(
        protocol=protocol, property_id=f"{protocol}.{CLAIM}", judge=_JUDGE, instance=f"{instance}:{name}"
    )


def _traces(mine: object, instance: str, replay: str) -> list[Verdict]:
    try:
        listed = traces(rows(ordered(mine, "source"), COLUMNS))
        return [_trace(one, instance, replay) for one in listed]
    except (TraceError, BadInstance, SpecError) as error:
        return [inconclusive(_subject("trace", instance, "trace"), reason=str(error), replay=replay)]


def _trace(trace: Trace, instance: str, replay: str) -> Verdict:
    subject = _subject(trace.protocol, instance, "trace")
    if not any(trace.streams):
        what = f"after {trace.where}, where {trace.missing} steps are missing" if trace.missing else "in it"
        return inconclusive(
            subject, reason=f"the trace has no step that could be judged ({what})", replay=replay
        )
    done = refine(trace)
    counts = {"events": done.events, "matched": done.matched, "candidates": done.candidates}
    bounds = (
        f"the {done.events} steps of the trace; not observed: at most {HIDDEN_IN_A_ROW} steps in a row of "
        f"{', '.join(trace.hidden) or 'no action'}"
    )
    if done.cut:
        reason = (
            f"{done.candidates} candidate states were tried, and {done.matched} of {done.events} steps match"
        )
        return inconclusive(subject, reason=reason, counts=counts, bounds=bounds, replay=replay)
    if not done.complete:
        return refuted(
            subject, counts=counts, counterexample=_shown(trace, done), bounds=bounds, replay=replay
        )
    if trace.missing:
        reason = f"{trace.missing} steps are missing from {trace.where} on; all before are steps"
        return inconclusive(subject, reason=reason, counts=counts, bounds=bounds, replay=replay)
    return holds(subject, counts=counts, bounds=bounds, replay=replay)


def _shown(trace: Trace, done: Refined) -> Counterexample:
    """The longest run, and the event that does not follow."""
    pairs = [(step, state) for step, state in done.run[1:] if step is not None]
    fails = "; ".join(
        f"{event.source}:{event.line} {event}: {why}"
        for event, why in zip(done.breaks, done.why, strict=True)
    )
    return counterexample(
        trace.instance,
        states=[done.run[0][1], *(state for _, state in pairs)],
        steps=[step for step, _ in pairs],
        failing=f"after {done.matched} of {done.events} steps: {fails}",
        replayable=False,
    )


def _run(source: Source, instance: str, replay: str, *, given: str, manifests: Sequence[Path]) -> Verdict:
    from tidemark.checks.inputs.manifests import chosen_instance

    name = source.name
    subject = _subject("itf", instance, name)
    try:
        document = read_itf(source.path)
        model: Instance | None = chosen_instance(given, manifests=manifests) if given else model_of(document)
        if model is None:
            reason = f"{name} does not say which protocol it belongs to; name it with --instance"
            return inconclusive(subject, reason=reason, replay=replay)
        taken = take_again(document, model)
    except NoRunError as error:
        return refuted(
            subject,
            counts={"events": error.number + 1},
            counterexample=Counterexample(initial=error.before, failing=error.message),
            replay=replay,
        )
    except (BadInputError, BadInstance, SpecError) as error:
        return inconclusive(subject, reason=f"{name}: {error}", replay=replay)
    counts = {"events": max(1, len(taken.trace.steps))}
    if taken.broken:
        return refuted(subject, counts=counts, counterexample=taken.trace, replay=replay)
    return holds(
        subject, counts=counts, bounds=f"the {len(taken.trace.steps)} steps of the run", replay=replay
    )
