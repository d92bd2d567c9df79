"""The glossary: names of the sources have one row each, rows resolve, ``impl/`` names its counterparts."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

from tests.test_house import parsed, sources
from tidemark.models.rooms import ROOT

ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
MILVUS = re.compile(r"^Milvus: ([\w, \n]+?)(?:\n\n|\Z)", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))


def names_in(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """What a module or a class defines."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((target.id, node) for target in targets if isinstance(target, ast.Name))


def is_defined(room: str, file: str, name: str) -> bool:
    """A file of a room defines the name, or one of its classes does."""
    path = ROOT / room / file
    if not path.exists():
        return False
    outer = dict(names_in(parsed(path).body))
    classes = {
        key: dict(names_in(node.body)) for key, node in outer.items() if isinstance(node, ast.ClassDef)
    }
    owner, _, member = name.partition(".")
    if member:
        return member in classes.get(owner, {})
    return name in outer or any(name in members for members in classes.values())


@cache
def lines_of_impl() -> dict[str, str]:
    """By name of Milvus the class or function whose docstring has it."""
    found = [
        (name, f"{path.relative_to(ROOT / 'impl').as_posix()}:{node.name}")
        for path in sources("impl")
        for node in parsed(path).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for names in MILVUS.findall(ast.get_docstring(node) or "")
        for name in re.split(r",\s+", names)
    ]
    assert [name for name, times in Counter(name for name, _ in found).items() if times > 1] == []
    return dict(found)


def test_every_line_of_the_tables_is_a_row() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert text.count("\n| `") == len(ROWS) >= 135
    assert [name for name, times in Counter(row[0] for row in ROWS).items() if times > 1] == []


def test_every_row_resolves() -> None:
    wrong = []
    for name, _, spec, impl in ROWS:
        module, _, claim = spec.strip("`").partition(":")
        if not spec.startswith("none: ") and not is_defined("spec", module.replace(".", "/") + ".py", claim):
            wrong.append(f"{name}: {spec}")
        if not impl.startswith("none: ") and not is_defined("impl", *impl.strip("`").split(":")):
            wrong.append(f"{name}: {impl}")
    assert wrong == []


def test_counterparts_say_their_names() -> None:
    """A row names the class (or one of its methods) whose docstring has the name, and the reverse."""
    rows = {name: impl.strip("`").split(":") for name, _, _, impl in ROWS if not impl.startswith("none: ")}
    owners = {name: f"{file}:{owner.partition('.')[0]}" for name, (file, owner) in rows.items()}
    assert owners == lines_of_impl()
