"""Mutants made by rule from the traced protocol as it is now, so that they cannot drift from it.

Each changes one place of one action: a guard conjunct dropped, an effect dropped, ``<`` for ``<=``, an
argument of a minimum forgotten, off by one, and so on. Ids name action, place and operator; they do not
depend on other actions.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from tidemark.models.instance import BadInstance, Instance
from tidemark.models.mutation.operators import Change, changes, conjuncts
from tidemark.spec.language.expr import Expr
from tidemark.spec.language.fold import conjunction, fold
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.render import render
from tidemark.spec.language.spec import Action, Spec


@dataclass(frozen=True)
class GeneratedMutant:
    """One action made wrong. ``site`` says where, ``before`` and ``after`` are the changed part as text."""

    id: str
    operator: str
    site: str
    before: str
    after: str
    action: Action

    def applied(self, spec: Spec) -> Spec:
        """The protocol with the wrong action in place of the right one."""
        return replace(
            spec, actions=tuple(self.action if a.name == self.action.name else a for a in spec.actions)
        )

    def __str__(self) -> str:
        return f"{self.id}: {self.before}  ->  {self.after}"


def generate(spec: Spec) -> tuple[GeneratedMutant, ...]:
    """All mutants of a traced protocol, in a fixed order; of several with the same effect only the first."""
    return tuple(mutant for action in spec.actions for mutant in _distinct(action))


@cache
def mutants_of(reference: str) -> tuple[GeneratedMutant, ...]:
    """All mutants of the protocol ``module:Class``. Raises SpecError."""
    return generate(resolve(reference).trace())


@dataclass(frozen=True)
class MutatedInstance(Instance):
    """An instance of a generated mutant, by its id. Pickled as reference, bounds and id: another process
    makes the mutant again from its own trace.
    """

    mutant: str = ""

    def traced(self) -> Spec:
        """The mutated protocol. Raises BadInstance for an unknown id."""
        return find_mutant(self.protocol, self.mutant).applied(super().traced())


def find_mutant(reference: str, mutant_id: str) -> GeneratedMutant:
    """The mutant of that id. Raises BadInstance."""
    for mutant in mutants_of(reference):
        if mutant.id == mutant_id:
            return mutant
    raise BadInstance(
        f"{reference} has no generated mutant {mutant_id!r}; the verdicts of a [generated.NAME] name them"
    )


def mutated(instance: Instance, mutant_id: str) -> MutatedInstance:
    """The same bounds and constants for a mutant."""
    return MutatedInstance(
        instance.protocol, instance.bounds, instance.constants, instance.name, mutant=mutant_id
    )


def _distinct(action: Action) -> Iterator[GeneratedMutant]:
    seen = {_form(action)}
    for mutant in _all(action):
        form = _form(mutant.action)
        if form not in seen:
            seen.add(form)
            yield mutant


def _form(action: Action) -> tuple[object, ...]:
    """What an action does, without the words about it."""
    return conjunction(*(guard.expr for guard in action.guards)), action.updates


def _all(action: Action) -> Iterator[GeneratedMutant]:
    for number in range(len(action.guards)):
        yield from _dropped_conjuncts(action, number)
    for variable, expr in action.updates:
        rest = tuple(update for update in action.updates if update[0] != variable)
        yield GeneratedMutant(
            id=f"{action.name}/{variable.name}/dropped",
            operator="effect-dropped",
            site=f"{action.name}: {variable.name}",
            before=f"{variable.name} := {render(expr)}",
            after=f"{variable.name} unchanged",
            action=replace(action, updates=rest),
        )
    for number in range(len(action.guards)):
        yield from _changed_guard(action, number)
    for number in range(len(action.updates)):
        yield from _changed_update(action, number)


def _with_guard(action: Action, number: int, expr: Expr) -> Action:
    guards = list(action.guards)
    guards[number] = replace(guards[number], expr=fold(expr))
    return replace(action, guards=tuple(guards))


def _guard_site(action: Action, number: int) -> str:
    guard = action.guards[number]
    return f"{action.name}: guard {number + 1} ({guard.place}: {guard.text})"


def _dropped_conjuncts(action: Action, number: int) -> Iterator[GeneratedMutant]:
    parts = conjuncts(action.guards[number].expr)
    for index, part in enumerate(parts):
        place = f"guard{number + 1}" + (f".{index + 1}" if len(parts) > 1 else "")
        yield GeneratedMutant(
            id=f"{action.name}/{place}/dropped",
            operator="guard-dropped",
            site=_guard_site(action, number),
            before=render(part),
            after="true",
            action=_with_guard(action, number, conjunction(*parts[:index], *parts[index + 1 :])),
        )


def _changed_guard(action: Action, number: int) -> Iterator[GeneratedMutant]:
    expr = action.guards[number].expr
    for change in changes(expr, assigned=False):
        yield _mutant(
            action.name,
            f"guard{number + 1}",
            change,
            site=_guard_site(action, number),
            action=_with_guard(action, number, change.applied(expr)),
        )


def _changed_update(action: Action, number: int) -> Iterator[GeneratedMutant]:
    variable, expr = action.updates[number]
    for change in changes(expr, assigned=True):
        updates = list(action.updates)
        updates[number] = (variable, fold(change.applied(expr)))
        yield _mutant(
            action.name,
            variable.name,
            change,
            site=f"{action.name}: {variable.name} := {render(expr)}",
            action=replace(action, updates=tuple(updates)),
        )


def _mutant(name: str, place: str, change: Change, *, site: str, action: Action) -> GeneratedMutant:
    return GeneratedMutant(
        id=f"{name}/{place}/{change.name}@{change.at}",
        operator=re.sub(r"\d+", "", change.name),
        site=site,
        before=render(change.before),
        after=render(change.after),
        action=action,
    )
