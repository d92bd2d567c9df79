"""Mutants made by rule from the source of a module as it is now.

A mutant's id is ``file:function/operator@ordinal``: the file below its root, the qualified name, the kind of
mistake, and its number among those of that kind in the function, from 1. Edits elsewhere do not change it.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tidemark.models.mutation.source.blocks import statement_edits
from tidemark.models.mutation.source.edits import Edit, Function
from tidemark.models.mutation.source.expressions import expression_edits


@dataclass(frozen=True)
class SourceMutant:
    """One function made wrong. ``file``: below the root. ``line``: which statement must run to make a
    difference. ``before``, ``after``: what differs, as text.
    """

    id: str
    file: str
    function: str
    operator: str
    line: int
    before: str
    after: str
    changed: Function

    def __str__(self) -> str:
        return f"{self.id} (line {self.line}): {self.before}  ->  {self.after}"


def folder_of(package: str) -> Path:
    """Where the files of a package are. Raises ModuleNotFoundError."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError(f"there is no package {package!r}", name=package)
    return Path(next(iter(found.submodule_search_locations)))


def parsed(root: Path, file: str) -> ast.Module:
    """The tree of a file below the root. Raises OSError and SyntaxError."""
    return ast.parse((root / file).read_text(encoding="utf-8"))


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Functions and methods with their qualified names. Nested ones belong to the function around them;
    what has no body of its own (protocols, abstract methods) is left out.
    """
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        prefix, parent = pending.pop(0)
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.ClassDef):
                pending.append((f"{prefix}{node.name}.", node))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _has_body(node):
                yield f"{prefix}{node.name}", node


def _has_body(function: Function) -> bool:
    return any(
        not isinstance(statement, ast.Pass)
        and not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in function.body
    )


@cache
def mutants_of(root: Path, file: str) -> tuple[SourceMutant, ...]:
    """All mutants of a file, in a fixed order; of several with the same effect only the first."""
    related = siblings_of(root)
    return tuple(
        mutant
        for name, function in functions(parsed(root, file))
        for mutant in _mutants(file, name, function, related)
    )


def mutant_of(root: Path, mutant_id: str) -> SourceMutant:
    """The mutant of that id. Raises KeyError."""
    for mutant in mutants_of(root, mutant_id.partition(":")[0]):
        if mutant.id == mutant_id:
            return mutant
    raise KeyError(mutant_id)


def _mutants(file: str, name: str, function: Function, related: Mapping[str, str]) -> Iterator[SourceMutant]:
    original = ast.unparse(function)
    seen, ordinals = {original}, Counter[str]()
    for edit in (*expression_edits(function, related), *statement_edits(function)):
        ordinals[edit.operator] += 1
        changed = edit.applied(function)
        text = ast.unparse(changed)
        if text in seen:
            continue
        seen.add(text)
        yield _mutant(
            f"{file}:{name}/{edit.operator}@{ordinals[edit.operator]}", edit, changed, original, text
        )


def _mutant(mutant_id: str, edit: Edit, changed: Function, original: str, text: str) -> SourceMutant:
    place, _, rest = mutant_id.partition(":")
    before, after = _difference(original.splitlines(), text.splitlines())
    function = rest.partition("/")[0]
    return SourceMutant(mutant_id, place, function, edit.operator, edit.line, before, after, changed)


def _difference(old: list[str], new: list[str]) -> tuple[str, str]:
    """What is between the common beginning and the common end, in one line each."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    shown = (lines[start : len(lines) - end] for lines in (old, new))
    first, second = (" ; ".join(line.strip() for line in lines) or "(nothing)" for lines in shown)
    return first, second


@cache
def siblings_of(root: Path) -> dict[str, str]:
    """Field -> another field of the same type, for fields that have one in every class that declares them."""
    found: dict[str, list[list[str]]] = {}
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                for name, others in _fields(node).items():
                    found.setdefault(name, []).append(others)
    related = {}
    for name, groups in found.items():
        common = [other for other in groups[0] if all(other in group for group in groups)]
        if common:
            related[name] = common[0]
    return related


def _fields(node: ast.ClassDef) -> dict[str, list[str]]:
    """By declared field (of the class, or of ``self`` in a method) the others with its annotation."""
    types: dict[str, str] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.AnnAssign):
            target = inner.target
            if isinstance(target, ast.Name) and inner in node.body:
                types[target.id] = ast.unparse(inner.annotation)
            elif isinstance(target, ast.Attribute):
                types[target.attr] = ast.unparse(inner.annotation)
    names = list(types)
    return {
        name: [other for other in (*names[place + 1 :], *names[:place]) if types[other] == types[name]]
        for place, name in enumerate(names)
    }
