"""A protocol made smaller while it still shows a disagreement: parts of its text are left out one by one."""

import ast
import copy
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tests.models.drawn.text import Drawn
from tidemark.spec.language.types import NumberType, SortType


def smaller(text: str) -> Iterator[str]:
    """The text without one statement, or with an expression replaced by a part of it; large parts first."""
    tree = ast.parse(text)
    places = [(at, name, item) for at in ast.walk(tree) for name, item in ast.iter_fields(at)]
    for at, name, item in places:
        if isinstance(item, list):
            for number in range(len(item)):
                if not isinstance(item[number], ast.stmt | ast.expr | ast.arg | ast.alias):
                    continue
                setattr(at, name, item[:number] + item[number + 1 :])
                yield from _written(tree)
                for part in _parts(item[number]):
                    setattr(at, name, [*item[:number], part, *item[number + 1 :]])
                    yield from _written(tree)
            setattr(at, name, item)
        elif isinstance(item, ast.expr):
            for part in _parts(item):
                setattr(at, name, part)
                yield from _written(tree)
            setattr(at, name, item)


def _parts(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.expr):
        yield from (copy.deepcopy(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
        if isinstance(node, ast.Lambda):
            yield node.body


def _written(tree: ast.Module) -> Iterator[str]:
    try:
        yield ast.unparse(ast.fix_missing_locations(tree))
    except (ValueError, IndexError, AttributeError):  # no such text
        return


def rewritten(drawn: Drawn, text: str) -> Drawn:
    """The same bounds and constants as far as the text has them. Raises what the text raises."""
    found = replace(drawn, text=text, bounds={}, constants={})
    spec = found.traced()
    types = {kind.name for kind in spec.types if isinstance(kind, SortType | NumberType)}
    names = {variable.name for variable in spec.constants}

    def kept(values: Any, known: set[str]) -> Any:
        return {name: value for name, value in values.items() if name in known}

    return replace(found, bounds=kept(drawn.bounds, types), constants=kept(drawn.constants, names))


def reduced(drawn: Drawn, differs: Callable[[Drawn], bool], *, tries: int = 2000) -> Drawn:
    """A smaller protocol of which ``differs`` still holds, after at most so many tries."""
    at, progress = 0, True
    while progress or at:
        at, progress = (at if progress else 0), False
        for number, text in enumerate(smaller(drawn.text)):
            if number < at or len(text) >= len(drawn.text):
                continue
            if (tries := tries - 1) < 0:
                return drawn
            with suppress(Exception):  # a text that says nothing is no protocol
                found = rewritten(drawn, text)
                if differs(found):
                    drawn, at, progress = found, number, True
                    break
    return drawn
