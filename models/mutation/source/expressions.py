"""Operators on expressions: comparisons, constants, minima, conditions, variables of the same type."""

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from tidemark.models.mutation.source.edits import Edit, Function, replacing, statements

Make = Callable[[ast.expr], ast.expr]

_COMPARISONS: dict[type[ast.cmpop], tuple[str, type[ast.cmpop]]] = {
    ast.Lt: ("lt-to-le", ast.LtE),
    ast.LtE: ("le-to-lt", ast.Lt),
    ast.Gt: ("gt-to-ge", ast.GtE),
    ast.GtE: ("ge-to-gt", ast.Gt),
    ast.Eq: ("eq-to-ne", ast.NotEq),
    ast.NotEq: ("ne-to-eq", ast.Eq),
    ast.Is: ("is-to-is-not", ast.IsNot),
    ast.IsNot: ("is-not-to-is", ast.Is),
    ast.In: ("in-to-not-in", ast.NotIn),
    ast.NotIn: ("not-in-to-in", ast.In),
}
_REMARKS = ("point", "_point", "_log")
"""Functions that only say something, or that only the explorer hears."""

_SWAPPED = {"max": "min", "min": "max", "any": "all", "all": "any"}

Siblings = Mapping[str, str]
"""Field name -> another field of the same type, over all classes that have the first."""


def expression_edits(function: Function, siblings: Siblings) -> Iterator[Edit]:
    """Every single change of an expression, in the order of the text.

    Left alone: annotations, defaults, decorators, and what only makes the text of an error.
    """
    numbers = {id(node): number for number, node in enumerate(ast.walk(function))}
    same_type = _parameters_by_type(function)
    for statement in _mutable(function):
        for node, is_condition in _expressions(statement):
            for operator, make in _variants(
                node, is_condition=is_condition, same_type=same_type, siblings=siblings
            ):
                yield Edit(operator, statement.lineno, replacing(numbers[id(node)], make))


def raising_blocks(function: Function) -> set[int]:
    """Ids of the statements that only prepare an error: those before a ``raise`` at the end of a block."""
    found: set[int] = set()
    for node in ast.walk(function):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[-1], ast.Raise):
                for statement in reversed(block):
                    if isinstance(statement, ast.Raise | ast.Assign) and not _acts(statement):
                        found.add(id(statement))
                    else:
                        break
    return found


def _acts(statement: ast.stmt) -> bool:
    """It assigns more than local names."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(not isinstance(target, ast.Name) for target in targets)


def _mutable(function: Function) -> list[ast.stmt]:
    silent = raising_blocks(function)
    found = [s for _, s in statements(function) if not (id(s) in silent or _is_docstring(s) or is_remark(s))]
    return sorted(found, key=lambda s: (s.lineno, s.col_offset))


def is_remark(statement: ast.stmt) -> bool:
    """It writes a line of a log, or lets the explorer preempt: nothing that the real thing would miss."""
    match statement:
        case ast.Expr(value=ast.Await(value=ast.Call(func=called)) | ast.Call(func=called)):
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            return name in _REMARKS
    return False


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _expressions(statement: ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
    """The expressions of a statement itself, not of statements in it; and whether each is a condition."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    pending: list[tuple[ast.AST, bool]] = []
    for field, value in ast.iter_fields(statement):
        if field in ("annotation", "returns", "targets", "target", "cases", "handlers"):
            if field in ("targets", "target"):
                pending += [(part, False) for part in _indices(value)]
            continue
        condition = field == "test" or (isinstance(statement, ast.Return) and _is_boolean(value))
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.expr | ast.withitem):
                pending.append((item, condition))
    while pending:
        node, condition = pending.pop(0)
        if isinstance(node, ast.JoinedStr):
            continue
        if isinstance(node, ast.expr):
            yield node, condition
        pending[:0] = _parts(node)


def _indices(targets: object) -> Iterator[ast.AST]:
    for target in targets if isinstance(targets, list) else [targets]:
        if isinstance(target, ast.Subscript):
            yield target.slice


def _parts(node: ast.AST) -> list[tuple[ast.AST, bool]]:
    found: list[tuple[ast.AST, bool]] = []
    for field, value in ast.iter_fields(node):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.expr | ast.comprehension | ast.keyword | ast.Slice):
                condition = field in ("test", "ifs") or isinstance(node, ast.BoolOp)
                found.append((item, condition and not isinstance(item, ast.comprehension)))
    return found


def _is_boolean(node: object) -> bool:
    return isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _variants(
    node: ast.expr, *, is_condition: bool, same_type: Siblings, siblings: Siblings
) -> Iterator[tuple[str, Make]]:
    match node:
        case ast.Compare() | ast.BoolOp() | ast.BinOp():
            yield from _of_operators(node)
        case ast.Constant(value=bool() as flag):
            yield "flipped", partial(_constant, not flag)
        case ast.Constant(value=int() as number):
            yield "plus-one", partial(_constant, number + 1)
            if number > 0:
                yield "minus-one", partial(_constant, number - 1)
        case ast.Call(func=ast.Name(id=name)):
            yield from _of_call(node, name)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts) if _spreads(node):
            for place in range(len(parts)):
                yield f"element{place + 1}-forgotten", partial(_without_element, place)
        case ast.Name(id=name, ctx=ast.Load()) if name in same_type:
            yield "wrong-variable", partial(_named, same_type[name])
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in siblings and not _is_config(node.value):
            yield "wrong-field", partial(_with_field, siblings[name])
    if is_condition and not isinstance(node, ast.Constant):
        yield "condition-negated", _negated


