"""Proof obligations of a protocol, as expressions about the state before a step only."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from tidemark.models.symbolic.implied import in_order
from tidemark.models.symbolic.ranking import claim_of, is_of_a_step
from tidemark.models.symbolic.scope import Scope
from tidemark.spec.language.expr import (
    TRUE,
    Const,
    Expr,
    Local,
    MapComprehension,
    Quantified,
    Read,
    Variable,
    substitute,
    variables_read,
)
from tidemark.spec.language.fold import fold
from tidemark.spec.language.spec import Action, Property, Spec
from tidemark.spec.language.types import BOOL, MapType

ObligationKind = Literal["initiation", "consecution", "step", "type", "composition", "implied", "reason"]


@dataclass(frozen=True)
class Fact:
    """A formula that an obligation may assume. ``source`` is a property id, or says where it comes from."""

    source: str
    expr: Expr


@dataclass(frozen=True)
class Obligation:
    """``facts`` and the guard imply ``goal``, for all values of state, constants and ``params``. ``claim``:
    the property of the goal, or ``type:<variable>``.
    """

    name: str
    kind: ObligationKind
    claim: str
    goal: Expr
    action: str = ""
    params: tuple[Local, ...] = ()
    hypotheses: tuple[Fact, ...] = ()
    """Always assumed: guards, assumptions on constants, initial conditions."""
    lemmas: tuple[Fact, ...] = ()
    """Invariants of the state before; the solver finds out which ones it needs."""
    post_invariants: tuple[Fact, ...] = ()
    """Invariants of the state after, for transition invariants only."""

    @property
    def of_a_run(self) -> bool:
        """True if it is one of the reasons of a leads_to."""
        return self.kind == "reason" or (self.kind == "step" and claim_of(self.claim) != self.claim)

    @property
    def trivial(self) -> bool:
        """True if the form alone decides: the step writes nothing that the claim reads."""
        return self.goal == TRUE or any(
            fact.source == self.claim and fact.expr == self.goal for fact in self.lemmas
        )


def closed(prop: Property) -> Expr:
    """A property with its parameters quantified."""
    return Quantified(BOOL, "forall", prop.params, prop.expr) if prop.params else prop.expr


class Obligations:
    """Makes the obligations of a protocol, given with its options substituted. ``implied``: claims that
    others in the same state imply, each with these: they need no induction, and may be assumed. Raises
    ImpliedError.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        scope: Scope | None = None,
        implied: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.spec = spec
        self.scope = scope or Scope(spec)
        self.implied = in_order(implied or {}, claims=[p.id for p in spec.of_kind("invariant", "lemma")])
        self._moved: dict[str, tuple[Fact, ...]] = {}

    @cached_property
    def state_claims(self) -> tuple[Fact, ...]:
        """Invariants and lemmas: all of them together are the induction hypothesis."""
        return tuple(Fact(p.id, self.scope.total(closed(p))) for p in self.spec.of_kind("invariant", "lemma"))

    @cached_property
    def axioms(self) -> tuple[Fact, ...]:
        """Assumptions on the constants."""
        return tuple(Fact(p.id, self.scope.total(closed(p))) for p in self.spec.assumptions)

    def guards(self, action: Action) -> tuple[Fact, ...]:
        """The conjuncts of an action's guard."""
        return tuple(Fact(f"guard: {guard.text}", self.scope.total(guard.expr)) for guard in action.guards)

    def updates(self, action: Action) -> Mapping[Variable, Expr]:
        """New values of the variables that an action assigns."""
        return {variable: self.scope.total(expr) for variable, expr in action.updates}

    def after(self, expr: Expr, action: Action) -> Expr:
        """A condition on the state after as one on the state before. ``expr`` is in ``total`` form."""
        return self._replaced(expr, self.updates(action), primed=False)

    def across(self, expr: Expr, action: Action) -> Expr:
        """A condition on both states: primed reads mean the state after the step."""
        return self._replaced(expr, self.updates(action), primed=True)

    def _replaced(self, expr: Expr, values: Mapping[Variable, Expr], *, primed: bool) -> Expr:
        def put_in(node: Read) -> Expr:
            if node.primed != primed:
                return node
            return values.get(node.variable, Read(node.type, node.variable))

        return fold(substitute(expr, reads=put_in))

    def initial_values(self) -> Mapping[Variable, Expr]:
        """Variables with a determined initial value; the others start with any value of their type."""
        values: dict[Variable, Expr] = {}
        for variable in self.spec.variables:
            value, kind = self.spec.initial[variable.name], variable.type
            if value is None:
                continue
            if isinstance(kind, MapType):
                binders = tuple(Local(key, f"start_{place}") for place, key in enumerate(kind.keys))
                values[variable] = MapComprehension(kind, binders, Const(kind.value, value))
            else:
                values[variable] = Const(kind, value)
        return values

    def at_start(self, expr: Expr) -> Expr:
        """A condition on the initial state."""
        return self._replaced(self.scope.total(expr), self.initial_values(), primed=False)

    def all(self) -> Iterable[Obligation]:
        """Every obligation, in a fixed order."""
        start = tuple(Fact("initial condition", self.at_start(expr)) for expr in self.spec.initially)
        yield from self._implied()
        for fact in self.state_claims:
            if fact.source in self.implied:
                continue
            goal = self._replaced(fact.expr, self.initial_values(), primed=False)
            name = f"initiation:{_short(fact.source)}"
            yield Obligation(name, "initiation", fact.source, goal, hypotheses=(*self.axioms, *start))
        for action in self.spec.actions:
            yield from self._types(action)
            yield from self._consecution(action)
            yield from self._steps(action)
        yield from self._reasons()

    def _implied(self) -> Iterable[Obligation]:
        """The goal follows from other claims in any state: only these are assumed."""
        said = {fact.source: fact for fact in self.state_claims}
        for claim, others in self.implied.items():
            lemmas = tuple(fact for fact in self.state_claims if fact.source in others)
            goal = said[claim].expr
            name = f"implied:{_short(claim)}"
            yield Obligation(name, "implied", claim, goal, hypotheses=self.axioms, lemmas=lemmas)

    def _types(self, action: Action) -> Iterable[Obligation]:
        for variable, update in self.updates(action).items():
            goal = self.scope.well_typed(variable, update)
            if goal != TRUE:
                yield self._of(
                    action, "type", f"type:{action.name}:{variable.name}", f"type:{variable.name}", goal
                )

    def _consecution(self, action: Action) -> Iterable[Obligation]:
        for fact in self._after_step(action):
            if fact.source in self.implied:
                continue
            name = f"consecution:{action.name}:{_short(fact.source)}"
            yield self._of(action, "consecution", name, fact.source, fact.expr)

    def _after_step(self, action: Action) -> tuple[Fact, ...]:
        if action.name not in self._moved:
            self._moved[action.name] = tuple(
                Fact(fact.source, self.after(fact.expr, action)) for fact in self.state_claims
            )
        return self._moved[action.name]

    def _steps(self, action: Action) -> Iterable[Obligation]:
        known = frozenset(fact.expr for fact in self.state_claims)
        post_invariants = tuple(fact for fact in self._after_step(action) if fact.expr not in known)
        claims = [
            *self.spec.of_kind("transition_invariant"),
            *filter(is_of_a_step, self.spec.of_kind("reason")),
        ]
        for prop in claims:
            goal = self.across(self.scope.total(closed(prop)), action)
            name = f"step:{action.name}:{_short(prop.id)}"
            yield self._of(action, "step", name, prop.id, goal, after=post_invariants)

    def _reasons(self) -> Iterable[Obligation]:
        """The reasons of a leads_to about one state: all claims about states are assumed."""
        for prop in self.spec.of_kind("reason"):
            if not is_of_a_step(prop):
                goal, name = self.scope.total(closed(prop)), f"reason:{_short(prop.id)}"
                yield Obligation(
                    name, "reason", prop.id, goal, hypotheses=self.axioms, lemmas=self.state_claims
                )

    def _of(
        self,
        action: Action,
        kind: ObligationKind,
        name: str,
        claim: str,
        goal: Expr,
        *,
        after: tuple[Fact, ...] = (),
    ) -> Obligation:
        hypotheses = (*self.axioms, *self.guards(action))
        return Obligation(
            name, kind, claim, goal, action.name, action.params, hypotheses, self.state_claims, after
        )


def _short(property_id: str) -> str:
    return property_id.partition(".")[2] or property_id


def related(obligation: Obligation) -> tuple[Fact, ...]:
    """Lemmas that share a variable with the goal or are the claim itself: a first guess."""
    state = {v for v in variables_read(obligation.goal) if not v.constant}
    return tuple(
        fact
        for fact in obligation.lemmas
        if fact.source == obligation.claim or len(state & variables_read(fact.expr)) >= 1
    )
