"""Exhaustive search that merges executions when they meet in the same declared state.

Where all steps are visible to a check, hardly any two of them are independent, and sleep sets gain little.
This mode walks the graph of declared states: each (state, event) pair is executed and checked once. Programs
cannot be set back, so that each execution begins at the start: it repeats the way to the shallowest state
with events that were not taken, takes one, and goes on for as long as it comes to states with such events.
It ends in a state without one, and in a state on its own way, so that no execution goes round.

What is claimed rests on a promise of the program: its declared state
(``tidemark.models.simulation.snapshot``) determines what can happen afterwards. The bounds of the result say
so. The promise is audited. Of the executions that would end in a state that was met on another way, some take
an event there that was taken on that way: it must lead to the same state. And states of random executions,
which merge nothing, must all have been met, and outcomes and violations likewise. Sleep sets are not combined
with merging, since a merged execution may have been asleep for something that the first one was not.

Events are the same in two executions that meet if they have the same name but for the numbers that only tell
names apart. Of several events with one name, it is not known which is which: they are taken on the way on
which the state was met first.

Exhaustive search that merges executions when the same callbacks have run in the same order.

It is ``MergingSearch`` with another state: the history of a process and what its loop holds
(``tidemark.models.simulation.loop.history``). Nothing is promised by the program but that its code is
deterministic, which every search checks on a sample. The audit is that of declared states.

Whether the clock belongs to the state depends on the program: if some execution asks what time it is, the
search without the clock is given up, and one with it begins.

Exhaustive search that merges executions when they meet with equal memories
(``tidemark.models.simulation.loop.memory``): a task that polls comes back to where it was, and its rounds end
there. So the runs that go round for ever are not run. A state from which every run does so is told.
"""

import heapq
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tidemark.checks.interleave.errors import DivergenceError
from tidemark.checks.interleave.result import Broken
from tidemark.checks.interleave.strategies.strategy import Remembering, StateStrategy
from tidemark.checks.interleave.trees.tree import pick_of_base
from tidemark.checks.interleave.trees.work import WHOLE, WorkItem
from tidemark.models.simulation import Execution, Footprint, NamedFootprint, Observation
from tidemark.models.simulation.snapshot import Places, places_of, plain, recall

_PROBE_EVERY = 4
"""Of so many executions that end in a state that was met before, one takes an event there once more."""
_SEED = 20261130


@dataclass(slots=True)
class Met:
    """Declared states by digest.

    Attributes:
        elsewhere: states met in other parts of the tree. Each of them is expanded, or waits in a work item.
        here: states met in this part.
    """

    elsewhere: frozenset[bytes] = frozenset()
    here: set[bytes] = field(default_factory=set)

    def add(self, state: bytes) -> bool:
        """Add a state. Return whether it is new."""
        if state in self.here or state in self.elsewhere:
            return False
        self.here.add(state)
        return True


@dataclass(slots=True, eq=False)
class Taken:
    """A step of an execution, with those before it.

    Attributes:
        before: the step before; None at the start.
        depth: how many steps were taken before.
        state: digest of the state in which it was taken; empty on the way to a work item.
        enabled: labels of the events that were enabled there.
        pick: place of the event.
        footprint: of the step, once it was taken.
    """

    before: "Taken | None"
    depth: int
    state: bytes
    enabled: tuple[str, ...]
    pick: int
    footprint: Footprint | None = None

    @property
    def label(self) -> str:
        """Label of the event."""
        return self.enabled[self.pick]

    def only(self) -> str | None:
        """Return the name of the event, if no other one there has it."""
        name = plain(self.label)
        return None if sum(plain(label) == name for label in self.enabled) > 1 else name

    def way(self) -> "Iterator[Taken]":
        """The steps up to this one, the last one first."""
        step: Taken | None = self
        while step is not None:
            yield step
            step = step.before


def picks_of(last: Taken | None) -> tuple[int, ...]:
    """Return the choices up to a step."""
    return tuple(step.pick for step in last.way())[::-1] if last is not None else ()


class Led(NamedTuple):
    """The state to which a step has led."""

    state: bytes
    last: Taken | None


@dataclass(slots=True, eq=False)
class Open:
    """A state with events that were not taken.

    Attributes:
        last: the last step of the way on which the state was met first.
        enabled: labels of the events there.
        left: places of those that were not taken, the first one last.
        observed, places: what was observed there, and where tasks wait: known when it is met once more.
    """

    state: bytes
    last: Taken | None
    enabled: tuple[str, ...]
    left: list[int]
    observed: Observation | None
    places: Places

    def common(self, enabled: Sequence[str]) -> tuple[int, int] | None:
        """Return an event that was not taken, by its place here and among the events of an execution that has
        come by another way; None if there is none that is known to be the same.
        """
        own, others = list(map(plain, self.enabled)), list(map(plain, enabled))
        for place in reversed(self.left):
            name = own[place]
            if own.count(name) == 1 == others.count(name):
                return place, others.index(name)
        return None


