"""Does a search look at anything? Actions that never fire, guard conjuncts that are never true, variables
that never change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tidemark.models.native.codec import Field
from tidemark.models.native.kernel import Conditions
from tidemark.models.native.search.result import SearchResult
from tidemark.spec.language.expr import Expr, Quantified
from tidemark.spec.language.render import render
from tidemark.spec.language.spec import Action
from tidemark.spec.language.types import BOOL

BLOCK = 1 << 18


@dataclass(frozen=True)
class Vacuous:
    """One thing that says nothing. ``id`` is the verdict's property id, for example
    ``vacuity.action.seal``.
    """

    id: str
    reason: str


@dataclass(frozen=True)
class Coverage:
    """What a complete search has covered. ``cut``: what only the bounds keep from happening, as sentences."""

    vacuous: tuple[Vacuous, ...]
    cut: tuple[str, ...]
    checked: int


def coverage(result: SearchResult) -> Coverage:
    """Look for vacuous parts of a complete search.

    An action all of whose steps leave the bounds did fire: it is no fault of the protocol, and is only
    noted. So is a variable that only such actions write.
    """
    spec = result.kernel.instance.spec
    generated, out_of_bounds = result.generated_by_action(), result.out_of_bounds_by_action()
    never = [action for action in spec.actions if generated[action.name] == 0]
    cut = {a.name for a in spec.actions if generated[a.name] and generated[a.name] == out_of_bounds[a.name]}
    vacuous = [item for action in never for item in _never_fired(result, action)]
    notes = [f"every step of {name} leaves the bounds" for name in sorted(cut)]
    constant = set(_constant_fields(result))
    for field in result.kernel.codec.fields:
        name = field.variable.name
        writers = {action.name for action in spec.actions if field.variable in action.writes}
        if name not in constant:
            continue
        if field.value.size == 1 or (writers and writers <= cut):
            notes.append(f"{name} never changes within the bounds")
        else:
            vacuous.append(Vacuous(f"vacuity.variable.{name}", f"the variable {name} never changes"))
    return Coverage(
        tuple(vacuous), tuple(notes), len(spec.actions) + result.kernel.plan.guards + len(spec.variables)
    )


def _never_fired(result: SearchResult, action: Action) -> Iterator[Vacuous]:
    yield Vacuous(f"vacuity.action.{action.name}", f"the action {action.name} never fires")
    if not action.guards:
        return
    conditions = [_for_some(action, guard.expr) for guard in action.guards]
    held = _ever(result, conditions)
    for number, guard in enumerate(action.guards):
        if not held[number]:
            text = guard.text or render(guard.expr)
            yield Vacuous(
                f"vacuity.guard.{action.name}.{number + 1}",
                f"conjunct {number + 1} of the guard of {action.name} is never true: {text}",
            )


def _for_some(action: Action, expr: Expr) -> Expr:
    return Quantified(BOOL, "exists", action.params, expr) if action.params else expr


def _ever(result: SearchResult, conditions: list[Expr]) -> list[bool]:
    compiled = Conditions(result.kernel.instance, conditions)
    union = np.zeros(max(1, -(-len(conditions) // 64)), dtype=np.uint64)
    for first in range(0, result.distinct, BLOCK):
        union |= np.bitwise_or.reduce(compiled.evaluate(result.states[first : first + BLOCK]), axis=0)
    return [bool(int(union[i // 64]) >> (i % 64) & 1) for i in range(len(conditions))]


def _constant_fields(result: SearchResult) -> Iterator[str]:
    """Variables that have one value in all states."""
    states = result.states
    differs = np.zeros(states.shape[1], dtype=np.uint64)
    for first in range(0, len(states), BLOCK):
        differs |= np.bitwise_or.reduce(states[first : first + BLOCK] ^ states[0], axis=0)
    if result.symmetry is not None:  # what is the same in all representatives need not be so in all states
        for renaming in result.symmetry.renamings:
            differs |= result.symmetry.image(states[0], renaming) ^ states[0]
    for field in result.kernel.codec.fields:
        if not any(int(differs[word]) & mask for word, mask in _masks(field)):
            yield field.variable.name


def _masks(field: Field) -> Iterator[tuple[int, int]]:
    for run in field.runs:
        yield run.word, ((1 << run.count * field.bits) - 1) << run.shift
