"""Which other files a Python file can load, by reading it.

Statements count wherever they stand: an import inside a function is executed sooner or later. Only what
is under ``if TYPE_CHECKING`` never is. Modules named as text (``"package.module:Name"``, a module for
``python -m``) count as imported by the file that holds the text, whatever loads them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tidemark.models.rooms import PACKAGE

_REFERENCE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?::[A-Za-z_][\w.]*)?")
_OWN = re.compile(rf"(?<![\w.]){PACKAGE}((?:\.[A-Za-z_]\w*)+)(\.?)|(?<![\w.]){PACKAGE}\.(?![A-Za-z_])")

_LOADERS = frozenset({"import_module", "__import__", "find_spec"})
"""Functions that take the name of a module. The name must be followed to where it is written."""

_UNFOLLOWED = frozenset(
    {"pkgutil", "runpy", "zipimport", "spec_from_file_location", "SourceFileLoader", "walk_packages"}
)
"""What loads code by a path or by listing folders: its use makes a file opaque."""


@dataclass(frozen=True, kw_only=True)
class Mentions:
    """The modules that a file may load.

    Attributes:
        imports: dotted names of import statements; for ``from a import b`` both ``a`` and ``a.b``.
        texts: dotted names in text constants, with ``:Name`` where that is said; most are not names of
            modules.
        prefixes: beginnings of names that the file completes while it runs, for example ``tidemark.models.``.
        opaque: the file finds code in a way that cannot be followed by reading.
    """

    imports: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    opaque: bool = False


def mentions(text: str | bytes, *, module: str, is_package: bool) -> Mentions:
    """What the source ``text`` of ``module`` mentions. A file that does not parse is opaque."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return Mentions(opaque=True)
    imports: set[str] = set()
    texts: set[str] = set()
    prefixes: set[str] = set()
    opaque = False
    for node in _executed(tree):
        match node:
            case ast.Import(names=names):
                imports.update(name.name for name in names)
            case ast.ImportFrom():
                imports.update(_from(node, module=module, is_package=is_package))
            case ast.Constant(value=str(value)):
                texts.update(_references(value))
                prefixes.update(_prefixes(value))
            case ast.Call():
                imports.update(_loaded(node))
                opaque |= _loads_composed_name(node)
        opaque |= _unfollowed(node)
    return Mentions(
        imports=frozenset(imports), texts=frozenset(texts), prefixes=frozenset(prefixes), opaque=opaque
    )


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that can mention something, but docstrings and what only a type checker reads."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, _TOLD):
            yield node
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        for name in node._fields:
            value = getattr(node, name, None)
            for child in value if isinstance(value, list) else (value,):
                if not isinstance(child, ast.AST) or isinstance(child, _SILENT):
                    continue
                if child is first and isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                    continue
                if isinstance(child, ast.If) and _is_type_checking(child.test):
                    pending.extend(child.orelse)
                    continue
                pending.append(child)


_TOLD = (ast.Import, ast.ImportFrom, ast.Constant, ast.Call, ast.Attribute)
"""What is looked at."""

_SILENT = (ast.Name, ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
"""What has no such node below it."""


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def _from(node: ast.ImportFrom, *, module: str, is_package: bool) -> Iterator[str]:
    base = node.module or ""
    if node.level:
        parts = module.split(".")
        up = node.level - 1 if is_package else node.level
        kept = parts[: len(parts) - up]
        base = ".".join([*kept, base] if base else kept)
    yield base
    yield from (f"{base}.{name.name}" for name in node.names if name.name != "*")


def _references(value: str) -> Iterator[str]:
    """A text that is a dotted name, with or without ``:Name``; and names of ours inside a longer text."""
    if value != PACKAGE and _REFERENCE.fullmatch(value):
        yield value
        return
    for found in _OWN.finditer(value):
        if found.group(1):
            yield PACKAGE + found.group(1)


def _prefixes(value: str) -> Iterator[str]:
    """``tidemark.models.`` before something that is filled in."""
    for found in _OWN.finditer(value):
        if found.group(1) is None or (found.group(2) and not value[found.end() :].startswith((" ", "\n"))):
            yield f"{PACKAGE}{found.group(1) or ''}."


def _is_loader(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in _LOADERS and bool(call.args)


def _loaded(call: ast.Call) -> Iterator[str]:
    """The module of ``import_module("a.b")``."""
    if _is_loader(call) and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str):
        yield call.args[0].value


def _loads_composed_name(call: ast.Call) -> bool:
    """A module is loaded whose name is put together in the call, with a beginning that is not plain text."""
    if not _is_loader(call):
        return False
    match call.args[0]:
        case ast.Constant() | ast.Name() | ast.Attribute() | ast.Subscript():
            return False
        case ast.JoinedStr(values=[ast.Constant(value=str(first)), *_]):
            return "." not in first
        case ast.BinOp(left=ast.Constant(value=str(first))):
            return "." not in first
        case _:
            return True


def _unfollowed(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(name.name in _UNFOLLOWED for name in names)
        case ast.ImportFrom(module=base, names=names):
            return base in _UNFOLLOWED or any(name.name in _UNFOLLOWED for name in names)
        case ast.Attribute(attr=name):
            return name in _UNFOLLOWED
        case _:
            return False
