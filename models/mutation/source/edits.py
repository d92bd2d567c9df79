"""Edits of a function's syntax tree, made on a copy: a node by its number, or a piece of a block.

A node is known by its number in the order of ``ast.walk``, which is the same in every copy of the tree.
"""

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef
Block = list[ast.stmt]
BLOCKS = ("body", "orelse", "finalbody")
"""Fields of statements that hold statements. Handlers and cases are nodes with a ``body`` of their own."""


@dataclass(frozen=True)
class Edit:
    """One kind of mistake: ``make`` changes a fresh copy by its nodes. ``line``: where the statement begins
    that must run for the change to matter.
    """

    operator: str
    line: int
    make: Callable[[Sequence[ast.AST]], None]

    def applied(self, function: Function) -> Function:
        """A changed copy of the function."""
        changed = copy.deepcopy(function)
        self.make(list(ast.walk(changed)))
        return ast.fix_missing_locations(changed)


def replacing(number: int, make: Callable[[ast.expr], ast.expr]) -> Callable[[Sequence[ast.AST]], None]:
    """Replace an expression by what ``make`` builds of it."""

    def edit(nodes: Sequence[ast.AST]) -> None:
        old = nodes[number]
        assert isinstance(old, ast.expr)
        new = make(old)
        if new is not old:
            ast.copy_location(new, old)
            _put(nodes, old, new)

    return edit


def _put(nodes: Sequence[ast.AST], old: ast.AST, new: ast.AST) -> None:
    for parent in nodes:
        for field, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, field, new)
                return
            if isinstance(value, list):
                for place, item in enumerate(value):
                    if item is old:
                        value[place] = new
                        return
    raise AssertionError("the node is not in the tree")


@dataclass(frozen=True)
class Place:
    """A statement in its block: number of the parent node, field of the block, index within it."""

    parent: int
    field: str
    index: int

    def block(self, nodes: Sequence[ast.AST]) -> Block:
        """The block in a copy of the tree."""
        found: Block = getattr(nodes[self.parent], self.field)
        return found


def splicing(
    place: Place, length: int, make: Callable[[Block], Block]
) -> Callable[[Sequence[ast.AST]], None]:
    """Replace ``length`` statements from a place on by what ``make`` builds of them."""

    def edit(nodes: Sequence[ast.AST]) -> None:
        block = place.block(nodes)
        old = block[place.index : place.index + length]
        new = make(old) or [ast.copy_location(ast.Pass(), old[0])]
        for statement in new:
            if not hasattr(statement, "lineno"):
                ast.copy_location(statement, old[0])
        block[place.index : place.index + length] = new

    return edit


def statements(function: Function) -> Iterator[tuple[Place, ast.stmt]]:
    """All statements with their places. Nested functions belong to the outer one."""
    for number, node in enumerate(ast.walk(function)):
        for field in BLOCKS:
            block = getattr(node, field, None)
            if isinstance(block, list):
                for index, statement in enumerate(block):
                    if isinstance(statement, ast.stmt):
                        yield Place(number, field, index), statement


def has_await(node: ast.AST) -> bool:
    """Can the node be interrupted?"""
    kinds = (ast.Await, ast.AsyncWith, ast.AsyncFor, ast.Yield, ast.YieldFrom)
    return any(isinstance(inner, kinds) for inner in ast.walk(node))


def bound_names(node: ast.AST) -> set[str]:
    """Local names that the node assigns or deletes."""
    return {
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load)
    }


def read_names(node: ast.AST) -> set[str]:
    """Names that the node reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
