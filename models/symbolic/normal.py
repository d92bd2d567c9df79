"""Normal forms of both encodings: names of bound variables, comparisons of counts, conjuncts."""

import itertools
from collections.abc import Iterator

from tidemark.spec.language.expr import (
    Apply,
    Choose,
    Const,
    Expr,
    Local,
    Quantified,
    binders_of,
    children,
    free_locals,
    rebind,
    rebuild,
    substitute,
)
from tidemark.spec.language.fold import conjunction, disjunction, fold, negation
from tidemark.spec.language.types import BOOL, BoolType, EnumType

COUNT_LIMIT = 3
"""Up to this literal a comparison of a count becomes a statement about distinct witnesses."""


def canonical(node: Expr) -> Expr:
    """The expression with bound variables numbered by depth: their names make no difference."""
    return _canonical(node, 0)


def _canonical(node: Expr, depth: int) -> Expr:
    bound = binders_of(node)
    if bound:
        names = {b.name: Local(b.type, f"%{depth + i}") for i, b in enumerate(bound)}
        parts = [substitute(part, locals_=names) for part in children(node)]
        if isinstance(node, Choose):
            parts[1] = node.default
        node = rebind(rebuild(node, tuple(parts)), tuple(names.values()))
        depth += len(bound)
    return rebuild(node, tuple(_canonical(part, depth) for part in children(node)))


def expand_count(node: Apply) -> Apply | Expr:
    """A comparison of a count with a small literal, as "there are that many distinct ones"."""
    left, right = node.args
    if _is_count(left) and isinstance(right, Const):
        counted, limit = left, int(right.value)
        at_least = {"eq": limit, "lt": limit, "le": limit + 1}[node.op]
        if at_least > COUNT_LIMIT:
            return node
        if node.op == "eq":
            return conjunction(_at_least(counted, limit), negation(_at_least(counted, limit + 1)))
        return negation(_at_least(counted, at_least))
    if _is_count(right) and isinstance(left, Const):
        counted, limit = right, int(left.value)
        if node.op == "eq":
            return expand_count(Apply(BOOL, "eq", (right, left)))
        at_least = limit + 1 if node.op == "lt" else limit
        return node if at_least > COUNT_LIMIT else _at_least(counted, at_least)
    return node


def _is_count(node: Expr) -> bool:
    """Counts over finite types alone are summed, not rewritten."""
    if not (isinstance(node, Quantified) and node.kind == "count"):
        return False
    return not all(isinstance(b.type, BoolType | EnumType) for b in node.binders)


def _at_least(node: Expr, number: int) -> Expr:
    """There are ``number`` distinct assignments which satisfy the body."""
    assert isinstance(node, Quantified)
    if number <= 0:
        return Const(BOOL, value=True)
    copies = [tuple(Local(b.type, f"{b.name}~{i}") for b in node.binders) for i in range(number)]
    bodies = [
        substitute(node.body, locals_={b.name: c for b, c in zip(node.binders, copy, strict=True)})
        for copy in copies
    ]
    distinct = [
        disjunction(*(negation(Apply(BOOL, "eq", (x, y))) for x, y in zip(one, two, strict=True)))
        for one, two in itertools.combinations(copies, 2)
    ]
    binders = tuple(local for copy in copies for local in copy)
    return Quantified(BOOL, "exists", binders, conjunction(*bodies, *distinct))


def conjuncts(node: Expr) -> Iterator[Expr]:
    """Claims whose conjunction is ``node``, split below quantifiers and implications."""
    match node:
        case Apply(op="and", args=args):
            for arg in args:
                yield from conjuncts(arg)
        case Apply(op="implies", args=(premise, conclusion)):
            for part in conjuncts(conclusion):
                yield fold(Apply(BOOL, "implies", (premise, part)))
        case Quantified(kind="forall", binders=binders, body=body):
            for part in conjuncts(body):
                used = free_locals(part)
                kept = tuple(b for b in binders if b.name in used)
                yield Quantified(BOOL, "forall", kept, part) if kept else part
        case _:
            yield node