class MergingSearch(StateStrategy, Remembering):
    """Search of the subtree below a work item, each event of each declared state being taken once.

    Args:
        met: the states met so far.
        item: where to start. The events in its ``sleep`` were tried at its node already.

    Attributes:
        joined: how often an execution has gone on from a state that was met before.
        broken: of the first event that has led to two states, its label and the choices of both executions.
    """

    _towards = 1
    """The shallowest state first: the way to it is short."""

    def __init__(self, met: Met, *, item: WorkItem = WHOLE) -> None:
        self.met = met
        self.joined = 0
        self.broken: Broken | None = None
        self._base = item.picks
        self._tried = frozenset(label for label, _ in item.sleep)
        self._open: dict[bytes, Open] = {}
        self._due: list[tuple[int, int, bytes]] = []
        self._led: dict[tuple[bytes, str], Led] = {}
        self._draw = random.Random(_SEED)
        self._merged = 0
        self._began = False
        # Of the present execution: what it repeats, the last step first, and where that ends; its last step;
        # the state in which it has arrived; those in which it has taken steps; where it goes on, and by which
        # of the events there; the event that it takes once more, and where that led.
        self._again: list[Taken] = []
        self._goal: Open | None = None
        self._last: Taken | None = None
        self._state = b""
        self._own: set[bytes] = set()
        self._joins: tuple[Open, int, int] | None = None
        self._probe: tuple[int, Led] | None = None
        self._seen: tuple[Observation | None, Places] = (None, ())
        self._execution: Execution | None = None

    def new_execution(self) -> bool:
        """Go to a state with an event that was not taken."""
        self._last, self._state, self._own = None, b"", set()
        self._execution = self._probe = None
        if not self._began:
            self._began = True
            return True
        while self._due:
            self._goal = self._open.get(self._due[0][-1])
            if self._goal is not None:
                last = self._goal.last
                self._again = list(last.way()) if last is not None else []
                self._own = {step.state for step in self._again}
                return True
            heapq.heappop(self._due)
        return False

    def known(self) -> list[Footprint]:
        """Return the footprints of the steps that are repeated."""
        return [step.footprint for step in reversed(self._again) if step.footprint is not None]

    @property
    def _depth(self) -> int:
        return 0 if self._last is None else self._last.depth + 1

    def arrive(self, execution: Execution) -> bool:
        """Go on if the state is new, or has an event that was not taken and does not lie on the way."""
        self._execution = execution
        if self._depth < len(self._base):
            return True
        if self._goal is not None:  # what is known here is not computed again
            self._state = self._goal.state
            execution.be_at(self._goal.observed)
            recall(execution.world, self._goal.places)
            return True
        before, self._state = self._state, self.state_of(execution)
        if self._probe is not None:
            self._compare(self._state)
            return False
        goes_on = self._is_new(execution) or self._is_joined(execution)
        self._reached(before, execution, merged=not goes_on)
        self._note_led(before)
        return goes_on or self._is_probed(execution)

    def state_of(self, execution: Execution) -> bytes:
        """Return the digest of what is merged."""
        return execution.declared_state()

    def _reached(self, before: bytes, execution: Execution, *, merged: bool) -> None:
        """Take note of a step from the state ``before``, empty at the start, to the present one."""

    def _is_new(self, execution: Execution) -> bool:
        new = self.met.add(self._state)
        if self._depth == len(self._base):
            # The node of a work item was met when the item was made; what was tried there is in the item.
            self.met.here.add(self._state)
        elif not new:
            return False
        self._seen = execution.observation(), places_of(execution.world)
        return True

    def _is_joined(self, execution: Execution) -> bool:
        known = self._open.get(self._state)
        if known is None or self._state in self._own:
            return False
        common = known.common([event.label for event in execution.enabled()])
        if common is None:
            return False
        self.joined += 1
        self._joins = (known, *common)
        return True

    def _note_led(self, before: bytes) -> None:
        """Keep where the last step has led, if its event is the only one of its name."""
        name = self._last.only() if self._last is not None else None
        if name is not None:
            self._led[before, name] = Led(self._state, self._last)

    def _is_probed(self, execution: Execution) -> bool:
        """Tell whether the execution, which could end here, takes an event that was taken here before."""
        self._merged += 1
        if self._merged % _PROBE_EVERY != 1 or self._state in self._own:
            return False
        names = [plain(event.label) for event in execution.enabled()]
        known = [(place, self._led.get((self._state, name))) for place, name in enumerate(names)]
        may = [(place, led) for place, led in known if led is not None and names.count(names[place]) == 1]
        self._probe = self._draw.choice(may) if may else None
        return bool(may)

    def _compare(self, state: bytes) -> None:
        """Look where the event that was taken once more has led: to ``state``, which is empty at an end."""
        probe, self._probe = self._probe, None
        if probe is not None and self._last is not None and probe[1].state != state and self.broken is None:
            self.broken = Broken(self._last.label, picks_of(probe[1].last), picks_of(self._last))

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Repeat steps; then take the first event that was not taken."""
        self._note(last)
        if self._again:
            self._last = self._again.pop()
            self._expect(self._last.enabled, enabled, self._last.depth)
            return self._last.pick
        place = self._choose(tuple(enabled))
        if place is not None:
            self._own.add(self._state)
            self._last = Taken(self._last, self._depth, self._state, tuple(enabled), place)
        return place

    def _choose(self, enabled: tuple[str, ...]) -> int | None:
        if self._depth < len(self._base):
            return pick_of_base(self._base, enabled, self._depth)
        goal, self._goal = self._goal, None
        joins, self._joins = self._joins, None
        if self._probe is not None:
            return self._probe[0]
        if goal is not None:
            self._expect(goal.enabled, enabled, self._depth)
            return self._take(goal, goal.left[-1])
        if joins is not None:
            known, own, place = joins
            self._take(known, own)
            return place
        tried = self._tried if self._depth == len(self._base) else ()
        left = [place for place, label in enumerate(enabled) if label not in tried]
        if not left:
            return None
        here = Open(self._state, self._last, enabled, left[::-1], *self._seen)
        self._open[self._state] = here
        heapq.heappush(self._due, (self._towards * self._depth, len(self.met.here), self._state))
        return self._take(here, left[0])

    def _take(self, known: Open, place: int) -> int:
        known.left.remove(place)
        if not known.left:
            del self._open[known.state]
        return place

    def _expect(self, expected: tuple[str, ...], seen: Sequence[str], depth: int) -> None:
        if expected != tuple(seen):
            raise DivergenceError(step=depth, expected=expected, seen=seen)

    def _note(self, last: Footprint | None) -> None:
        if self._last is not None and self._last.footprint is None:
            self._last.footprint = last

    def done(self, last: Footprint | None) -> None:
        """Keep the footprint of the last step."""
        self._note(last)
        self._compare(b"")

    def remaining(self) -> list[WorkItem]:
        """Return what is left after the present execution. Call it between executions only."""
        if not self._began:
            return [WorkItem(self._base, _tried(self._tried))]
        return [
            WorkItem(
                picks_of(one.last), _tried(set(one.enabled) - {one.enabled[place] for place in one.left})
            )
            for one in self._open.values()
        ]


def _tried(labels: Iterable[str]) -> tuple[tuple[str, NamedFootprint], ...]:
    return tuple((label, NamedFootprint((), ())) for label in sorted(labels))


class HistorySearch(MergingSearch):
    """Search of the subtree below a work item, each history being continued once.

    Args:
        timed: the clock is a part of the state.
    """

    _towards = -1
    """The deepest state first: where a program has no end, the search shows how it goes on and on."""

    def __init__(self, met: Met, *, timed: bool, item: WorkItem = WHOLE) -> None:
        super().__init__(met, item=item)
        self.timed = timed
        self.clock_read = False

    @property
    def in_vain(self) -> bool:
        """Whether the search has to begin again, with the clock in its states."""
        return self.clock_read and not self.timed

    def new_execution(self) -> bool:
        """Go to what is left, unless the search leads to nothing new."""
        return not self.in_vain and super().new_execution()

    def state_of(self, execution: Execution) -> bytes:
        """Return the digest of the history and of what the loop holds."""
        return execution.history_state(timed=self.timed)

    def done(self, last: Footprint | None) -> None:
        """Note whether the clock was looked at."""
        super().done(last)
        if self._execution is not None:
            self.clock_read = self.clock_read or self._execution.clock_read


class MemorySearch(HistorySearch):
    """Search in which each memory is continued once.

    Attributes:
        opaque: types of objects of which the contents could not be seen.
        round: the choices of an execution that came back to one of its own states, and how many of them are
            that round: the longest one.
    """

    def __init__(self, met: Met, *, timed: bool) -> None:
        super().__init__(met, timed=timed)
        self.opaque: set[str] = set()
        self.round: tuple[tuple[int, ...], int] = ((), 0)
        self._before: dict[bytes, set[bytes]] = {}
        self._ways: dict[bytes, tuple[int, ...]] = {}
        self._ends: set[bytes] = set()

    def state_of(self, execution: Execution) -> bytes:
        """Return the digest of the memory."""
        state = execution.memory_state(timed=self.timed)
        self.opaque |= {execution.opaque} - {""}
        return state

    def _reached(self, before: bytes, execution: Execution, *, merged: bool) -> None:
        """Keep which state led to which."""
        del execution
        self._ways.setdefault(self._state, picks_of(self._last))
        self._before.setdefault(self._state, set()).update({before} - {b""})
        if merged and self._last is not None and self._state in self._own:
            start = next(step.depth for step in self._last.way() if step.state == self._state)
            length = self._depth - start
            self.round = max(self.round, (picks_of(self._last), length), key=lambda one: one[1])

    def done(self, last: Footprint | None) -> None:
        """Keep from which state an execution came to its end."""
        super().done(last)
        if self._execution is not None and self._last is not None and not self._execution.world.enabled():
            self._ends.add(self._last.state)

    def endless(self) -> tuple[int, ...] | None:
        """Return the choices that lead to where no execution comes to an end any more; None if it always may.
        Ask after a complete search.
        """
        ending, left = set(self._ends), list(self._ends)
        while left:
            new = self._before[left.pop()] - ending
            ending |= new
            left += new
        return min((way for state, way in self._ways.items() if state not in ending), key=len, default=None)
