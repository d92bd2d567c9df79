"""Assignments that leave an instance by a key outside its bounds, and claims about one action's steps."""

from collections.abc import Iterator
from dataclasses import dataclass

from tidemark.models.exports.text.ranges import Ranges
from tidemark.spec.language.expr import (
    FALSE,
    TRUE,
    Apply,
    Expr,
    Read,
    Store,
    children,
    map_type,
    rebuild,
    substitute,
)
from tidemark.spec.language.fold import equality, fold, negation, select
from tidemark.spec.language.spec import Action
from tidemark.spec.language.types import MapType, Type


@dataclass(frozen=True)
class Beyond:
    """An assignment that leaves the bounds if the conditions hold, a key lies outside, the value is new."""

    conditions: tuple[Expr, ...]
    keys: tuple[tuple[Type, Expr], ...]
    """The keys that may lie outside; at least one."""
    differs: Expr


def beyond(ranges: Ranges, action: Action) -> list[Beyond]:
    """All assignments of an action that may change a map outside the instance."""
    return [
        found
        for variable, expr in action.updates
        if isinstance(variable.type, MapType)
        for found in _stores(ranges, expr, ())
    ]


def _stores(ranges: Ranges, node: Expr, conditions: tuple[Expr, ...]) -> Iterator[Beyond]:
    match node:
        case Store(map=source, keys=keys, value=value):
            yield from _stores(ranges, source, conditions)
            kinds = map_type(source).keys
            risky = tuple((k, key) for k, key in zip(kinds, keys, strict=True) if not ranges.covers(k, key))
            differs = fold(negation(equality(value, select(source, keys))))
            if risky and differs != negation(TRUE):
                yield Beyond(conditions, risky, differs)
        case Apply(op="ite", args=(condition, then, other)):
            yield from _stores(ranges, then, (*conditions, condition))
            yield from _stores(ranges, other, (*conditions, negation(condition)))


def in_step(expr: Expr, action: Action) -> Expr:
    """A two-state claim in a step of the action: unwritten variables are the same before and after."""
    written = {variable.name for variable in action.writes}

    def read(node: Read) -> Expr:
        if node.primed and node.variable.name not in written:
            return Read(node.type, node.variable)
        return node

    return fold(_settled(substitute(expr, reads=read)))


def _settled(node: Expr) -> Expr:
    """Decide a claim whose sides became equal: x < x, p and not p."""
    node = fold(rebuild(node, tuple(map(_settled, children(node)))))
    if isinstance(node, Apply) and node.op == "lt" and node.args[0] == node.args[1]:
        return FALSE
    if (
        isinstance(node, Apply)
        and node.op in ("and", "or")
        and any(negation(arg) in node.args for arg in node.args)
    ):
        return FALSE if node.op == "and" else TRUE
    return node
