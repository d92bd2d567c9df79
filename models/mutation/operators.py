"""Mutation operators: how one place of an expression can be wrong. Tree surgery only, no text is patched."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tidemark.spec.language.expr import Apply, Const, Expr, Operator, Store, children, rebuild, walk
from tidemark.spec.language.types import BOOL, NumberType

_SWAPPED: dict[str, Operator] = {"lt": "le", "le": "lt", "min": "max", "max": "min"}


@dataclass(frozen=True)
class Change:
    """One place of an expression made wrong: node number ``at`` (parents first, from 0) is replaced."""

    name: str
    at: int
    before: Expr
    after: Expr

    def applied(self, whole: Expr) -> Expr:
        """The whole expression with the change made."""
        return replace_at(whole, self.at, self.after)


def replace_at(whole: Expr, at: int, new: Expr) -> Expr:
    """``whole`` with node number ``at`` (in the order of ``walk``) replaced. Raises IndexError."""
    found, rest = _replace(whole, at, new)
    if rest >= 0:
        raise IndexError(f"no node {at} in a tree of {at - rest} nodes")
    return found


def _replace(node: Expr, at: int, new: Expr) -> tuple[Expr, int]:
    """The new node, and how many nodes are still to be passed; negative once the place was found."""
    if at == 0:
        return new, -1
    rest, parts = at - 1, list(children(node))
    for index, part in enumerate(parts):
        parts[index], rest = _replace(part, rest, new)
        if rest < 0:
            return rebuild(node, tuple(parts)), rest
    return node, rest


def changes(whole: Expr, *, assigned: bool) -> Iterator[Change]:
    """All single changes, in order. ``assigned``: the expression is a right-hand side, not a guard."""
    divisors = {
        id(node.args[1]) for node in walk(whole) if isinstance(node, Apply) and node.op in ("div", "mod")
    }
    for at, node in enumerate(walk(whole)):
        for name, after in _variants(node, assigned=assigned):
            if not (id(node) in divisors and isinstance(after, Const) and after.value == 0):
                yield Change(name, at, node, after)


def _variants(node: Expr, *, assigned: bool) -> Iterator[tuple[str, Expr]]:
    match node:
        case Apply(op="lt" | "le" | "min" | "max" as op):
            yield f"{op}-to-{_SWAPPED[op]}", replace(node, op=_SWAPPED[op])
        case Apply(op="eq", args=(left, _)) if isinstance(left.type, NumberType):
            yield "eq-to-le", Apply(BOOL, "le", node.args)
        case Apply(op="ite", args=(condition, then, other)):
            yield "branches-swapped", replace(node, args=(condition, other, then))
        case Store(map=source):
            yield "entry-not-assigned", source
        case Const(value=bool() as value) if assigned:
            yield "flipped", Const(node.type, not value)
        case Const(value=int() as value) if isinstance(node.type, NumberType):
            yield "plus-one", Const(node.type, value + 1)
            if value > 0:
                yield "minus-one", Const(node.type, value - 1)
    yield from _forgotten(node)


def _forgotten(node: Expr) -> Iterator[tuple[str, Expr]]:
    """One argument of a minimum, a maximum or a connective left out."""
    match node:
        case Apply(op="min" | "max" | "and" | "or", args=args):
            for number in range(len(args)):
                rest = args[:number] + args[number + 1 :]
                left = rest[0] if len(rest) == 1 else replace(node, args=rest)
                yield f"argument{number + 1}-forgotten", left
        case Apply(op="implies", args=(_, conclusion)):
            yield "premise-forgotten", conclusion


def conjuncts(node: Expr) -> tuple[Expr, ...]:
    """The parts of a conjunction, else the node alone."""
    return node.args if isinstance(node, Apply) and node.op == "and" else (node,)
