"""Simplification that keeps the meaning: constant folding, and reading through whole-map updates."""

from functools import lru_cache

from tidemark.spec.language.expr import (
    BINARY,
    FALSE,
    TRUE,
    Apply,
    Choose,
    Const,
    Expr,
    MapComprehension,
    Quantified,
    Read,
    Select,
    Store,
    children,
    map_type,
    rebuild,
    substitute,
)
from tidemark.spec.language.types import BOOL, LITERAL, LITERAL_INT, BoolType, NumberType, Type


def literal(value: int) -> Const:
    """An unnamed number."""
    return Const(LITERAL_INT if value < 0 else LITERAL, value)


def conjunction(*parts: Expr) -> Expr:
    """``and`` of the parts, flattened; true for none."""
    return _junction("and", parts, unit=TRUE, absorbing=FALSE)


def disjunction(*parts: Expr) -> Expr:
    """``or`` of the parts, flattened; false for none."""
    return _junction("or", parts, unit=FALSE, absorbing=TRUE)


def negation(part: Expr) -> Expr:
    """``not``, folded."""
    if isinstance(part, Const):
        return FALSE if part.value else TRUE
    if isinstance(part, Apply) and part.op == "not":
        return part.args[0]
    return Apply(BOOL, "not", (part,))


def _junction(op: str, parts: tuple[Expr, ...], *, unit: Const, absorbing: Const) -> Expr:
    flat: list[Expr] = []
    for part in parts:
        inner = part.args if isinstance(part, Apply) and part.op == op else (part,)
        for item in inner:
            if item == absorbing:
                return absorbing
            if item != unit and item not in flat:
                flat.append(item)
    if len(flat) <= 1:
        return flat[0] if flat else unit
    return Apply(BOOL, "and" if op == "and" else "or", tuple(flat))


def choice(condition: Expr, then: Expr, other: Expr) -> Expr:
    """``ite``, folded; a choice between Booleans becomes connectives where one side is a literal."""
    if isinstance(condition, Const):
        return then if condition.value else other
    if then == other:
        return then
    if isinstance(then.type, BoolType):
        if then == TRUE:
            return disjunction(condition, other)
        if then == FALSE:
            return conjunction(negation(condition), other)
        if other == FALSE:
            return conjunction(condition, then)
        if other == TRUE:
            return disjunction(negation(condition), then)
    return Apply(_joined(then.type, other.type), "ite", (condition, then, other))


def _joined(one: Type, two: Type) -> Type:
    """The type of a choice: a number keeps the name and the sign of either side."""
    if isinstance(one, NumberType) and isinstance(two, NumberType):
        return NumberType(one.name or two.name, signed=one.signed or two.signed)
    return one


def equality(left: Expr, right: Expr) -> Expr:
    """``=``, folded."""
    if left == right:
        return TRUE
    if isinstance(left, Const) and isinstance(right, Const):
        return TRUE if left.value == right.value else FALSE
    if isinstance(left.type, BoolType):
        for one, two in ((left, right), (right, left)):
            if isinstance(one, Const):
                return two if one.value else negation(two)
    return Apply(BOOL, "eq", (left, right))


def select(source: Expr, keys: tuple[Expr, ...]) -> Expr:
    """Value of ``source`` at ``keys``, read through stores, comprehensions and choices of maps."""
    match source:
        case MapComprehension(binders=binders, body=body):
            return fold(substitute(body, locals_={b.name: k for b, k in zip(binders, keys, strict=True)}))
        case Store(map=inner, keys=at, value=value):
            same = conjunction(*(equality(a, k) for a, k in zip(at, keys, strict=True)))
            return choice(same, value, select(inner, keys))
        case Apply(op="ite", args=(condition, then, other)):
            return choice(condition, select(then, keys), select(other, keys))

    return Select(map_type(source).value, source, keys)


def _fold_apply(node: Apply) -> Expr:
    args = node.args
    match node.op:
        case "and":
            return conjunction(*args)
        case "or":
            return disjunction(*args)
        case "not":
            return negation(args[0])
        case "implies":
            return disjunction(negation(args[0]), args[1]) if isinstance(args[0], Const) else _implies(node)
        case "eq":
            return equality(args[0], args[1])
        case "ite":
            return choice(*args)
    match args:
        case (Const(value=left), Const(value=right)):
            value = BINARY[node.op](int(left), int(right))
            return Const(BOOL, value) if isinstance(value, bool) else literal(value)
    return _fold_mixed(node)


def _implies(node: Apply) -> Expr:
    left, right = node.args
    if right == TRUE or left == right:
        return TRUE
    return negation(left) if right == FALSE else node


def _fold_mixed(node: Apply) -> Expr:
    left, right = node.args[0], node.args[-1]
    if node.op in ("add", "sub") and isinstance(right, Const) and right.value == 0:
        return left
    if node.op == "add" and isinstance(left, Const) and left.value == 0:
        return right
    if node.op in ("le", "min", "max") and left == right:
        return TRUE if node.op == "le" else left
    return node


@lru_cache(maxsize=1 << 17)
def fold(node: Expr) -> Expr:
    """The simplified expression: same value in every state, for every assignment of its free variables."""
    parts = tuple(fold(part) for part in children(node))
    node = rebuild(node, parts)
    match node:
        case Apply():
            return _fold_apply(node)
        case Select(map=source, keys=keys) if not isinstance(source, Read):
            return select(source, keys)
        case Quantified(kind="forall" | "exists", body=Const(value=value)):
            return TRUE if value else FALSE  # no domain is empty
        case Choose(body=Const(value=False), default=default):
            return default
    return node


def non_negative(node: Expr) -> bool:
    """True if the form alone shows that the number is never below zero (no search, no solver)."""
    match node:
        case Const(value=value):
            return int(value) >= 0
        case Apply(op="add" | "mul" | "min", args=args):
            return all(non_negative(arg) for arg in args)
        case Apply(op="max", args=args):
            return any(non_negative(arg) for arg in args)
        case Apply(op="ite", args=(_, then, other)):
            return non_negative(then) and non_negative(other)
        case Apply(op="mod"):
            return True
        case Quantified(kind="count"):
            return True
        case Choose(default=default):
            return non_negative(default)
    return isinstance(node.type, NumberType) and not node.type.signed and not isinstance(node, Apply)
