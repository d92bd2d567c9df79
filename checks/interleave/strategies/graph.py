"""A search that merges states and keeps the graph of what it has met: which event leads where."""

from collections.abc import Sequence
from typing import Protocol, cast, runtime_checkable

import networkx as nx

from tidemark.checks.interleave.strategies.states import MergingSearch, Met, picks_of
from tidemark.checks.interleave.strategies.strategy import StateStrategy
from tidemark.models.refinement.step import State, StepChecker
from tidemark.models.simulation import Execution, Footprint, Observation
from tidemark.models.simulation.snapshot import plain


@runtime_checkable
class Abstracting(Protocol):
    """A program whose states stand for states of a specification."""

    @property
    def checker(self) -> StepChecker:
        """The specification."""

    def abstract(self, observation: Observation) -> State:
        """The state of the specification that an observation stands for."""


class GraphSearch(MergingSearch):
    """The search of ``MergingSearch``, with its graph. Events are told apart by their plain labels.

    Attributes:
        abstract: by number the abstract state.
        digests: by number the digest of the declared state.
        ways: by number the choices that led to it at first.
        graph: by number what follows; the key of an edge is the plain label of its event.
        faults: labels of faults, which need not come.
    """

    def __init__(self, met: Met) -> None:
        super().__init__(met)
        self.abstract: list[State] = []
        self.digests: list[bytes] = []
        self.ways: list[tuple[int, ...]] = []
        self.graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
        self.faults: set[str] = set()
        self._numbers: dict[bytes, int] = {}

    def _reached(self, before: bytes, execution: Execution, *, merged: bool) -> None:
        """Keep the state, and the step that led to it."""
        del merged
        self._keep(before, self._state, execution)

    def done(self, last: Footprint | None) -> None:
        """Keep the end of an execution: a state in which nothing can happen."""
        execution = self._execution
        if execution is not None and self._last is not None and not execution.world.enabled():
            self._keep(self._last.state, execution.declared_state(), execution)
        super().done(last)

    def _keep(self, before: bytes, state: bytes, execution: Execution) -> None:
        number = self._numbers.get(state)
        if number is None:
            number = self._numbers[state] = len(self.abstract)
            self.abstract.append(_abstract(execution))
            self.digests.append(state)
            self.ways.append(picks_of(self._last))
            self.graph.add_node(number)
            execution.failures()
            self.faults |= {plain(event.label) for event in execution.world.enabled() if event.fault}
        if self._last is not None:
            label = plain(self._last.enabled[self._last.pick])
            self.graph.add_edge(self._numbers[before], number, key=label)


def _abstract(execution: Execution) -> State:
    observation = execution.observation()
    assert observation is not None
    return cast("Abstracting", execution.program).abstract(observation)


class Following(StateStrategy):
    """Takes given choices, and then events by their plain labels.

    Args:
        picks: the choices.
        labels: of the events after them.
        skipped: how many enabled events of each of these labels are passed over.

    Attributes:
        states: the digests of the declared states, from the end of the choices on.
    """

    def __init__(self, picks: Sequence[int], labels: Sequence[str], skipped: Sequence[int]) -> None:
        self._picks = picks
        self._labels = labels
        self._skipped = skipped
        self._step = 0
        self.states: list[bytes] = []

    def new_execution(self) -> bool:
        """Start over."""
        self._step = 0
        return True

    def arrive(self, execution: Execution) -> bool:
        """Keep the state."""
        if self._step >= len(self._picks):
            self.states.append(execution.declared_state())
        return True

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Return the next choice; None at the end, or where the event cannot happen."""
        del last
        step, self._step = self._step, self._step + 1
        if step < len(self._picks):
            return self._picks[step]
        move = step - len(self._picks)
        if move >= len(self._labels):
            return None
        places = [place for place, label in enumerate(enabled) if plain(label) == self._labels[move]]
        return next(iter(places[self._skipped[move] :]), None)

    def done(self, last: Footprint | None) -> None:
        """Nothing is learned."""
