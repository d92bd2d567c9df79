"""A recorded execution as a counterexample: what happened, and how the abstract state changed."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from tidemark.checks.interleave.executions.replay import Exact
from tidemark.checks.interleave.executions.run import Factory, run_once
from tidemark.checks.interleave.executions.token import decode, encode
from tidemark.checks.interleave.search_loop import quiet
from tidemark.checks.interleave.strategies.strategy import StateStrategy
from tidemark.checks.verdicts.counterexample import Counterexample, Scalar, Step, Value
from tidemark.checks.verdicts.trace import axes_of, failing_conjunct
from tidemark.models.refinement.step import MappingError, Matched, NoCounterpartError, State, StepChecker
from tidemark.models.simulation import (
    Execution,
    Footprint,
    Interner,
    Observation,
    Program,
    ProgramRef,
    Violation,
)

STEPS = 2_000


@runtime_checkable
class Refining(Protocol):
    """A program whose steps are compared with those of a specification."""

    claims: tuple[str, ...]
    """Ids of what the program checks by itself."""

    @property
    def checker(self) -> StepChecker:
        """The specification."""

    def abstract(self, observation: Observation) -> State:
        """The state of the specification that an observation represents."""

    def action(self, before: State, after: State, label: str, matched: Matched) -> str:
        """The action that a step is meant to be, among those with the effect of ``matched``."""


@runtime_checkable
class SaysFaults(Protocol):
    """A program whose ``covered`` says which kinds of fault have happened."""

    @property
    def faults(self) -> frozenset[str]:
        """Kinds of fault that the budget allows, by the names that ``covered`` uses."""


@dataclass(frozen=True)
class RecordedExecution:
    """An execution that was run again.

    labels, actors: what happened, step by step, and in which process. observed: the observations, one more
    than steps. token: the replay token of the whole execution.
    """

    program: Program
    labels: tuple[str, ...]
    actors: tuple[str, ...]
    observed: tuple[Observation | None, ...]
    violation: Violation | None
    final: Hashable
    token: str


def witness(program: ProgramRef, token: str) -> RecordedExecution:
    """Run the execution of a token again.

    Raises CorruptTokenError, WrongProgramError: the token cannot be used; DivergenceError: the program no
    longer behaves as recorded.
    """
    content = decode(token)
    content.check_program(program.digest(), program.text())
    strategy = _Watching(content.picks, fingerprints=content.fingerprints)
    with quiet():
        run = run_once(strategy.making(program.load()), strategy, interner=Interner(), steps=STEPS)
    assert strategy.program is not None
    return RecordedExecution(
        program=strategy.program,
        labels=tuple(step.label for step in run.trace),
        actors=tuple(strategy.actors),
        observed=tuple(strategy.observed),
        violation=run.violation,
        final=run.final,
        token=encode(program.digest(), run.trace),
    )


class _Watching(Exact, StateStrategy):
    """A replay that keeps what can be seen on its way."""

    def __init__(self, picks: Sequence[int], *, fingerprints: Sequence[int]) -> None:
        super().__init__(picks, fingerprints=fingerprints)
        self.program: Program | None = None
        self.actors: list[str] = []
        self.observed: list[Observation | None] = []
        self._execution: Execution | None = None
        self._lanes: tuple[str, ...] = ()

    def making(self, factory: Factory) -> Factory:
        """Return the factory of the program, and keep what it makes: an execution may end at its start."""

        def make() -> Program:
            self.program = factory()
            return self.program

        return make

    def arrive(self, execution: Execution) -> bool:
        """Keep the observation, and who may act next."""
        self._execution = execution
        self.observed.append(execution.observation())
        self._lanes = tuple(event.lane.name for event in execution.enabled())
        return True

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Keep who acts."""
        chosen = super().pick(enabled, last)
        if chosen is not None:
            self.actors.append(self._lanes[chosen])
        return chosen

    def done(self, last: Footprint | None) -> None:
        """Keep the last observation: the only one, where the start is wrong."""
        del last
        if self._execution is not None:
            self.observed.append(self._execution.observation())
        elif self.program is not None:
            self.observed.append(self.program.observe())


def counterexample_of(seen: RecordedExecution) -> Counterexample:
    """The execution as data, with the part of the claim that fails."""
    violation = seen.violation
    message = violation.message if violation is not None else "nothing: every step is allowed"
    if not isinstance(seen.program, Refining):
        return _plain(seen, message)
    try:
        story = _Story(seen, seen.program)
    except (NoCounterpartError, MappingError):
        return _plain(seen, message)
    return story.counterexample(message)


def _plain(seen: RecordedExecution, message: str) -> Counterexample:
    """Of a program without a specification: its observation, component by component."""
    states = [{name: _shown(value) for name, value in (state or {}).items()} for state in seen.observed] or [
        {}
    ]
    names = dict.fromkeys(name for state in states for name in state)
    full: list[dict[str, Value]] = [{name: state.get(name) for name in names} for state in states]
    steps = zip(seen.labels, seen.actors, full[1:], strict=True)
    return Counterexample(
        initial=full[0],
        steps=tuple(Step(action=label, actor=actor, after=after) for label, actor, after in steps),
        failing=message,
        token=seen.token,
    )


def _shown(value: Hashable) -> Scalar:
    return value if isinstance(value, bool | int | str) or value is None else repr(value)


@dataclass
class _Story:
    """An execution beside its specification."""

    seen: RecordedExecution
    program: Refining
    states: list[State] = field(init=False)

    def __post_init__(self) -> None:
        observed = [state for state in self.seen.observed if state is not None]
        self.states = [self.program.abstract(state) for state in observed]

    def counterexample(self, message: str) -> Counterexample:
        """The steps with the changed fields, and beside each the step of the specification that it is."""
        return Counterexample(
            initial=self._decoded(self.states[0]),
            steps=tuple(self._steps()),
            failing=self._failing(message),
            axes=axes_of(self.program.checker.interpreter.instance),
            token=self.seen.token,
        )

    def _decoded(self, state: State) -> dict[str, Any]:
        names = [variable.name for variable in self.program.checker.spec.variables]
        return dict(zip(names, state, strict=True))

    def _steps(self) -> list[Step]:
        found = []
        for place, (label, actor) in enumerate(zip(self.seen.labels, self.seen.actors, strict=True)):
            before, after = self.states[place], self.states[place + 1]
            answer = self.program.checker.check(before, after)
            note = ""
            if isinstance(answer, Matched):
                action = self.program.action(before, after, label, answer)
                note = f"is {str(answer.step).replace(answer.step.action, action, 1)}"
            found.append(Step(action=label, actor=actor, after=self._decoded(after), note=note))
        return found

    def _failing(self, message: str) -> str:
        """The false conjunct of the property, or else the words of the refinement check."""
        violation = self.seen.violation
        checker = self.program.checker
        props = {prop.id: prop for prop in checker.spec.properties}
        prop = props.get(violation.claim) if violation is not None else None
        if prop is None or prop.kind == "leads_to" or len(self.states) < 2:
            return message  # a claim about an end has no conjunct that one state breaks
        before, after = self.states[-2], self.states[-1]
        if prop.kind == "transition_invariant":
            return failing_conjunct(checker.interpreter, prop, before, after) or message
        return failing_conjunct(checker.interpreter, prop, after) or message
