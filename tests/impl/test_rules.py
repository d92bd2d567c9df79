"""Rules for the text of the implementation: edges stay at the edges, nothing hangs on the order of a set."""

import ast

import pytest

from tidemark.models import rooms

ROOT = rooms.ROOT / "impl"
EDGES = {"storage", "system", "broker", "client", "cluster"}
"""Rooms of real files, clocks, sockets and processes."""
CORE = sorted(file for file in ROOT.rglob("*.py") if not EDGES & set(file.relative_to(ROOT).parts))
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
HIGHER_ROOMS = {"tidemark.spec", "tidemark.models", "tidemark.checks", "tests", "pyspark", "z3"}
SET_RETURNING = {"wait", "as_completed", "all_tasks", "to_thread", "run_in_executor"}


def room_of(module):
    """The package at the top of a module's name; of ours the room too."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "tidemark" else parts[0]


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (room_of(name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield room_of(node.module or "")


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
        "import tidemark.spec.flush",
        "x = {1, 2}",
        "x = open('a')",
        "asyncio.wait([])",
    ],
)
def test_the_rules_find_breaches(text):
    assert breaches(text)


def test_the_core_is_not_empty():
    assert len(CORE) > 15
