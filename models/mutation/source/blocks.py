"""Operators on statements: dropped, swapped, without their lock, with other handlers, with a stale read."""

import ast
from collections.abc import Iterator
from functools import partial
from operator import itemgetter
from typing import cast

from tidemark.models.mutation.source.edits import (
    Block,
    Edit,
    Function,
    Place,
    bound_names,
    has_await,
    read_names,
    splicing,
    statements,
)
from tidemark.models.mutation.source.expressions import is_remark, raising_blocks

_STALE = "stale_"
"""The local name that keeps what was read too early."""

_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)


def statement_edits(function: Function) -> Iterator[Edit]:
    """Every single change of statements, in the order of the text."""
    silent = raising_blocks(function)
    found = sorted(statements(function), key=lambda one: (one[1].lineno, one[1].col_offset))
    nodes = list(ast.walk(function))
    known = {name.arg for name in (*function.args.args, *function.args.kwonlyargs)}
    for place, statement in found:
        if _is_text(statement):
            continue
        follower = next(iter(place.block(nodes)[place.index + 1 :]), None)
        is_silent = id(statement) in silent
        if isinstance(statement, ast.Raise) or not is_silent:
            yield from _dropped(function, place, statement, known)
        if not is_silent:
            yield from _opened(place, statement)
            if follower is not None and id(follower) not in silent:
                yield from _swapped(function, place, statement, follower)
                yield from _read_early(place, statement, follower)
        known |= _bound_by(statement)


def _bound_by(statement: ast.stmt) -> set[str]:
    """Names that the statement itself binds, not those in it."""
    if isinstance(statement, _SIMPLE):
        return bound_names(statement)
    return bound_names(statement.target) if isinstance(statement, ast.For | ast.AsyncFor) else set()


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _dropped(function: Function, place: Place, statement: ast.stmt, known: set[str]) -> Iterator[Edit]:
    operator = ""
    match statement:
        case ast.Raise():
            operator = "raise-dropped"
        case ast.Continue() | ast.Break():
            operator = "jump-dropped"
        case ast.Return() if place.parent != 0:
            operator = "return-dropped"
        case ast.Expr(value=value) if not isinstance(value, ast.Yield):
            operator = "statement-dropped"
        case ast.AugAssign():
            operator = "statement-dropped"
        case ast.Delete(targets=targets) if not all(isinstance(one, ast.Name) for one in targets):
            operator = "statement-dropped"
        case ast.Assign() | ast.AnnAssign() if _may_drop(function, statement, known):
            operator = "statement-dropped"
    if operator and not is_remark(statement):
        yield Edit(operator, statement.lineno, splicing(place, 1, lambda _old: []))


def _may_drop(function: Function, statement: ast.Assign | ast.AnnAssign, known: set[str]) -> bool:
    """Not what a constructor sets first, nor a local name that has no value yet: that only crashes."""
    if function.name == "__init__" or statement.value is None:
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return all(not isinstance(one, ast.Name | ast.Tuple) or bound_names(one) <= known for one in targets)


def _opened(place: Place, statement: ast.stmt) -> Iterator[Edit]:
    """The body of a compound statement without what protects it."""
    line = statement.lineno
    match statement:
        case ast.With(items=items) | ast.AsyncWith(items=items):
            if all(item.optional_vars is None for item in items):
                yield Edit("lock-dropped", line, splicing(place, 1, _body))
            if isinstance(statement, ast.AsyncWith):
                yield from _read_before_entry(place, statement)
        case ast.Try(handlers=handlers, finalbody=final):
            for number, handler in enumerate(handlers):
                name = f"handler{number + 1}"
                yield Edit(f"{name}-dropped", line, splicing(place, 1, partial(_without_handler, number)))
                if not (isinstance(handler.type, ast.Name) and handler.type.id == "Exception"):
                    yield Edit(
                        f"{name}-widened", line, splicing(place, 1, partial(_with_wide_handler, number))
                    )
            if final:
                yield Edit("finally-dropped", line, splicing(place, 1, _without_finally))


def _body(old: Block) -> Block:
    body: Block = old[0].body  # type: ignore[attr-defined]  # only called for statements that have one
    return body


def _without_handler(number: int, old: Block) -> Block:
    attempt = cast("ast.Try", old[0])
    del attempt.handlers[number]
    if not attempt.handlers and not attempt.finalbody:
        return [*attempt.body, *attempt.orelse]
    if not attempt.handlers:
        attempt.body = [*attempt.body, *attempt.orelse]
        attempt.orelse = []
    return [attempt]


def _with_wide_handler(number: int, old: Block) -> Block:
    attempt = cast("ast.Try", old[0])
    handler = attempt.handlers[number]
    handler.type = ast.copy_location(ast.Name("Exception", ast.Load()), handler.type or handler)
    return [attempt]


def _without_finally(old: Block) -> Block:
    """What was to be done in any case is done only after success."""
    attempt = cast("ast.Try", old[0])
    final, attempt.finalbody = attempt.finalbody, []
    if not attempt.handlers:
        return [*attempt.body, *final]
    return [attempt, *final]


