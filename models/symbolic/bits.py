"""Finite values as propositional formulas: a value is a table "which value under which condition",
conditions are Z3 Booleans.

Conditions that are known stay Python's True and False, so that most of a formula is computed away while
it is built.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import z3

from tidemark.spec.language.expr import Value

Bit = Any
"""True, False, or a Z3 Boolean (which has no type information)."""

Cases = Mapping[Value, Bit]
"""Exactly one of the conditions is true; values whose condition is False are left out."""


def known(value: Value) -> Cases:
    """A value that is certain."""
    return {value: True}


def both(left: Bit, right: Bit) -> Bit:
    """And."""
    if left is False or right is False:
        return False
    if left is True:
        return right
    return left if right is True else _joined(z3.Z3_mk_and, (left, right))


def either(left: Bit, right: Bit) -> Bit:
    """Or."""
    if left is True or right is True:
        return True
    if left is False:
        return right
    return left if right is False else _joined(z3.Z3_mk_or, (left, right))


def invert(bit: Bit) -> Bit:
    """Not."""
    if isinstance(bit, bool):
        return not bit
    if z3.is_not(bit):
        return bit.arg(0)
    return z3.BoolRef(z3.Z3_mk_not(bit.ctx.ref(), bit.as_ast()), bit.ctx)


def _joined(make: Callable[..., Any], bits: Sequence[Bit]) -> Bit:
    """The term of ``z3.And`` or ``z3.Or``, made without their slow repeated looks at operands."""
    context = bits[0].ctx
    operands = (z3.Ast * len(bits))(*[bit.as_ast() for bit in bits])
    return z3.BoolRef(make(context.ref(), len(bits), operands), context)


def _gathered(bits: Iterable[Bit], make: Callable[..., Any], *, absorbing: bool) -> Bit:
    kept = []
    for bit in bits:
        if bit is absorbing:
            return absorbing
        if not isinstance(bit, bool):
            kept.append(bit)
    return not absorbing if not kept else kept[0] if len(kept) == 1 else _joined(make, kept)


def every(bits: Iterable[Bit]) -> Bit:
    """And of many; stops at the first False."""
    return _gathered(bits, z3.Z3_mk_and, absorbing=False)


def some(bits: Iterable[Bit]) -> Bit:
    """Or of many; stops at the first True."""
    return _gathered(bits, z3.Z3_mk_or, absorbing=True)


def truth(cases: Cases) -> Bit:
    """The condition of a Boolean's being true."""
    return cases.get(True, False)


def boolean(bit: Bit) -> Cases:
    """A Boolean from its condition."""
    return merge(((bit, True), (invert(bit), False)))


def merge(parts: Iterable[tuple[Bit, Value]]) -> Cases:
    """A table from (condition, value) pairs; equal values are joined."""
    found: dict[Value, list[Bit]] = {}
    for bit, value in parts:
        if bit is not False:
            found.setdefault(value, []).append(bit)
    table = {value: some(bits) for value, bits in found.items()}
    return next((known(value) for value, bit in table.items() if bit is True), table)


def choose(condition: Bit, then: Cases, other: Cases) -> Cases:
    """``then`` where the condition holds, else ``other``."""
    if isinstance(condition, bool):
        return then if condition else other
    if then is other:
        return then
    opposite = invert(condition)
    return merge(
        [(both(condition, bit), value) for value, bit in then.items()]
        + [(both(opposite, bit), value) for value, bit in other.items()]
    )


def combine(function: Callable[..., Value], left: Cases, right: Cases) -> Cases:
    """A binary operator, case by case."""
    return merge((both(a, b), function(x, y)) for x, a in left.items() for y, b in right.items())


def same(left: Cases, right: Cases) -> Bit:
    """The condition of two values' being equal."""
    small, large = (left, right) if len(left) <= len(right) else (right, left)
    return some(both(bit, large.get(value, False)) for value, bit in small.items())


def compare(function: Callable[..., bool], left: Cases, right: Cases) -> Bit:
    """An order between numbers, case by case."""
    return some(both(a, b) for x, a in left.items() for y, b in right.items() if function(x, y))
