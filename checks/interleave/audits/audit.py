"""The audit of a reduction: random executions, run without any reduction, must be explained by the search.
Where footprints decide what is left out, steps that are independent by them must commute.

The premise of every reduction by footprints: two steps whose footprints do not meet may change places.

A search with sleep sets runs one order of such steps and leaves the other out. That is right only if a
footprint names all that its step has touched. Here both orders are run, from places of random executions: in
either, both steps must happen, touch the same, and lead to the same state and to the same end. What a step
touches and does not say shows as a difference.

The audit of a reduction as a verdict: for programs that must not pass it.

Elsewhere a search that the audit objects to ends with an error, and judges nothing.
"""

import functools
import itertools
import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tidemark.checks.interleave.errors import CAUSES, UnsoundReductionError
from tidemark.checks.interleave.executions.recorded_execution import counterexample_of, witness
from tidemark.checks.interleave.executions.replay import Exact
from tidemark.checks.interleave.executions.run import Factory, run_once
from tidemark.checks.interleave.executions.token import encode
from tidemark.checks.interleave.limits import ExecutionLimits, Options, Reduction
from tidemark.checks.interleave.result import Exploration, Found
from tidemark.checks.interleave.search_loop import quiet, search
from tidemark.checks.interleave.strategies.random_walk import RandomWalk
from tidemark.checks.interleave.strategies.strategy import Remembering, StateStrategy
from tidemark.checks.verdicts.counterexample import Counterexample
from tidemark.checks.verdicts.verdict import Subject, Verdict, holds, inconclusive, refuted
from tidemark.models.simulation import Execution, Footprint, Interner, Program, ProgramRef, independent

FOOTPRINTS = "footprints"
"""Claim id: each step says what it touches, as far as the audit of the search sees."""


def judged(
    program: ProgramRef, search: Callable[[], Exploration], subject: Subject, *, replay: str
) -> Verdict:
    """Search, and say what the audit has seen. What else is wrong with the program leaves it undecided."""
    try:
        result = search()
    except UnsoundReductionError as error:
        return refuted(
            subject,
            counts={"executions": 1},
            counterexample=_shown_run(program, error),
            reason=error.message,
            bounds=program.text(),
            replay=replay,
        )
    commuting = result.statistics.commuting
    if result.violations or result.reason or not commuting:
        reason = result.reason or "the search ended at a violation, or no two of its steps are independent"
        return inconclusive(subject, reason=reason, counts={}, bounds=result.bounds, replay=replay)
    counts = {"executions": result.statistics.executions, "commuting": commuting}
    return holds(subject, counts=counts, bounds=result.bounds, replay=replay)


def _shown_run(program: ProgramRef, error: UnsoundReductionError) -> Counterexample:
    """The run that shows it, up to there."""
    with quiet():
        run = run_once(program.load(), Exact(error.picks), interner=Interner(), steps=ExecutionLimits().steps)
    shown = counterexample_of(witness(program, encode(program.digest(), run.trace)))
    return shown.model_copy(update={"steps": shown.steps[: len(error.picks)], "failing": error.message})


