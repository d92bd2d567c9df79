"""Is a trace a run of its protocol? Depth-first, with a set of candidate states for what was not observed.

A candidate is a state of the protocol together with how much of each file is used up. From it lead the next
event of each file (with every value of the parameters that were not observed) and, up to a bound between two
events, the hidden actions. Each candidate is visited once; how many there were is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.checks.evidence.refinement.model import Event, Trace
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter, Step

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
    def __init__(self, trace: Trace, hidden_in_a_row: int, limit: int) -> None:
        self.trace, self.limit, self.hidden_in_a_row = trace, limit, hidden_in_a_row
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
        if hidden < self.hidden_in_a_row:
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


def refine(trace: Trace, *, hidden_in_a_row: int = HIDDEN_IN_A_ROW, candidates: int = CANDIDATES) -> Refined:
    """Follow a trace. ``candidates`` bounds the search; one that ends there is no answer."""
    return _Search(trace, hidden_in_a_row, candidates).run()
