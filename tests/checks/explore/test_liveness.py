"""Liveness against a second, naive decision on the interpreter's graph, under every kind of fairness."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import pytest

from tidemark.checks.explore.judge import explore
from tidemark.checks.explore.lasso import cases, excuse
from tidemark.checks.explore.liveness import LivenessChecker
from tidemark.checks.verdicts.errors import UnsoundCombinationError
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.models.native.graph import build_graph
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import search
from tidemark.spec.language.spec import Fairness, Spec

SMALL = "tests.protocols.small:"
State = tuple[Any, ...]


@dataclass(frozen=True)
class Refaired(Instance):
    """An instance whose actions have another fairness than declared."""

    fairness: Mapping[str, Fairness] | None = None

    def traced(self) -> Spec:
        spec = super().traced()
        given = self.fairness or {}
        return replace(
            spec, actions=tuple(replace(a, fairness=given.get(a.name, a.fairness)) for a in spec.actions)
        )


def whole_graph(interpreter: Interpreter) -> nx.MultiDiGraph[Any]:
    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    todo = list(interpreter.initial())
    graph.add_nodes_from(todo)
    while todo:
        state = todo.pop()
        for found in interpreter.successors(state):
            if found.in_bounds and found.state != state:
                if found.state not in graph:
                    graph.add_node(found.state)
                    todo.append(found.state)
                graph.add_edge(state, found.state, step=found.step)
    return graph


class Naive:
    """Does a fair run stay in a set of states for ever? By the definition, one component at a time."""

    def __init__(
        self, interpreter: Interpreter, graph: nx.MultiDiGraph[Any], without: tuple[str, ...]
    ) -> None:
        kinds = {a.name: a.fairness for a in interpreter.spec.actions if a.name not in without}
        self.graph = graph
        self.weak = {s for s in interpreter.steps if kinds.get(s.action) == "weak"}
        self.strong = {s for s in interpreter.steps if kinds.get(s.action) == "strong"}
        self.enabled: dict[State, set[Step]] = {
            state: {data["step"] for _, _, data in graph.out_edges(state, data=True)} for state in graph
        }

    def stays(self, states: set[State]) -> bool:
        if any(not self.enabled[state] & (self.weak | self.strong) for state in states):
            return True
        in_bounds = self.graph.subgraph(states)
        for part in nx.strongly_connected_components(in_bounds):
            taken = {data["step"] for _, _, data in in_bounds.subgraph(part).edges(data=True)}
            if not taken:
                continue
            always = set.intersection(*(self.enabled[state] for state in part)) & self.weak
            if always - taken:
                continue  # no subset helps: the step is enabled there too, and not taken there either
            owed = set.union(*(self.enabled[state] for state in part)) & self.strong - taken
            if not owed:
                return True
            smaller = {state for state in part if not self.enabled[state] & owed}
            if smaller and self.stays(smaller):
                return True
        return False


def naive_verdict(interpreter: Interpreter, prop_id: str) -> bool:
    prop = interpreter.spec.property(prop_id)
    graph = whole_graph(interpreter)
    naive = Naive(interpreter, graph, prop.without)
    for case in cases(interpreter, prop):
        waits = {state for state in graph if interpreter.evaluate(case.waits, state)}
        begins = {state for state in waits if interpreter.evaluate(case.begins, state)}
        in_bounds = graph.subgraph(waits)
        reached = set(begins).union(*(nx.descendants(in_bounds, state) for state in begins))
        if naive.stays(reached):
            return False
    return True


BASES: list[tuple[str, dict[str, Any]]] = [
    (SMALL + "Lock", {"Process": 2}),
    (SMALL + "Lock", {"Process": 3}),
    (SMALL + "UnfairLock", {"Process": 2}),
    (SMALL + "LostLock", {"Process": 2}),
    (SMALL + "Peterson", {"Process": 1}),
]


MAZE = "tests.protocols.mazes:Maze"
STILL = 0.3
"""Of the spots, those from which a door leads nowhere."""


def maze(seed: int) -> Refaired:
    """A graph drawn at random, in which a wait has several beginnings that do not reach each other."""
    draw = random.Random(seed)
    size = draw.randint(5, 8)
    doors = {
        name: [at if draw.random() < STILL else draw.randrange(size) for at in range(size)]
        for name in ("left", "right", "down")
    }
    marks = {name: [draw.random() < share for _ in range(size)] for name, share in MARKS.items()}
    fairness: dict[str, Fairness] = {
        f"go_{name}": draw.choices(("weak", "strong"), weights=[1, 3])[0] for name in doors
    }
    return Refaired(MAZE, {"Spot": size}, doors | marks, fairness=fairness)


MARKS = {"calls": 0.5, "comes": 0.2}
"""Shares of the spots of a maze."""


def avoiding(*, everywhere: bool) -> Refaired:
    """A strongly fair way out begins where a run need not go: it goes round elsewhere, and is fair. Unless
    the way out begins ``everywhere``.
    """
    doors = {
        "left": [1, 0, 2, 3],
        "right": [0, 3 if everywhere else 1, 3, 3],
        "down": [0, 2, 0, 3],
        "calls": [True, True, True, False],
        "comes": [False, False, False, True],
    }
    fairness: dict[str, Fairness] = {"go_left": "weak", "go_right": "strong", "go_down": "none"}
    return Refaired(MAZE, {"Spot": 4}, doors, fairness=fairness)


INSTANCES = [Refaired(protocol, bounds) for protocol, bounds in BASES]
INSTANCES += [maze(seed) for seed in range(60)]
INSTANCES += [avoiding(everywhere=False), avoiding(everywhere=True)]


def test_every_fairness_is_decided_as_by_the_naive_way() -> None:
    """Each lasso is confirmed by the interpreter on the way, fairness included."""
    outcomes = {True: 0, False: 0}
    for instance in INSTANCES:
        kernel = compile_kernel(instance)
        checker = LivenessChecker(build_graph(search(kernel)))
        for prop in kernel.instance.spec.of_kind("leads_to"):
            answer = checker.check(prop)
            expected = naive_verdict(kernel.interpreter, prop.id)
            assert (answer.lasso is None) == expected, (instance, prop.id)
            outcomes[expected] += 1
            if answer.lasso is not None:
                assert answer.lasso.loop_start is not None
                assert answer.lasso.states[-1] == answer.lasso.states[answer.lasso.loop_start]
    assert min(outcomes.values()) > 10


def test_a_lasso_is_excused_by_what_it_owes() -> None:
    """The interpreter's word on a lasso, by the definition, for each round of some graphs."""
    said = {True: 0, False: 0}
    for instance in (maze(seed) for seed in range(12)):
        interpreter = Interpreter(instance)
        graph = whole_graph(interpreter)
        for prop in interpreter.spec.of_kind("leads_to"):
            naive, (case,) = Naive(interpreter, graph, prop.without), cases(interpreter, prop)
            for states, steps in rounds(graph):
                enabled = [naive.enabled[state] for state in states]
                owed = (set.intersection(*enabled) & naive.weak) | (set.union(*enabled) & naive.strong)
                waits = all(interpreter.evaluate(case.waits, state) for state in states)
                begins = any(interpreter.evaluate(case.begins, state) for state in states)
                breaks = waits and begins and owed <= set(steps)
                why = excuse(interpreter, prop, case, states=states, steps=steps, loop_start=0)
                assert (not why) == breaks, (instance, prop.id, steps, why)
                said[breaks] += 1
    assert min(said.values()) > 20