_STEPS = 400
"""A random execution is followed for so many steps: a program that polls has no end."""
_AT_ONCE = 4
"""Pairs that are tried along one random execution."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two events of different processes that are enabled after some choices."""

    picks: tuple[int, ...]
    one: str
    other: str


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is compared after two steps: the steps' footprints by label, and the state. ``picks``: the choices
    up to here.
    """

    picks: tuple[int, ...]
    footprints: dict[str, Footprint]
    state: dict[str, Hashable]
    judged: bool


def commuting_pairs(program: ProgramRef, *, pairs: int) -> int:
    """Try pairs of steps in both orders. Return how many of them were independent, and did commute.

    ``pairs``: how many pairs to try, over as many random executions as that takes. Raises
    UnsoundReductionError: two steps that their footprints call independent do not commute.
    """
    factory, interner = program.load(), Interner()
    with quiet():
        found = itertools.islice(_pairs(factory, interner), pairs)
        return sum(_commutes(factory, interner, pair) for pair in found)


def _pairs(factory: Factory, interner: Interner) -> Iterator[Pair]:
    """Pairs of steps along random executions; no more if these have none."""
    draw = random.Random(_SEED)
    while True:
        places = _walk(factory, interner, draw)
        if not places:
            return
        for picks, labels in draw.sample(places, min(_AT_ONCE, len(places))):
            one, other = draw.choice(labels)
            yield Pair(picks, one, other)


_Place = tuple[tuple[int, ...], list[tuple[str, str]]]


def _walk(factory: Factory, interner: Interner, draw: random.Random) -> list[_Place]:
    """Run one random execution. Return the places with events of several processes, and these in pairs."""
    places: list[_Place] = []
    with _begun(factory, interner) as execution:
        picks: tuple[int, ...] = ()
        while len(picks) < _STEPS and execution.violation is None:
            events = execution.enabled()
            if not events:
                break
            apart = [
                (one.label, other.label)
                for one, other in itertools.combinations(events, 2)
                if one.lane.bit != other.lane.bit
            ]
            if apart:
                places.append((picks, apart))
            pick = draw.randrange(len(events))
            execution.step_again(events[pick])
            picks += (pick,)
    return places


@contextmanager
def _begun(factory: Factory, interner: Interner) -> Iterator[Execution]:
    execution = Execution(factory(), interner)
    try:
        execution.start(checked=True)
        yield execution
    finally:
        execution.close()


def _commutes(factory: Factory, interner: Interner, pair: Pair) -> bool:
    """Run a pair in both orders. Return whether the steps are independent."""
    first = _after(factory, interner, pair.picks, (pair.one, pair.other))
    second = _after(factory, interner, pair.picks, (pair.other, pair.one))
    if not independent(first.footprints[pair.one], second.footprints[pair.other]):
        return False
    if first.judged or second.judged:
        return False  # what breaks a claim, or the program, is the search's to report
    different = _difference(first, second, pair, interner)
    if different is None:
        return True
    raise UnsoundReductionError(
        f"after {len(pair.picks)} steps, {pair.one!r} and {pair.other!r} touch nothing in common by what "
        f"they say, and {different}",
        remedy="let each step record what it touches (World.touch), and let processes share nothing but the "
        "objects of the world",
        picks=first.picks,
    )


def _after(factory: Factory, interner: Interner, picks: tuple[int, ...], labels: Sequence[str]) -> _Seen:
    """Take choices, then events by their labels as long as they are enabled."""
    footprints: dict[str, Footprint] = {}
    with _begun(factory, interner) as execution:
        for pick in picks:
            execution.step_again(execution.enabled()[pick])
        execution.catch_up()
        for label in labels:
            enabled = [event.label for event in execution.enabled()]
            if label not in enabled or execution.violation is not None:
                break
            picks += (enabled.index(label),)
            footprints[label] = execution.step(execution.enabled()[picks[-1]])
        seen = _state(execution)
        if len(footprints) == len(labels):
            seen |= _end(execution)
        return _Seen(picks, footprints, seen, execution.violation is not None)


def _state(execution: Execution) -> dict[str, Hashable]:
    """What can be seen of a state, by what it is called in words."""
    observed = execution.program.observe() or {}
    seen: dict[str, Hashable] = {"events": tuple(sorted(event.label for event in execution.enabled()))}
    seen |= {f"the observed component {name!r}": value for name, value in observed.items()}
    if type(execution.program).declared is not Program.declared:
        seen["the declared state"] = execution.declared_state()
    return seen


def _end(execution: Execution) -> dict[str, Hashable]:
    """What follows without faults, if the event whose label is the least happens each time.

    A program that declares no state shows in this way what its processes keep for themselves.
    """
    taken: list[str] = []
    while len(taken) < _STEPS and execution.violation is None:
        events = [event for event in execution.enabled() if not event.fault]
        if not events:
            return {"what follows": tuple(taken), "the outcome": execution.program.final()}
        event = min(events, key=lambda one: one.label)
        execution.step_again(event)
        taken.append(event.label)
    return {"what follows": tuple(taken)}


def _difference(first: _Seen, second: _Seen, pair: Pair, interner: Interner) -> str | None:
    """What the two orders differ in, in words."""
    for seen, earlier, later in ((first, pair.one, pair.other), (second, pair.other, pair.one)):
        if later not in seen.footprints:
            return f"{later!r} cannot happen after {earlier!r}"
    for label in (pair.one, pair.other):
        one, other = first.footprints[label], second.footprints[label]
        if one != other:
            what = sorted({*_names(one, interner)} ^ {*_names(other, interner)})
            return f"{label!r} has in one order only: {', '.join(what)}"
    for name, value in first.state.items():
        if second.state.get(name) != value:
            ends = f"{_shown(value)} or {_shown(second.state.get(name))}"
            return f"{name} after both depends on their order: {ends}"
    return None


def _names(footprint: Footprint, interner: Interner) -> list[str]:
    reads, writes = interner.unpack(footprint)
    return [*(f"read of {name}" for name in reads), *(f"write of {name}" for name in writes)]


def _shown(value: Hashable) -> str:
    return value.hex() if isinstance(value, bytes) else repr(value)


_SEED = 20240229
_LEAST = 50
_LOOKING = 1_000
"""Random executions that look for a violation where the search has missed something else."""
MISSED = "has missed"
"""What notes say of a violation that a random execution shows and the search has not found."""
_STATES_FOR_ONE = 20
"""Where states are merged: of these random executions there is one for so many states, and so many at least,
within what the options allow. In a program of few states they soon come to the same places again.
"""


class _Node:
    """Where random executions have come with the same choices: they are the same up to here.

    choices: how many events were enabled; 0 as long as none has come here without a violation.
    after: footprint of the step, and where it led, by choice.
    ended: an execution has ended here.
    """

    __slots__ = ("after", "choices", "ended")

    def __init__(self) -> None:
        self.choices = 0
        self.ended = False
        self.after: dict[int, tuple[Footprint, _Node]] = {}


class Auditor(RandomWalk, StateStrategy, Remembering):
    """A random walk that looks at every declared state on its way, where it has not been before.

    An execution whose choices are all those of an earlier one is that execution: it counts, and is not run.

    Attributes:
        states: digests of the declared states on its way.
        repeated: executions that were not run, because an earlier one is the same.
    """

    def __init__(self, *, executions: int, state_of: Callable[[Execution], bytes]) -> None:
        super().__init__(seed=_SEED, executions=executions)
        self.states: set[bytes] = set()
        self.repeated = 0
        self._state_of = state_of
        self._root = self._at = _Node()
        self._step: tuple[_Node, int] | None = None
        self._ahead: list[int] = []
        self._known: list[Footprint] = []

    def new_execution(self) -> bool:
        """Draw the choices up to the first step that was not taken before, that one included."""
        while super().new_execution():
            if not self._drawn().ended:
                return True
            self.repeated += 1
        return False

    def _drawn(self) -> _Node:
        """Draw choices as far as executions have come. Return where that ends."""
        self._ahead, self._known, self._step = [], [], None
        self._at = node = self._root
        while node.choices:
            place = self._draw(node.choices)
            self._ahead.append(place)
            footprint, node = node.after.get(place, (None, _NOWHERE))
            if footprint is not None and node.choices:
                self._known.append(footprint)
        self._ahead.reverse()
        return node

    def known(self) -> Sequence[Footprint]:
        """Return the steps that were taken and checked before."""
        return self._known

    def arrive(self, execution: Execution) -> bool:
        """Note the state, and go on."""
        if not self._at.choices:
            self.states.add(self._state_of(execution))
        return True

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int:
        """Pick any event."""
        node = self._at
        node.choices = len(enabled)
        if self._step is not None and last is not None:
            before, place = self._step
            before.after[place] = (last, node)
        place = self._ahead.pop() if self._ahead else self._draw(len(enabled))
        self._step = (node, place)
        self._at = node.after[place][1] if place in node.after else _Node()
        return place

    def done(self, last: Footprint | None) -> None:
        """Note the last step, and that this execution has been seen to its end."""
        if self._step is not None and last is not None:
            before, place = self._step
            before.after[place] = (last, self._at)
        self._at.ended = not self._at.choices


_NOWHERE = _Node()

BY_FOOTPRINTS = frozenset({Reduction.SLEEP_SETS, Reduction.OPTIMAL})
_PAIRS = 5
"""Pairs of steps that are tried in both orders, for each random execution of the audit."""


def audit(program: ProgramRef, options: Options, result: Exploration, *, timed: bool = False) -> None:
    """Look at what the reduction of a search rests on, as closely as the options say.

    ``result``: what it has found; how much was looked at is added. Raises UnsoundReductionError: the search
    has left something out, or may have.
    """
    sample = random_sample(program, options, timed=timed, states=len(result.states))
    if sample is not None:
        try:
            check_led(result, histories=sample.histories)
            check_explained(result, sample)
        except UnsoundReductionError as error:
            if not _refuted_otherwise(program, options, result, error):
                raise
    if options.reduction in BY_FOOTPRINTS and not (result.violations or result.remaining or result.reasons):
        result.statistics.commuting = commuting_pairs(program, pairs=_PAIRS * options.audit)


def _refuted_otherwise(
    program: ProgramRef, options: Options, result: Exploration, missed: UnsoundReductionError
) -> bool:
    """Look for a violation in random executions without a reduction, where the search has missed something:
    an implementation that is wrong may have more state than its program declares. Tell whether there is one.
    """
    from tidemark.models.simulation import Interner

    walk = RandomWalk(seed=_SEED, executions=_LOOKING)
    plain = replace(_few(options), stop_at_violation=True)
    for found in search(program, walk, Interner(), plain, None).violations.values():
        _record_missed(result, found, missed.message)
    return bool(result.violations)


def _record_missed(result: Exploration, found: Found, words: str) -> None:
    """A violation is one of the program, however it was met: its execution is at hand, and was repeated."""
    result.record(found)
    result.reasons = (*result.reasons, words)


def _few(options: Options) -> Options:
    """The options of random executions."""
    limits = ExecutionLimits(steps=options.limits.steps)
    return replace(options, limits=limits, check_every=0, stop_at_violation=False, stop_at=frozenset())


@dataclass(frozen=True, slots=True)
class Sample:
    """Random executions: what they found, and the declared states that they passed if these are merged."""

    result: Exploration
    states: frozenset[bytes] = frozenset()
    histories: bool = False


def random_sample(
    program: ProgramRef, options: Options, *, timed: bool = False, states: int | None = None
) -> Sample | None:
    """Run the executions of the audit. None if nothing is reduced, or no audit is wanted.

    ``options``: how the search was done; the audit has at most as many executions as they say. ``states``:
    states that the search has met, which bound the audit of a small program.
    """
    from tidemark.models.simulation import Interner

    by_histories = options.histories or options.memories
    merging = by_histories or options.reduction is Reduction.STATES
    if not options.audit or (options.reduction is Reduction.NONE and not merging):
        return None
    few = _few(options)
    if options.memories:  # what polls has no end
        few = replace(few, limits=ExecutionLimits(steps=min(_STEPS, options.limits.steps)))
    if merging:
        kind = Execution.memory_state if options.memories else Execution.history_state
        state_of = functools.partial(kind, timed=timed)
        auditor = Auditor(
            executions=_size(options.audit, states),
            state_of=state_of if by_histories else Execution.declared_state,
        )
        result = search(program, auditor, Interner(), few, None)
        result.statistics.executions += auditor.repeated
        return Sample(result, frozenset(auditor.states), by_histories)
    walk = RandomWalk(seed=_SEED, executions=options.audit)
    return Sample(search(program, walk, Interner(), few, None))


def _size(most: int, states: int | None) -> int:
    """How many random executions explain a search that met so many states."""
    return most if states is None else min(most, max(_LEAST, states // _STATES_FOR_ONE))


def check_led(result: Exploration, *, histories: bool) -> None:
    """Raise UnsoundReductionError if an event has led to two states, in a complete search that found nothing
    else wrong.
    """
    if result.broken is None or result.violations or result.remaining or result.reasons:
        return
    label, one, other = result.broken
    raise _unsound(
        f"after {len(one) - 1} and after {len(other) - 1} steps two executions come to equal states, from "
        f"which {label!r} leads to different ones: the search {MISSED} what comes after one of them",
        histories=histories,
        picks=other,
    )


def check_explained(result: Exploration, sample: Sample) -> None:
    """Compare a complete search with random executions. A search that was cut explains nothing, and is not
    blamed. A violation that only a random execution shows is added to what was found.

    Raises UnsoundReductionError: a random execution has an outcome, a trace or a declared state that the
    search did not see.
    """
    result.statistics.audited = sample.result.statistics.executions
    if result.remaining or result.reasons:
        return
    known = {violation.identity for violation in result.violations}
    for violation, found in sample.result.violations.items():
        if violation.identity not in known:
            missed = _unexplained(f"the violation {violation.message!r}", histories=sample.histories)
            _record_missed(result, found, missed.message)
    if result.violations:
        return
    for final in sample.result.finals - result.finals:
        raise _unexplained(f"the outcome {final!r}", histories=sample.histories)
    if sample.result.classes - result.classes:
        raise _unexplained("a Mazurkiewicz trace", histories=sample.histories)
    if sample.states - result.states:
        raise _unexplained("a state" if sample.histories else "a declared state", histories=sample.histories)


def _unexplained(what: str, *, histories: bool) -> UnsoundReductionError:
    merged = "that merges histories" if histories else "with reduction"
    why = ": what has run does not determine what comes" if histories else ""
    return _unsound(
        f"a random execution shows {what}, which the search {merged} {MISSED}{why}", histories=histories
    )


def _unsound(words: str, *, histories: bool, picks: tuple[int, ...] = ()) -> UnsoundReductionError:
    if histories:
        return UnsoundReductionError(
            words,
            remedy=f"leave merge out, or remove the cause, which usually is one of: {CAUSES}",
            picks=picks,
        )
    return UnsoundReductionError(
        words,
        remedy="let each step record what it touches (World.touch), let processes share nothing but the "
        "objects of the world, let a check of single steps see the world through Program.observe only, and "
        "declare in Program.declared all data that influence the future",
        picks=picks,
    )