def _of_operators(node: ast.expr) -> Iterator[tuple[str, Make]]:
    match node:
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                if type(op) in _COMPARISONS:
                    name, other = _COMPARISONS[type(op)]
                    yield name, partial(_with_operator, place, other)
        case ast.BoolOp(op=op, values=values):
            swapped: ast.boolop = ast.Or() if isinstance(op, ast.And) else ast.And()
            name = "and-to-or" if isinstance(op, ast.And) else "or-to-and"
            yield name, partial(_joined_by, swapped)
            for place in range(len(values)):
                yield f"operand{place + 1}-forgotten", partial(_without_operand, place)
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right) if _numbers(left, right):
            yield "sign-swapped", _with_sign


def _of_call(node: ast.Call, name: str) -> Iterator[tuple[str, Make]]:
    if name in _SWAPPED:
        yield f"{name}-to-{_SWAPPED[name]}", partial(_renamed, _SWAPPED[name])
    starred = any(isinstance(one, ast.Starred) for one in node.args)
    if name in ("max", "min") and len(node.args) > 1 and not starred:
        for place in range(len(node.args)):
            yield f"argument{place + 1}-forgotten", partial(_without_argument, place)
    if name == "sorted":
        yield "order-dropped", _unsorted
    if name == "replace" and len(node.keywords) > 1:
        for place, keyword in enumerate(node.keywords):
            yield f"{keyword.arg}-not-replaced", partial(_without_keyword, place)


def _is_config(node: ast.expr) -> bool:
    """Durations and sizes: the explorer's clock has no lengths, so that no judge could tell."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name.endswith("config")


def _constant(value: int, _node: ast.expr) -> ast.expr:
    return ast.Constant(value)


def _named(name: str, _node: ast.expr) -> ast.expr:
    return ast.Name(name, ast.Load())


def _with_field(name: str, node: Any) -> ast.expr:
    return ast.Attribute(node.value, name, ast.Load())


def _joined_by(operator: ast.boolop, node: Any) -> ast.expr:
    return ast.BoolOp(operator, node.values)


def _unsorted(node: Any) -> ast.expr:
    return ast.Call(ast.Name("list", ast.Load()), node.args[:1], [])


def _with_operator(place: int, other: type[ast.cmpop], node: Any) -> Any:
    node.ops[place] = other()
    return node


def _without_operand(place: int, node: Any) -> Any:
    rest = [*node.values[:place], *node.values[place + 1 :]]
    return rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _without_keyword(place: int, node: Any) -> Any:
    del node.keywords[place]
    return node


def _without_element(place: int, node: Any) -> Any:
    for parts in (node.keys, node.values) if isinstance(node, ast.Dict) else (node.elts,):
        del parts[place]
    return node


def _renamed(name: str, node: Any) -> Any:
    node.func = ast.copy_location(ast.Name(name, ast.Load()), node.func)
    return node


def _without_argument(place: int, node: Any) -> Any:
    """One of the values of a minimum or a maximum is left out."""
    rest = [*node.args[:place], *node.args[place + 1 :]]
    return rest[0] if len(rest) == 1 else ast.Call(node.func, rest, node.keywords)


def _with_sign(node: Any) -> Any:
    node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    return node


def _numbers(*operands: ast.expr) -> bool:
    texts = (ast.Tuple, ast.List, ast.JoinedStr, ast.ListComp, ast.Dict)
    return not any(
        isinstance(one, texts) or (isinstance(one, ast.Constant) and isinstance(one.value, str))
        for one in operands
    )


def _spreads(node: ast.expr) -> bool:
    """A display that takes in the items of another collection."""
    if isinstance(node, ast.Dict):
        return None in node.keys
    return isinstance(node, ast.Tuple | ast.List) and any(isinstance(one, ast.Starred) for one in node.elts)


def _negated(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        opposite = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt}
        other = opposite.get(type(node.ops[0])) or _COMPARISONS[type(node.ops[0])][1]
        node.ops[0] = other()
        return node
    return ast.UnaryOp(ast.Not(), node)


def _parameters_by_type(function: Function) -> dict[str, str]:
    """Parameter -> the next parameter with the same annotation."""
    groups: dict[str, list[str]] = {}
    arguments = function.args
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if one.annotation is not None:
            groups.setdefault(ast.unparse(one.annotation), []).append(one.arg)
    return {
        name: names[(place + 1) % len(names)]
        for names in groups.values()
        if len(names) > 1
        for place, name in enumerate(names)
    }