def rounds(graph: nx.MultiDiGraph[Any]) -> Iterator[tuple[list[State], list[Step]]]:
    """Short ways round, from each of their states."""
    for cycle in nx.simple_cycles(nx.DiGraph(graph), length_bound=3):
        for turn in range(len(cycle)):
            states = [*cycle[turn:], *cycle[:turn], cycle[turn]]
            edges = [graph.get_edge_data(a, b).values() for a, b in itertools.pairwise(states)]
            for chosen in itertools.product(*edges):
                yield states, [data["step"] for data in chosen]


@pytest.mark.parametrize(
    ("protocol", "outcomes"),
    [
        ("Lock", {"served": Outcome.HOLDS, "asked": Outcome.HOLDS}),
        ("UnfairLock", {"served": Outcome.REFUTED, "asked": Outcome.HOLDS}),
        ("LostLock", {"served": Outcome.REFUTED}),
    ],
)
def test_strong_fairness_is_what_the_lock_needs(protocol: str, outcomes: dict[str, Outcome]) -> None:
    found = explore(Instance(SMALL + protocol, {"Process": 2}), properties=list(outcomes))
    by_name = {verdict.subject.property_id.partition(".")[2]: verdict.outcome for verdict in found}
    assert {name: by_name[name] for name in outcomes} == outcomes


