"""Discharging one obligation: a fixed sequence of queries to Z3 with growing limits.

A limit is work, not time, and every query has a context of its own: its answer depends on its text alone, not
on the machine, its load or earlier queries. The order of the queries changes the time only. ``proved`` needs
an ``unsat``; ``failed`` needs a model of *all* hypotheses; everything else is ``unknown``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import z3

from tidemark.models.symbolic.encode import Z3, Choice, Encoder, Vocabulary
from tidemark.models.symbolic.errors import UnprovableError
from tidemark.models.symbolic.normal import conjuncts
from tidemark.models.symbolic.obligations import Fact, Obligation, related
from tidemark.spec.language.expr import Expr, Local, free_locals
from tidemark.spec.language.render import render
from tidemark.spec.language.spec import Spec

Status = Literal["proved", "failed", "unknown", "refused"]

STRATEGIES: tuple[Mapping[str, bool | int], ...] = (
    {"auto_config": False, "case_split": 3},
    {},
    {"auto_config": False, "case_split": 3, "mbqi": False, "delay_units": True},
    {"auto_config": False, "relevancy": 0},
)
"""Settings of the solver, best first. Splitting on relevant literals in the order of the formula's structure
(case_split 3) finds instances that the default order of activity misses, for goals with many quantified
implications.
"""

ROUNDS_S = (0.1, 0.6, 2.0, 6.0, 20.0, 60.0, 200.0)
"""Limit of one query in each round, in seconds' worth of work."""

UNITS_PER_S = 1_000_000
"""Z3's units of work per nominal second; it does 0.5 to 5 million in a second."""

PATIENCE = 20
"""A query also ends after this multiple of its limit in real seconds: Z3 does not count all of its work."""


@dataclass(frozen=True)
class Term:
    """An expression in the form of the solver, and the choices that it needs."""

    term: Z3
    needs: tuple[Choice, ...]


class Terms:
    """The shared part of the queries about one protocol, given with its options substituted: each expression
    is encoded once, by itself, so that a query is the same text in any order of queries.
    """

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._vocabulary = Vocabulary(spec)
        self._encoder = Encoder(self._vocabulary)
        self._known: dict[tuple[Expr, tuple[Local, ...]], Term] = {}
        self._params: dict[Local, Z3] = {}

    @cached_property
    def typing(self) -> tuple[Z3, ...]:
        """The types of constants and variables as formulas."""
        declared = (*self.spec.constants, *self.spec.variables)
        return tuple(term for variable in declared for term in self._vocabulary.typing(variable))

    def ranges(self, params: Iterable[Local]) -> list[Z3]:
        """The types of parameters as formulas."""
        return [term for p in params for term in self._vocabulary.in_range(self._param(p), p.type)]

    def of(self, expr: Expr, params: Iterable[Local]) -> Term:
        """An expression over the state and some parameters. Raises UnprovableError."""
        free = free_locals(expr)
        given = tuple(param for param in params if param.name in free)
        if (expr, given) not in self._known:
            env: Mapping[str, Z3] = {param.name: self._param(param) for param in given}
            self._known[expr, given] = Term(*self._encoder.encode_all(expr, env))
        return self._known[expr, given]

    def _param(self, param: Local) -> Z3:
        if param not in self._params:
            self._params[param] = z3.Const(self._name(param), self._vocabulary.sort(param.type))
        return self._params[param]

    def _name(self, param: Local) -> str:
        """A name that no variable has: SMT-LIB has one constant of a name, Z3 one of a name and type."""
        declared = {variable.name for variable in (*self.spec.constants, *self.spec.variables)}
        return f"{param.name}?" if param.name in declared else param.name


@dataclass(frozen=True)
class Answer:
    """The result for one obligation. ``used`` are the property ids assumed by the successful queries."""

    name: str
    status: Status
    seconds: float
    queries: int = 0
    used: frozenset[str] = frozenset()
    failing: str = ""
    """The conjunct of the goal that is not proved, as text."""
    reason: str = ""


def discharge(
    terms: Terms,
    obligation: Obligation,
    *,
    timeout_s: float,
    seed: int = 0,
    core: frozenset[str] | None = None,
    watch: Watch | None = None,
) -> Answer:
    """Prove one obligation within ``timeout_s`` seconds' worth of work. An expression without meaning here
    gives ``refused``. ``core``: ids of the lemmas to try first, from a bounded instance (see ``hints``).
    """
    if obligation.trivial:
        return Answer(obligation.name, "proved", 0.0, used=frozenset((obligation.claim,)))
    started = time.perf_counter()
    queries, used, left = 0, frozenset[str](), int(timeout_s * UNITS_PER_S)
    for piece in conjuncts(obligation.goal):
        attempt = _Attempt(terms, replace(obligation, goal=piece), seed=seed, core=core, watch=watch)
        try:
            status, tried, sources = attempt.run(left)
        except UnprovableError as error:
            seconds = time.perf_counter() - started
            return Answer(
                obligation.name, "refused", seconds, queries, failing=render(piece), reason=str(error)
            )
        queries += tried
        used |= sources
        left -= attempt.spent
        if status != "proved":
            seconds = time.perf_counter() - started
            return Answer(obligation.name, status, seconds, queries, used, failing=render(piece))
    return Answer(obligation.name, "proved", time.perf_counter() - started, queries, used)


