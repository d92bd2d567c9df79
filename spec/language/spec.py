"""A traced protocol, as every judge reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tidemark.spec.language.expr import (
    TRUE,
    Const,
    Expr,
    Local,
    Read,
    Value,
    Variable,
    substitute,
    variables_read,
)
from tidemark.spec.language.fold import fold
from tidemark.spec.language.types import MapType, Type

Kind = Literal["invariant", "lemma", "transition_invariant", "leads_to", "reachable", "reason"]
Fairness = Literal["none", "weak", "strong"]


@dataclass(frozen=True)
class Guard:
    """One conjunct of an action's guard. ``text`` and ``place`` are the author's own line."""

    expr: Expr
    text: str
    place: str


@dataclass(frozen=True)
class Action:
    """An atomic step. Guards and right-hand sides speak about the state before it and the parameters."""

    name: str
    params: tuple[Local, ...]
    guards: tuple[Guard, ...]
    updates: tuple[tuple[Variable, Expr], ...]
    fairness: Fairness
    description: str
    source: str
    relies_on: tuple[str, ...] = ()

    @property
    def writes(self) -> frozenset[Variable]:
        """Write footprint."""
        return frozenset(variable for variable, _ in self.updates)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """Guards and right-hand sides."""
        return (*(guard.expr for guard in self.guards), *(expr for _, expr in self.updates))

    @property
    def reads(self) -> frozenset[Variable]:
        """Read footprint: all that the guards or the right-hand sides mention, constants too."""
        return frozenset[Variable]().union(*(variables_read(expr) for expr in self.expressions))

    def update_of(self, variable: Variable) -> Expr:
        """Value of ``variable`` after the step."""
        return next((expr for name, expr in self.updates if name == variable), Read(variable.type, variable))


@dataclass(frozen=True)
class Property:
    """One claim. ``expr`` is about one state, or about two (primed reads): transition invariants, witnesses.

    A leads_to claims that every state with ``premise`` (for each value of ``params``) is followed by one with
    ``expr``, without the fairness of the actions in ``without``. A witness names its action in ``after``,
    whose parameters are ``params``. A reason is no claim of an author: it is one of the conditions from which
    a proof concludes a leads_to.
    """

    id: str
    kind: Kind
    expr: Expr
    description: str
    source: str
    params: tuple[Local, ...] = ()
    premise: Expr = TRUE
    after: str = ""
    without: tuple[str, ...] = ()
    frame: str | None = None
    """None if the claim is no frame condition, else the id of the lemma that it needs, or empty."""


@dataclass(frozen=True)
class Case:
    """One case of why a leads_to holds, see ``helpful``: while ``when`` holds, ``action`` helps with these
    arguments, or ``other``, the id of another leads_to. ``params`` are those of the claim and further ones.
    """

    name: str
    params: tuple[Local, ...]
    when: Expr
    arguments: tuple[Expr, ...]
    action: str = ""
    other: str = ""


@dataclass(frozen=True)
class Ranking:
    """Why a leads_to holds for any size: measures of the distance, the most important first, and cases.
    ``finitely``: numbers that change finitely often in the runs of which it is claimed.
    """

    claim: Property
    measures: tuple[Expr, ...]
    cases: tuple[Case, ...]
    finitely: tuple[Variable, ...] = ()


@dataclass(frozen=True)
class Spec:
    """A protocol after tracing. ``initial`` gives each variable's value, or None for "any value"."""

    name: str
    doc: str
    types: tuple[Type, ...]
    constants: tuple[Variable, ...]
    options: Mapping[str, Value]
    variables: tuple[Variable, ...]
    initial: Mapping[str, Value | None]
    actions: tuple[Action, ...]
    properties: tuple[Property, ...]
    assumptions: tuple[Property, ...] = ()
    initially: tuple[Expr, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """Options whose value assumes something about the environment, each with its sentence."""

    @property
    def relies_on(self) -> tuple[str, ...]:
        """Properties of other protocols that steps of this one assume, each once."""
        return tuple(dict.fromkeys(claim for action in self.actions for claim in action.relies_on))

    def action(self, name: str) -> Action:
        """The action of that name; KeyError with the known names."""
        for action in self.actions:
            if action.name == name:
                return action
        raise KeyError(
            f"{self.name} has no action {name!r}; it has {', '.join(a.name for a in self.actions)}"
        )

    def property(self, name: str) -> Property:
        """The property of that id (with or without the protocol's prefix); KeyError with the known ids."""
        for prop in self.properties:
            if name in (prop.id, prop.id.partition(".")[2]):
                return prop
        raise KeyError(
            f"{self.name} has no property {name!r}; it has {', '.join(p.id for p in self.properties)}"
        )

    def of_kind(self, *kinds: Kind) -> tuple[Property, ...]:
        """Properties of these kinds, in declared order."""
        return tuple(prop for prop in self.properties if prop.kind in kinds)

    def with_options(self, values: Mapping[str, Value] | None = None) -> Spec:
        """The protocol with its options (scalar constants with a value) substituted and everything
        simplified.

        ``values`` overrides declared options and may give values to scalar constants that had none.
        """
        known = {variable.name: variable for variable in self.constants}
        bound = {**self.options, **(values or {})}

        def put_in(node: Read) -> Expr:
            variable = node.variable
            if variable.constant and variable.name in bound and not isinstance(variable.type, MapType):
                return Const(variable.type, bound[variable.name])
            return node

        def do(expr: Expr) -> Expr:
            return fold(substitute(expr, reads=put_in))

        def do_property(prop: Property) -> Property:
            return replace(prop, expr=do(prop.expr), premise=do(prop.premise))

        return replace(
            self,
            constants=tuple(v for n, v in known.items() if n not in bound or isinstance(v.type, MapType)),
            options=bound,
            actions=tuple(
                replace(
                    action,
                    guards=tuple(replace(guard, expr=do(guard.expr)) for guard in action.guards),
                    updates=tuple((variable, do(expr)) for variable, expr in action.updates),
                )
                for action in self.actions
            ),
            properties=tuple(do_property(prop) for prop in self.properties),
            assumptions=tuple(do_property(prop) for prop in self.assumptions),
            initially=tuple(do(expr) for expr in self.initially),
        )
