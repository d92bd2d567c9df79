"""The parts of a claim, and for each the claim without it.

| part | where it stands | without it the claim is |
| --- | --- | --- |
| conjunct | of what is claimed | weaker |
| case | an alternative of a hypothesis | weaker |
| hypothesis | a conjunct of the left side of an implication | stronger |
| alternative | of what is claimed | stronger |
| fairness | an action's fairness, which liveness claims assume | stronger |
| without | an action whose fairness a liveness claim does not assume | the same, if it has none |
| lemma | of a proof | not provable by induction |

A weaker claim must let pass what the claim refuses: some wrong protocol breaks the one and not the other. A
stronger one must be refuted by a run of the protocol itself. If not, the part is idle: it says nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeGuard

from tidemark.spec.language.expr import (
    FALSE,
    TRUE,
    Apply,
    Const,
    Expr,
    Quantified,
    children,
    free_locals,
    rebuild,
    variables_read,
)
from tidemark.spec.language.fold import conjunction, disjunction, fold, negation
from tidemark.spec.language.render import render
from tidemark.spec.language.spec import Property
from tidemark.spec.language.types import BoolType


class Place(StrEnum):
    """What a part is of its claim; the name in its id."""

    CONJUNCT = "conjunct"
    CASE = "case"
    HYPOTHESIS = "hypothesis"
    ALTERNATIVE = "alternative"
    FAIRNESS = "fairness"
    WITHOUT = "without"
    LEMMA = "lemma"

    @property
    def idle_words(self) -> str:
        """What it means that no search has shown it."""
        if self is Place.LEMMA:
            return "the induction succeeds without it"
        if self is Place.FAIRNESS:
            return "every liveness claim holds without it"
        if self is Place.WITHOUT:
            return "the protocol assumes no fairness of it"
        if self.weakens:
            return "no wrong protocol breaks the claim and not the claim without it"
        return "the claim holds without it"

    @property
    def weakens(self) -> bool:
        """Is the claim weaker without the part?"""
        return self in (Place.CONJUNCT, Place.CASE)


@dataclass(frozen=True)
class Part:
    """One part of a claim.

    Attributes:
        id: the claim, its place and a number: ``tso.unique/hypothesis2``.
        claim: the id of the claim.
        place: what it is of the claim.
        text: the part in the words of the language.
        shows: a claim that must be broken by some run, so that the part matters.
    """

    id: str
    claim: str
    place: Place
    text: str
    shows: Property


_Rebuilt = Callable[[Expr], Expr]
_Found = tuple[Place, Expr, Expr]
"""Place, the part, and the whole without it."""


def parts_of(prop: Property) -> tuple[Part, ...]:
    """The parts of an invariant or a transition invariant, in the order of its text. A claim that is a single
    statement has none.
    """
    numbers = Counter[Place]()
    parts = []
    for place, part, without in _parts(prop.expr, lambda whole: whole, holds=True):
        if not _says_something(part):
            continue
        numbers[place] += 1
        name = f"{prop.id}/{place.value}{numbers[place]}"
        shows = replace(prop, id=name, expr=_shown(prop, fold(without), place), frame=None)
        parts.append(Part(name, prop.id, place, render(part), shows))
    return tuple(parts)


def liveness_parts_of(prop: Property) -> tuple[Part, ...]:
    """The hypotheses of a leads_to and the alternatives of what it promises: the claim is stronger without
    one. A hypothesis whose end is an alternative says only how long is waited, and is no part by itself.
    Conjuncts of the promise would need wrong protocols, and are not looked at.
    """
    hypotheses = prop.premise.args if _is(prop.premise, "and") else (prop.premise,)
    alternatives = prop.expr.args if _is(prop.expr, "or") else ()
    ends = {fold(prop.expr), *map(fold, alternatives)}
    found = [
        (Place.HYPOTHESIS, part, replace(prop, premise=conjunction(*_others(hypotheses, number))))
        for number, part in enumerate(hypotheses)
        if fold(negation(part)) not in ends
    ]
    found += [
        (Place.ALTERNATIVE, part, replace(prop, expr=disjunction(*_others(alternatives, number))))
        for number, part in enumerate(alternatives)
    ]
    numbers = Counter[Place]()
    parts = []
    for place, part, shows in found:
        if isinstance(part, Const) or not _says_something(part):
            continue
        numbers[place] += 1
        parts.append(Part(f"{prop.id}/{place.value}{numbers[place]}", prop.id, place, render(part), shows))
    return tuple(parts)


def _others(parts: Sequence[Expr], number: int) -> tuple[Expr, ...]:
    return (*parts[:number], *parts[number + 1 :])


def _is(node: Expr, op: str) -> TypeGuard[Apply]:
    return isinstance(node, Apply) and node.op == op


def _says_something(part: Expr) -> bool:
    """An option by itself is a case of the protocol, not of the state: it is decided by the instance."""
    return bool(free_locals(part)) or any(not variable.constant for variable in variables_read(part))


def _shown(prop: Property, without: Expr, place: Place) -> Expr:
    """A claim that is broken where the claim and the one without the part differ. Of a stronger claim that is
    all that is to be said, for the claim itself holds.
    """
    return disjunction(negation(without), prop.expr) if place.weakens else without


def _parts(node: Expr, put: _Rebuilt, *, holds: bool) -> Iterator[_Found]:
    """Parts below ``node``; ``put`` gives the claim with another expression in its place. ``holds``: the
    claim wants it true; else it is on the left of an implication, or negated.
    """
    match node:
        case Apply(op="not", args=(inner,)):
            yield from _parts(inner, lambda new: put(negation(new)), holds=not holds)
        case Apply(op="implies", args=(left, right)):
            yield from _implication(node, left, right, put, holds=holds)
        case Apply(op="and" | "or", args=args):
            for number, arg in enumerate(args):
                inside = _inside(node, number, put)
                yield _of_junction(node.op, holds=holds), arg, inside(TRUE if node.op == "and" else FALSE)
                yield from _parts(arg, inside, holds=holds)
        case Apply(op="ite", args=(_, *_)) if isinstance(node.type, BoolType):
            for number in (1, 2):
                inside = _inside(node, number, put)
                yield from _side(node.args[number], inside, holds=holds)
        case Quantified(kind="forall" | "exists"):
            yield from _parts(node.body, _inside(node, 0, put), holds=holds)
        case _:
            return


def _implication(node: Expr, left: Expr, right: Expr, put: _Rebuilt, *, holds: bool) -> Iterator[_Found]:
    before, after = _inside(node, 0, put), _inside(node, 1, put)
    if not _is(left, "and"):
        yield (Place.HYPOTHESIS if holds else Place.CASE), left, before(TRUE if holds else FALSE)
    yield from _parts(left, before, holds=not holds)
    yield from _parts(right, after, holds=holds)


def _side(side: Expr, put: _Rebuilt, *, holds: bool) -> Iterator[_Found]:
    """A side of a choice: it is demanded in its case only."""
    if not isinstance(side, Const):
        yield (Place.CONJUNCT if holds else Place.HYPOTHESIS), side, put(TRUE)
    yield from _parts(side, put, holds=holds)


def _of_junction(op: str, *, holds: bool) -> Place:
    if op == "and":
        return Place.CONJUNCT if holds else Place.HYPOTHESIS
    return Place.ALTERNATIVE if holds else Place.CASE


def _inside(node: Expr, number: int, put: _Rebuilt) -> _Rebuilt:
    parts = children(node)
    return lambda new: put(rebuild(node, (*parts[:number], new, *parts[number + 1 :])))
