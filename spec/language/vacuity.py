"""Claims that say nothing are errors: a property that holds by type alone, an action without effect or with a false guard."""

from __future__ import annotations

import math

from spec.language.errors import SpecError
from spec.language.expr import FALSE, TRUE, Apply, Const, Expr, Extreme, Quantified
from spec.language.spec import Action, Property
from spec.language.types import NumberType

Interval = tuple[float, float]


def check_action(protocol: str, action: Action) -> None:
    """Errors: an action that changes nothing, or one whose guard is false by type."""
    if not action.updates:
        raise SpecError(
            f"the action {protocol}.{action.name} changes nothing", remedy="Assign a state variable or delete it", place=action.name
        )
    for guard in action.guards:
        if truth(guard.expr) is False:
            raise SpecError(
                f"the guard {guard.text!r} of {action.name} is false by type", remedy="Correct or delete it", place=guard.place
            )


def check_property(prop: Property, actions: tuple[Action, ...]) -> None:
    """Errors: a property that is always true by type; a leads_to whose premise is never true; a witness of no action."""
    if prop.kind == "reachable" and prop.after not in {action.name for action in actions}:
        raise SpecError(
            f"{prop.id} speaks about the action {prop.after!r}, which does not exist",
            remedy=f"Name one of {', '.join(action.name for action in actions)}",
            place=prop.id,
        )
    trivial_is_fine = prop.kind == "reachable"  # "this action fires at all" is a claim
    if not trivial_is_fine and truth(prop.expr) is True:
        raise SpecError(f"{prop.id} is always true by type", remedy="Say something that can be false", place=prop.id)
    if prop.kind == "leads_to" and truth(prop.premise) is False:
        raise SpecError(f"the premise of {prop.id} is never true", remedy="Say when it applies", place=prop.id)


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
        case Extreme(default=default):
            return min(0.0, interval(default)[0]), math.inf
    signed = isinstance(node.type, NumberType) and node.type.signed
    return (-math.inf if signed else 0.0), math.inf
