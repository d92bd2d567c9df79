"""Rules for the text of the implementation: edges stay at the edges, nothing hangs on the order of a set."""

import ast
from pathlib import Path

import pytest

import impl

ROOT = Path(impl.__file__).parent
CORE = sorted(
    file
    for file in ROOT.rglob("*.py")
    if not {"storage", "system", "demo"} & set(file.relative_to(ROOT).parts)
)
BANNED_MODULES = {
    "time",
    "datetime",
    "random",
    "secrets",
    "uuid",
    "os",
    "pathlib",
    "threading",
    "socket",
    "sqlite3",
}
HIGHER_ROOMS = {"spec", "models", "checks", "tests", "pyspark", "z3"}
SET_RETURNING = {"wait", "as_completed", "all_tasks", "to_thread", "run_in_executor"}


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]


def breaches(source):
    tree = ast.parse(source)
    found = [f"imports {name}" for name in imported(tree) if name in BANNED_MODULES | HIGHER_ROOMS]
    for node in ast.walk(tree):
        if isinstance(node, (ast.Set, ast.SetComp)):
            found.append(f"builds a set in line {node.lineno}")
        if isinstance(node, ast.Global):
            found.append(f"has a global in line {node.lineno}")
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in {"set", "frozenset", "open", "id"} and isinstance(node.func, ast.Name):
                found.append(f"calls {name} in line {node.lineno}")
            if name in SET_RETURNING and ast.unparse(node.func).startswith(("asyncio.", "loop.")):
                found.append(f"calls {name} in line {node.lineno}")
    return found


@pytest.mark.parametrize("file", CORE, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_the_core_keeps_to_its_ports(file):
    assert breaches(file.read_text()) == []


@pytest.mark.parametrize(
    "file", sorted(ROOT.rglob("*.py")), ids=lambda file: file.relative_to(ROOT).as_posix()
)
def test_no_file_knows_of_specifications_or_checkers(file):
    assert HIGHER_ROOMS.isdisjoint(imported(ast.parse(file.read_text())))


@pytest.mark.parametrize(
    "text",
    [
        "import time",
        "from random import Random",
        "import spec.flush",
        "x = {1, 2}",
        "x = open('a')",
        "asyncio.wait([])",
    ],
)
def test_the_rules_find_breaches(text):
    assert breaches(text)


def test_the_core_is_not_empty():
    assert len(CORE) > 15
