"""Endless runs of a program: one that waits for ever for what a claim promises is a refutation.

The states that a search has merged, and the events between them, are a graph. A run without an end goes
round in a part of it in which everything leads to everything. It is fair if each event that can happen all
the time in that part, by its plain label, happens in it; faults need not come. So a wait is refuted by a fair
part in which the conclusion of a leads_to never holds, reached from its premise, or by a state in which
nothing can happen.

What is found is run again, event by event: the declared state must be the same before and after the loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx

from tidemark.checks.explore.lasso import cases, failing_text
from tidemark.checks.interleave.errors import UnsoundReductionError
from tidemark.checks.interleave.executions.run import run_once
from tidemark.checks.interleave.executions.token import encode
from tidemark.checks.interleave.result import Found
from tidemark.checks.interleave.search_loop import quiet
from tidemark.checks.interleave.strategies.graph import Abstracting, Following, GraphSearch
from tidemark.models.simulation import Interner, ProgramRef, Violation

_ATTEMPTS = 100
"""Runs that may be spent on finding which of several events of one label is meant."""


@dataclass(frozen=True)
class Lasso:
    """A run that waits for ever.

    found: as a violation, with the run up to the end of one round. loop_start: steps before the loop.
    """

    found: Found
    loop_start: int


class UnconfirmedLassoError(UnsoundReductionError):
    """A lasso that comes out otherwise when it is run: the declared state does not determine what comes."""


def lassos(
    program: ProgramRef, search: GraphSearch, claims: Collection[str], *, steps: int
) -> Iterator[Lasso]:
    """Yield one lasso for each of the claims that an endless run breaks.

    Raises UnconfirmedLassoError.
    """
    fresh = program.load()()
    assert isinstance(fresh, Abstracting)
    checker = fresh.checker
    for prop in checker.spec.of_kind("leads_to"):
        if prop.id not in claims:
            continue
        evaluate = checker.interpreter.evaluate
        for case in cases(checker.interpreter, prop):
            waits = {n for n, state in enumerate(search.abstract) if evaluate(case.waits, state)}
            begins = [n for n in sorted(waits) if evaluate(case.begins, search.abstract[n])]
            way = _wait(search, waits, begins)
            if way is not None:
                yield _confirmed(program, search, way, f"{prop.id}: {failing_text(prop, case)}", steps=steps)
                break


Move = tuple[str, int]
"""The plain label of an event, and the number of the state that it leads to."""


@dataclass(frozen=True)
class _Way:
    """choices: to where the wait begins. moves: from there to the loop; loop: one round of it."""

    choices: tuple[int, ...]
    moves: tuple[Move, ...]
    loop: tuple[Move, ...]

    def words(self) -> str:
        """The loop in words."""
        if not self.loop:
            return "nothing can happen any more"
        return f"round and round: {'; '.join(label for label, _ in self.loop)}"


def _wait(search: GraphSearch, waits: Collection[int], begins: Sequence[int]) -> _Way | None:
    inside = search.graph.subgraph(_reached(search.graph.subgraph(waits), begins))
    for component in sorted(nx.strongly_connected_components(inside), key=min):
        round_ = _fair_round(search, component)
        if round_ is None:
            continue
        start, loop = round_
        before = nx.ancestors(inside, start) | {start}
        begin = next(one for one in begins if one in before)
        return _Way(search.ways[begin], _moves(inside, nx.shortest_path(inside, begin, start)), loop)
    return None


def _reached(graph: nx.MultiDiGraph[int], begins: Sequence[int]) -> set[int]:
    found, left = set(begins), list(begins)
    while left:
        new = set(graph[left.pop()]) - found
        found |= new
        left += new
    return found


def _fair_round(search: GraphSearch, component: set[int]) -> tuple[int, tuple[Move, ...]] | None:
    """A state of the component and a fair round from it back to it; None if it has none."""
    own = search.graph.subgraph(component)
    enabled = {
        state: {label for _, _, label in search.graph.out_edges(state, keys=True)} - search.faults
        for state in component
    }
    always = set.intersection(*enabled.values())
    taken = {label for _, _, label in own.edges(keys=True)}
    start = min(component)
    if not always <= taken:
        return None
    loop: list[Move] = []
    while taken:
        states = [start, *(state for _, state in loop)]
        owed = set.intersection(*(enabled[state] for state in states)) - {label for label, _ in loop}
        if not owed and loop and states[-1] == start:
            break
        loop += _to(own, states[-1], min(owed, default=""), start, enabled)
    return start, tuple(loop)


def _to(
    own: nx.MultiDiGraph[int], here: int, owed: str, start: int, enabled: Mapping[int, Collection[str]]
) -> tuple[Move, ...]:
    """The moves to where an event is not possible, or over it, whichever is nearer; or back to the start."""
    over = [(a, b, label) for a, b, label in own.edges(keys=True) if label == owed]
    goals = {a for a, _, _ in over} | {s for s in own if owed not in enabled[s]} if owed else {start}
    ways = nx.single_source_shortest_path(own, here)
    goal = min(goals, key=lambda state: (len(ways[state]), state))
    moves = _moves(own, ways[goal])
    if owed and owed in enabled[goal]:
        return (*moves, next((label, b) for a, b, label in sorted(over) if a == goal))
    if not owed and not moves:  # the start owes a step of its own
        return (next((label, b) for _, b, label in sorted(own.out_edges(goal, keys=True))),)
    return moves


def _moves(graph: nx.MultiDiGraph[int], path: Sequence[int]) -> tuple[Move, ...]:
    return tuple((min(graph[a][b]), b) for a, b in pairwise(path))


def _confirmed(program: ProgramRef, search: GraphSearch, way: _Way, message: str, *, steps: int) -> Lasso:
    """Run it. Events of one label are tried one after the other, until each leads where it has to."""
    moves = (*way.moves, *way.loop)
    skipped = [0] * len(moves)
    expected = [search.digests[state] for _, state in moves]
    for _ in range(_ATTEMPTS):
        follow = Following(way.choices, [label for label, _ in moves], skipped)
        with quiet():
            run = run_once(program.load(), follow, interner=Interner(), steps=steps)
        right = [a == b for a, b in zip(follow.states[1:], expected, strict=False)]
        if all(right) and len(right) == len(moves):
            labels = tuple(step.label for step in run.trace)
            violation = Violation("property", f"{message}; {way.words()}")
            token = encode(program.digest(), run.trace)
            return Lasso(Found(violation, run.picks, labels, token), len(way.choices) + len(way.moves))
        wrong = right.index(False) if False in right else len(right)
        if wrong >= len(moves) or (wrong == len(right) and not skipped[wrong]):
            break
        skipped[wrong] += 1
    raise UnconfirmedLassoError(
        f"{message}: {way.words()}: it does not come out so when it is run",
        remedy="declare in Program.declared all data that influence the future",
    )
