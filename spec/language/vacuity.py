"""Claims that say nothing are errors: a property that holds by type alone, an action that does nothing."""

import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter

from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.expr import FALSE, TRUE, Apply, Choose, Const, Expr, Quantified, Value
from tidemark.spec.language.fold import disjunction, negation
from tidemark.spec.language.spec import Action, Property
from tidemark.spec.language.types import BoolType, EnumType, NumberType

Interval = tuple[float, float]
Valued = Callable[[tuple[Value, ...]], Value]
MOST_ASSIGNMENTS = 4096
"""A condition with more combinations of its atoms is not enumerated."""


def check_action(protocol: str, action: Action, *, place: str) -> None:
    """Raises SpecError for an action that changes nothing, or one whose guard is false by type."""
    if not action.updates:
        raise SpecError(
            f"the action {protocol}.{action.name} changes nothing",
            remedy="Assign a state variable or delete it",
            place=place,
        )
    for guard in action.guards:
        if decide(guard.expr) is False:
            raise SpecError(
                f"the guard {guard.text!r} of {action.name} is false by type",
                remedy="Correct or delete it",
                place=guard.place,
            )


def check_property(prop: Property, *, place: str) -> None:
    """Raises SpecError for a claim that is decided by type alone."""
    known = decide(prop.expr)
    if prop.kind == "reachable":  # true is fine: "this action fires at all" is a claim
        if known is False:
            raise SpecError(
                f"{prop.id} can never be true by type", remedy="Say something that can be true", place=place
            )
        return
    if prop.kind == "leads_to" and decide(prop.premise) is False:
        raise SpecError(f"the premise of {prop.id} is never true", remedy="Say when it applies", place=place)
    if known is True or decide(disjunction(negation(prop.premise), prop.expr)) is True:
        raise SpecError(
            f"{prop.id} is always true by type", remedy="Say something that can be false", place=place
        )


@lru_cache(maxsize=1 << 14)
def decide(node: Expr) -> bool | None:
    """True or false if types and form alone decide (by intervals, then by trying all values), else None."""
    known = truth(node)
    if known is None and isinstance(node, Quantified) and node.kind in ("forall", "exists"):
        return decide(node.body)  # no domain is empty
    return _by_trying(node) if known is None else known


def _by_trying(node: Expr) -> bool | None:
    atoms: dict[Expr, tuple[Value, ...]] = {}
    _collect(node, atoms)
    if math.prod(map(len, atoms.values())) > MOST_ASSIGNMENTS:
        return None
    seen = set()
    value = _valued(node, {atom: place for place, atom in enumerate(atoms)})
    for values in itertools.product(*atoms.values()):
        seen.add(bool(value(values)))
        if len(seen) == 2:
            return None
    return seen.pop()


def _is_connective(node: Expr) -> bool:
    match node:
        case Apply(op="and" | "or" | "not" | "implies"):
            return True
        case Apply(op="ite"):
            return isinstance(node.type, BoolType | EnumType)
        case Apply(op="eq", args=(left, _)):
            return isinstance(left.type, BoolType | EnumType)
    return False


def _collect(node: Expr, atoms: dict[Expr, tuple[Value, ...]]) -> None:
    """The largest parts without connectives: each may take any of its type's values, independently."""
    if isinstance(node, Const):
        return
    if _is_connective(node):
        assert isinstance(node, Apply)
        for arg in node.args:
            _collect(arg, atoms)
        return
    known = truth(node)
    if known is not None:
        atoms[node] = (known,)
    else:
        atoms[node] = node.type.members if isinstance(node.type, EnumType) else (False, True)


def _valued(node: Expr, places: dict[Expr, int]) -> Valued:
    """The value as a function of the values of the atoms, so that trees are hashed only once."""
    if isinstance(node, Const):
        constant = node.value
        return lambda _: constant
    if node in places:
        return itemgetter(places[node])
    assert isinstance(node, Apply)
    parts = [_valued(arg, places) for arg in node.args]
    match node.op:
        case "ite":
            test, then, other = parts
            return lambda values: then(values) if test(values) else other(values)
        case "and":
            return lambda values: all(part(values) for part in parts)
        case "or":
            return lambda values: any(part(values) for part in parts)
        case "not":
            return lambda values: not parts[0](values)
        case "implies":
            return lambda values: not parts[0](values) or bool(parts[1](values))
    return lambda values: parts[0](values) == parts[1](values)


def truth(node: Expr) -> bool | None:
    """True or false if the types of the variables alone decide, else None."""
    if node in (TRUE, FALSE):
        return node == TRUE
    match node:
        case Apply(op="not", args=(part,)):
            inner = truth(part)
            return None if inner is None else not inner
        case Apply(op="and", args=args):
            return _all([truth(arg) for arg in args])
        case Apply(op="or", args=args):
            return _any([truth(arg) for arg in args])
        case Apply(op="implies", args=(left, right)):
            premise = truth(left)
            return _any([None if premise is None else not premise, truth(right)])
        case Apply(op="ite", args=(_, then, other)):
            one, two = truth(then), truth(other)
            return one if one == two else None
        case Quantified(kind="forall" | "exists", body=body):
            return truth(body)
        case Apply(op="lt" | "le" | "eq" as op, args=(left, right)) if isinstance(left.type, NumberType):
            return _compare(op, interval(left), interval(right))
    return None


def _all(parts: list[bool | None]) -> bool | None:
    return False if False in parts else None if None in parts else True


def _any(parts: list[bool | None]) -> bool | None:
    return True if True in parts else None if None in parts else False


def _compare(op: str, left: Interval, right: Interval) -> bool | None:
    if op == "lt":
        return True if left[1] < right[0] else False if left[0] >= right[1] else None
    if op == "le":
        return True if left[1] <= right[0] else False if left[0] > right[1] else None
    return False if left[1] < right[0] or right[1] < left[0] else None


def interval(node: Expr) -> Interval:
    """Bounds of a number by type and form."""
    match node:
        case Const(value=value):
            return float(value), float(value)
        case Apply(op="add", args=(left, right)):
            return interval(left)[0] + interval(right)[0], interval(left)[1] + interval(right)[1]
        case Apply(op="sub", args=(left, right)):
            return interval(left)[0] - interval(right)[1], interval(left)[1] - interval(right)[0]
        case Apply(op="min" | "max" as op, args=(left, right)):
            pick = min if op == "min" else max
            return pick(interval(left)[0], interval(right)[0]), pick(interval(left)[1], interval(right)[1])
        case Apply(op="ite", args=(_, then, other)):
            one, two = interval(then), interval(other)
            return min(one[0], two[0]), max(one[1], two[1])
        case Apply(op="mod", args=(_, Const(value=value))):
            return 0.0, float(value) - 1
        case Apply(op="mul" | "div"):
            return -math.inf, math.inf
        case Choose(default=default):
            return min(0.0, interval(default)[0]), math.inf
    signed = isinstance(node.type, NumberType) and node.type.signed
    return (-math.inf if signed else 0.0), math.inf