def test_symmetry_with_liveness_is_refused_before_the_search() -> None:
    instance = Instance(SMALL + "Lock", {"Process": 3})
    with pytest.raises(UnsoundCombinationError, match="liveness property") as caught:
        explore(instance, symmetry=("Process",))
    assert "without symmetry" in caught.value.remedy
    found = explore(instance, properties=["exclusion"], symmetry=("Process",), workers=2)
    exclusion = next(v for v in found if v.subject.property_id.endswith("exclusion"))
    whole = explore(instance, properties=["exclusion"])[0]
    assert exclusion.outcome is Outcome.HOLDS
    assert exclusion.counts["unreduced"] == whole.counts["distinct"] > exclusion.counts["distinct"]
    assert "Process identified by symmetry" in exclusion.bounds
    assert all(verdict.outcome is Outcome.HOLDS for verdict in found)


def test_what_is_alike_in_all_representatives_is_not_called_constant() -> None:
    """The least image may always have the same missing ingredient."""
    found = explore(
        Instance(SMALL + "CigaretteSmokers", {"Ingredient": 3}), properties=[], symmetry=("Ingredient",)
    )
    assert [verdict.outcome for verdict in found] == [Outcome.HOLDS]


def test_a_wait_that_never_begins_decides_nothing() -> None:
    (verdict, _) = explore(
        Instance("tests.protocols.mazes:Wraps", {"Hour": 3, "Slot": 3}),
        properties=["a_negative_hour_is_repaired"],
    )
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the premise never holds" in verdict.reason


def test_a_deadlock_is_shown() -> None:
    found = explore(Instance(SMALL + "TCommit", {"Manager": 2}), properties=[], deadlock=True)
    (deadlock,) = [verdict for verdict in found if verdict.subject.property_id == "deadlock"]
    assert deadlock.outcome is Outcome.REFUTED
    assert deadlock.counterexample is not None
    assert [step.action for step in deadlock.counterexample.steps] == ["abort", "abort"]


@pytest.mark.parametrize(
    ("heard", "unheard"),
    [([True, True], None), ([True, False], 1), ([False, True], 0), ([True, True, False], 2)],
)
def test_a_wait_is_looked_for_with_each_value_of_the_parameters(
    heard: list[bool], unheard: int | None
) -> None:
    """The first bell waits too, and is answered."""
    instance = Instance("tests.protocols.mazes:Bells", {"Bell": len(heard)}, {"heard": heard}, "bells")
    answer = LivenessChecker(build_graph(search(compile_kernel(instance)))).check(
        instance.spec.property("bells.bells_are_answered")
    )
    assert (answer.case.values if answer.case else None) == (None if unheard is None else (unheard,))
    assert answer.waiting > 0


@pytest.mark.parametrize(
    ("protocol", "outside", "notes"),
    [
        (
            "Desk",
            0,
            (
                "the bounds cut an argument: serve(3) would be possible in the cycle; try a larger bound",
                "no step leaves the bounds; arguments and quantifiers end at the bound of Ticket",
            ),
        ),
        ("PlainDesk", 1, ("the steps that leave the bounds (1) count as disabled",)),
        ("IdleDesk", 0, ("no step leaves the bounds",)),
    ],
)
def test_a_refutation_says_what_the_bounds_cut(protocol: str, outside: int, notes: tuple[str, ...]) -> None:
    instance = Instance(f"tests.protocols.mazes:{protocol}", {"Ticket": 2}, name="desk")
    (verdict,) = explore(instance, properties=["desk.everybody_is_served"])[:1]
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.counts["outside"] == outside
    assert verdict.notes == notes


def test_what_holds_says_what_the_bounds_cut() -> None:
    instance = Instance("tests.protocols.mazes:Bells", {"Bell": 2}, {"heard": [True, True]}, "bells")
    (verdict,) = explore(instance, properties=["bells.bells_are_answered"])[:1]
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.bounds == "Bell 2; no step leaves the bounds"