def _swapped(function: Function, place: Place, one: ast.stmt, two: ast.stmt) -> Iterator[Edit]:
    """Two neighbours in the other order; not where the second needs the first, or neither does anything."""
    if function.name == "__init__" or not (isinstance(one, _SIMPLE) and isinstance(two, _SIMPLE)):
        return
    if _is_text(two) or is_remark(one) or is_remark(two) or bound_names(one) & read_names(two):
        return
    if _is_seen(one) and _is_seen(two):
        # Those that cannot matter keep their number, so that the names of the others do not depend on them.
        make = itemgetter(1, 0) if _depend(one, two) else list
        yield Edit("swapped", one.lineno, splicing(place, 2, make))


def _depend(one: ast.stmt, two: ast.stmt) -> bool:
    """Can their order matter? One of them waits, or one reads or changes what the other changes."""
    if has_await(one) or has_await(two):
        return True
    first, second = _touched(one), _touched(two)
    return any(_overlap(a, b) for a in first[1] for b in (*second[0], *second[1])) or any(
        _overlap(a, b) for a in second[1] for b in first[0]
    )


def _touched(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """What a statement reads, and what it may change, as dotted names. What a call gets it may change."""
    reads, writes = set[str](), set[str]()
    inner = {id(node.value) for node in ast.walk(statement) if isinstance(node, ast.Attribute)}
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in inner:
            (reads if isinstance(node.ctx, ast.Load) else writes).add(ast.unparse(node))
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            writes.add(ast.unparse(node.value))
        elif isinstance(node, ast.Call):
            owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            given = [*owner, *node.args, *(one.value for one in node.keywords)]
            writes.update(ast.unparse(one) for one in given if isinstance(one, ast.Attribute | ast.Name))
    return reads, writes


def _overlap(one: str, two: str) -> bool:
    return f"{one}.".startswith(f"{two}.") or f"{two}.".startswith(f"{one}.")


def _is_seen(statement: ast.stmt) -> bool:
    """It does more than to give a local name a value."""
    return any(
        isinstance(inner, ast.Call | ast.Await | ast.Delete)
        or (isinstance(inner, ast.Attribute | ast.Subscript) and not isinstance(inner.ctx, ast.Load))
        for inner in ast.walk(statement)
    )


def _read_early(place: Place, one: ast.stmt, two: ast.stmt) -> Iterator[Edit]:
    """What the second statement reads is read before the first one, which waits."""
    if not (isinstance(one, _SIMPLE) and has_await(one)):
        return
    if _can_be_early(two) and not bound_names(one) & read_names(_main(two) or two):
        yield Edit("stale-read", one.lineno, splicing(place, 2, _early_of_two))


def _early_of_two(old: Block) -> Block:
    early, changed = _early(old[1])
    return [early, old[0], changed]


def _read_before_entry(place: Place, section: ast.AsyncWith) -> Iterator[Edit]:
    """What the section reads first is read before it is entered."""
    names = {name for item in section.items if item.optional_vars for name in bound_names(item.optional_vars)}
    first = section.body[0]
    if not _can_be_early(first) or names & read_names(_main(first) or first):
        return

    def make(old: Block) -> Block:
        entered = cast("ast.AsyncWith", old[0])
        early, entered.body[0] = _early(entered.body[0])
        return [early, entered]

    yield Edit("stale-read", section.lineno, splicing(place, 1, make))


def _main(statement: ast.stmt) -> ast.expr | None:
    """The expression that a statement evaluates first."""
    match statement:
        case ast.If(test=test):
            return test
        case ast.Assign(value=value) | ast.AnnAssign(value=value) | ast.Return(value=value):
            return value
        case ast.AugAssign(target=ast.Attribute() as target):
            return target
    return None


def _can_be_early(statement: ast.stmt) -> bool:
    """It reads more than local names, in one step."""
    expression = _main(statement)
    if expression is None or has_await(expression):
        return False
    return any(
        isinstance(inner, ast.Subscript) or (isinstance(inner, ast.Attribute) and not _is_constant(inner))
        for inner in ast.walk(expression)
    )


def _is_constant(node: ast.Attribute) -> bool:
    """A member of a class, by the spelling of the class."""
    return isinstance(node.value, ast.Name) and node.value.id[:1].isupper()


def _early(statement: ast.stmt) -> tuple[ast.stmt, ast.stmt]:
    """The assignment of the early read, and the statement that uses it."""
    value = _main(statement)
    assert value is not None
    kept = ast.Name(_STALE, ast.Load())
    match statement:
        case ast.If():
            statement.test = kept
        case ast.Assign() | ast.AnnAssign() | ast.Return():
            statement.value = kept
        case ast.AugAssign(target=ast.Attribute() as target, op=operator, value=added):
            value = ast.Attribute(target.value, target.attr, ast.Load())
            changed = ast.Assign([target], ast.BinOp(kept, operator, added))
            statement = ast.copy_location(changed, statement)
    early = ast.Assign([ast.Name(_STALE, ast.Store())], value)
    return ast.copy_location(early, statement), statement