def asserted(terms: Terms, obligation: Obligation) -> Iterator[list[Z3]]:
    """The assertions of the queries about an obligation, in the order in which they are asked, without asking
    and without an instance's hint. Raises UnprovableError.
    """
    for piece in conjuncts(obligation.goal):
        attempt = _Attempt(terms, replace(obligation, goal=piece), seed=0)
        for facts in attempt.hypotheses():
            yield attempt.asserted(facts)


@dataclass(frozen=True)
class Query:
    """One question to the solver. ``text`` is the whole of it in SMT-LIB; ``unsat`` proves ``piece``."""

    obligation: str
    piece: str
    """The conjunct of the goal, as text."""
    text: str
    settings: str
    result: str


Watch = Callable[[Query], None]
"""Gets every query with its answer."""


class _Attempt:
    """The queries about one conjunct of a goal."""

    def __init__(
        self,
        terms: Terms,
        obligation: Obligation,
        *,
        seed: int,
        core: frozenset[str] | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.watch = watch
        self.obligation = obligation
        self.core = core
        self.seed = seed
        self.terms = terms
        self.spent = 0
        """Units of work so far."""

    def run(self, units: int) -> tuple[Status, int, frozenset[str]]:
        """Status, number of queries, and the property ids that were assumed."""
        hypotheses = list(self.hypotheses())
        hopeless: set[int] = set()
        queries = 0
        for limit in ROUNDS_S:
            for strategy in STRATEGIES:
                for place, facts in enumerate(hypotheses):
                    left = min(int(limit * UNITS_PER_S), units - self.spent)
                    if place in hopeless or left <= 0:
                        continue
                    queries += 1
                    result = self._query(facts, strategy, left)
                    if result == z3.unsat:
                        return "proved", queries, frozenset(fact.source for fact in facts)
                    if result == z3.sat:
                        if place == len(hypotheses) - 1:
                            return "failed", queries, frozenset(fact.source for fact in facts)
                        hopeless.add(place)
            if self.spent >= units:
                break
        return "unknown", queries, frozenset(fact.source for fact in hypotheses[-1])

    def hypotheses(self) -> Iterator[Sequence[Fact]]:
        """The further hypotheses: a few lemmas, all, and all of the state after too."""
        few, everything = related(self.obligation), self.obligation.lemmas
        if self.core is not None and len(self.core) < len(few):
            yield tuple(fact for fact in everything if fact.source in self.core)
        if len(few) < len(everything):
            yield few
        yield everything
        if self.obligation.post_invariants:
            yield (*everything, *self.obligation.post_invariants)

    def asserted(self, facts: Sequence[Fact]) -> list[Z3]:
        """The assertions of a query, in order: ``unsat`` proves the goal. Raises UnprovableError."""
        params = self.obligation.params
        asked: list[Z3] = [*self.terms.typing, *self.terms.ranges(params)]
        needed: dict[int, Choice] = {}
        for fact in (*self.obligation.hypotheses, *facts):
            found = self.terms.of(fact.expr, params)
            asked.append(found.term)
            needed |= {id(choice): choice for choice in found.needs}
        goal = self.terms.of(self.obligation.goal, params)
        needed |= {id(choice): choice for choice in goal.needs}
        return [*asked, z3.Not(goal.term), *(choice.definition for choice in needed.values())]

    def _query(self, facts: Sequence[Fact], strategy: Mapping[str, bool | int], units: int) -> Z3:
        asked = self.asserted(facts)
        context = z3.Context()
        solver = z3.Solver(ctx=context)
        solver.add(*(term.translate(context) for term in asked))
        patience = max(1000, 1000 * PATIENCE * units // UNITS_PER_S)
        solver.set(rlimit=units, timeout=patience, random_seed=self.seed, **strategy)
        result = solver.check()
        self.spent += _units(solver, at_most=units)
        if self.watch is not None:
            settings = f"{dict(strategy)} seed {self.seed}"
            piece, text = render(self.obligation.goal), solver.to_smt2()
            self.watch(Query(self.obligation.name, piece, text, settings, str(result)))
        return result


def _units(solver: Z3, *, at_most: int) -> int:
    """Units of work of the only query of a solver; at least one."""
    figures = solver.statistics()
    known = [figures.get_key_value(key) for key in figures.keys() if key == "rlimit count"]  # noqa: SIM118
    return max(1, min(at_most, *known)) if known else at_most
