"""Scalar operations with intervals of values, so that bound checks and constants fold away during the
writing. Numbers, enumeration members and elements are ``i64``; truth values are ``i1``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.models.native.codegen.emitter import Emitter
from tidemark.models.native.errors import NativeError

LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class Val:
    """A value in the function's text with bounds that always hold; ``truth`` for an ``i1``."""

    ref: str
    low: int
    high: int
    truth: bool = False

    @property
    def fixed(self) -> bool:
        """Known while the text is written."""
        return self.low == self.high


def number(value: int) -> Val:
    """A known number."""
    return ranged(str(value), value, value)


def ranged(ref: str, low: int, high: int) -> Val:
    """A number within bounds. Raises NativeError if it could leave 63 bits."""
    if low < -LIMIT or high > LIMIT:
        raise NativeError(
            f"a number may reach {low}..{high}, beyond 62 bits; lower the bounds or the factors"
        )
    return Val(str(low) if low == high else ref, low, high)


def boolean(value: bool) -> Val:  # noqa: FBT001 - a literal
    """A known truth value."""
    return Val("true" if value else "false", int(value), int(value), truth=True)


def unknown(ref: str) -> Val:
    """A truth value that is not known while the text is written."""
    return Val(ref, 0, 1, truth=True)


TRUE, FALSE = boolean(True), boolean(False)  # noqa: FBT003 - literals


def bounded(ref: str, *sources: Val) -> Val:
    """A value that is one of several; known if they are all known and equal."""
    low, high = min(item.low for item in sources), max(item.high for item in sources)
    if low == high:
        return boolean(bool(low)) if sources[0].truth else number(low)
    return Val(ref, low, high, sources[0].truth)


def negate(out: Emitter, item: Val) -> Val:
    """Logical not."""
    if item.fixed:
        return FALSE if item.high else TRUE
    return unknown(out.op(f"xor i1 {item.ref}, true"))


def join(out: Emitter, op: str, items: Sequence[Val]) -> Val:
    """``and`` or ``or`` of values that are all computed."""
    unit, absorbing = (TRUE, FALSE) if op == "and" else (FALSE, TRUE)
    result = unit
    for item in items:
        if absorbing in (item, result):
            return absorbing
        if item == unit or item.ref == result.ref:
            continue
        result = item if result == unit else unknown(out.op(f"{op} i1 {result.ref}, {item.ref}"))
    return result


def equal(out: Emitter, left: Val, right: Val) -> Val:
    """Equality of two values of one kind."""
    if left.ref == right.ref:
        return TRUE
    if left.high < right.low or right.high < left.low:
        return FALSE
    if left.truth:
        for one, two in ((left, right), (right, left)):
            if one.fixed:
                return two if one.high else negate(out, two)
        return unknown(out.op(f"icmp eq i1 {left.ref}, {right.ref}"))
    return unknown(out.op(f"icmp eq i64 {left.ref}, {right.ref}"))


def less(out: Emitter, left: Val, right: Val, *, strict: bool) -> Val:
    """Order of two numbers."""
    if left.high + strict <= right.low:
        return TRUE
    if left.low + strict > right.high:
        return FALSE
    return unknown(out.op(f"icmp {'slt' if strict else 'sle'} i64 {left.ref}, {right.ref}"))


def choose(out: Emitter, condition: Val, then: Val, other: Val) -> Val:
    """One of two computed values."""
    if condition.fixed:
        return then if condition.high else other
    if then.ref == other.ref:
        return then
    kind = "i1" if then.truth else "i64"
    ref = out.op(f"select i1 {condition.ref}, {kind} {then.ref}, {kind} {other.ref}")
    return bounded(ref, then, other)


def arithmetic(out: Emitter, op: str, left: Val, right: Val) -> Val:
    """add, sub, mul, div, mod, min, max; division rounds towards minus infinity, by a positive number."""
    match op:
        case "add":
            return _plain(out, op, left, right, (left.low + right.low, left.high + right.high))
        case "sub":
            return _plain(out, op, left, right, (left.low - right.high, left.high - right.low))
        case "mul":
            corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
            return _plain(out, op, left, right, (min(corners), max(corners)))
        case "min" | "max":
            return _least_or_greatest(out, op, left, right)
        case "div" | "mod":
            return _divide(out, op, left, right)
    raise TypeError(f"no arithmetic: {op}")


def _plain(out: Emitter, op: str, left: Val, right: Val, limits: tuple[int, int]) -> Val:
    low, high = limits
    if low == high:
        return number(low)
    if (op == "add" and right.high == right.low == 0) or (op == "sub" and right.high == right.low == 0):
        return left
    if op == "add" and left.high == left.low == 0:
        return right
    return ranged(out.op(f"{op} nsw i64 {left.ref}, {right.ref}"), low, high)


def _least_or_greatest(out: Emitter, op: str, left: Val, right: Val) -> Val:
    pick = min if op == "min" else max
    first, second = (left, right) if op == "min" else (right, left)
    if first.high <= second.low:
        return left
    if second.high <= first.low:
        return right
    test = unknown(out.op(f"icmp {'slt' if op == 'min' else 'sgt'} i64 {left.ref}, {right.ref}"))
    chosen = choose(out, test, left, right)
    return ranged(chosen.ref, pick(left.low, right.low), pick(left.high, right.high))


def _divide(out: Emitter, op: str, left: Val, right: Val) -> Val:
    divisor = right.low
    if divisor <= 0 or not right.fixed:
        raise NativeError(f"a division by {right.low}..{right.high}; divide by a positive literal")
    low, high = left.low // divisor, left.high // divisor
    if op == "mod":
        low, high = (left.low % divisor, left.high % divisor) if low == high else (0, divisor - 1)
    if left.fixed:
        return number(low)
    if left.low >= 0:
        return ranged(out.op(f"{'udiv' if op == 'div' else 'urem'} i64 {left.ref}, {divisor}"), low, high)
    rest = out.op(f"srem i64 {left.ref}, {divisor}")
    below = out.op(f"icmp slt i64 {rest}, 0")
    if op == "mod":
        lifted = out.op(f"add i64 {rest}, {divisor}")
        return ranged(out.op(f"select i1 {below}, i64 {lifted}, i64 {rest}"), low, high)
    quotient, less_one = out.op(f"sdiv i64 {left.ref}, {divisor}"), out.op(f"sext i1 {below} to i64")
    return ranged(out.op(f"add i64 {quotient}, {less_one}"), low, high)


def within(out: Emitter, item: Val, low: int, size: int) -> Val:
    """Does the number lie in ``low`` .. ``low + size - 1``?"""
    if item.low >= low and item.high < low + size:
        return TRUE
    if item.high < low or item.low >= low + size:
        return FALSE
    if item.truth:
        return unknown(item.ref) if low == 1 else negate(out, item)
    moved = out.op(f"sub i64 {item.ref}, {low}") if low else item.ref
    return unknown(out.op(f"icmp ult i64 {moved}, {size}"))


def widen(out: Emitter, item: Val) -> str:
    """The value as ``i64``."""
    if not item.truth:
        return item.ref
    return str(item.low) if item.fixed else out.op(f"zext i1 {item.ref} to i64")
