"""The rules of the house: where code is, what may import what, how long things are, how they are written."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

from tidemark.models.rooms import ROOT

ROOMS = ("spec", "impl", "models", "checks", "bench")
MAY_IMPORT = {
    "spec": {"spec"},
    "impl": {"impl"},
    "models": {"spec", "impl", "models"},
    "checks": {"spec", "impl", "models", "checks"},
    "bench": {"spec", "impl", "models", "checks", "bench"},
}
LINES_OF_A_FILE = 600
LINES_OF_A_FUNCTION = 70
PROTOCOLS = sorted(folder.name for folder in (ROOT / "spec").iterdir() if (folder / "actions.py").exists())
NO_PROTOCOL = [
    "models/interpreted", "models/native", "models/symbolic", "models/simulation", "models/conformance",
    "models/refinement", "models/exports", "models/lemmas", "models/manifest", "models/mutation",
    "models/composition",
]  # fmt: skip
"""Rooms of a technique: they work for any protocol and name none."""

SECTIONS = re.compile(r"^\s*(Parameters|Yields?|Example|Errors|Note|See Also):?\s*$", re.MULTILINE)
ROLE = re.compile(r":(class|func|meth|mod|data|attr):`")
SINGLE_BACKTICKS = re.compile(r"(?<!`)`[^`\n]+`(?!`)")


@cache
def parsed(path: Path) -> ast.Module:
    """The tree of a file, made once for all rules."""
    return ast.parse(path.read_text(encoding="utf-8"))


def sources(*rooms: str) -> list[Path]:
    """The Python files of some rooms."""
    return sorted(path for room in rooms for path in (ROOT / room).rglob("*.py"))


def module(path: Path) -> str:
    """The name by which a file is imported."""
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    top = "" if name.startswith("tests") else "tidemark."
    return top + name.removesuffix(".__init__")


def imports(path: Path, known: set[str]) -> Iterator[str]:
    """The modules of ours that a file imports, wherever in it."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            # A relative import counts from the package of the file.
            above = module(path).split(".")[: -node.level] if node.level else []
            source = ".".join([*above, *(node.module or "").split(".")]).strip(".")
            for name in node.names:
                full = f"{source}.{name.name}"
                yield full if full in known else source


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Place and text of the docstrings of a file."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", text


@pytest.fixture(scope="module")
def graph() -> nx.DiGraph:
    """Who imports whom, file by file."""
    files = {module(path): path for path in sources(*ROOMS, "tests")}
    assert len(files) > 500
    found = nx.DiGraph()
    found.add_nodes_from(files)
    for name, path in files.items():
        found.add_edges_from((name, other) for other in imports(path, set(files)) if other in files)
    return found


def test_arrows_point_down(graph: nx.DiGraph) -> None:
    wrong = []
    for name, other in graph.edges:
        room, used = name.split(".")[1], other.split(".")[1]
        if name.startswith("tidemark.") and (other.startswith("tests") or used not in MAY_IMPORT[room]):
            wrong.append(f"{name} imports {other}")
    assert wrong == []


def test_only_the_one_name_is_imported() -> None:
    """``import spec`` works in a clone, and would be a second copy of the module."""
    known = set(ROOMS)
    wrong = [
        f"{path.relative_to(ROOT)}: {other}"
        for path in sources(*ROOMS, "tests")
        for other in imports(path, set())
        if other.split(".")[0] in known
    ]
    assert wrong == []


def test_no_circle_between_files(graph: nx.DiGraph) -> None:
    """The file of a package only hands names on, and is left out."""
    packages = {module(path) for path in sources(*ROOMS) if path.name == "__init__.py"}
    files = graph.subgraph(set(graph) - packages)
    assert [sorted(part) for part in nx.strongly_connected_components(files) if len(part) > 1] == []


@pytest.mark.parametrize("room", ["impl", "models", "models/protocols", "checks"])
def test_no_circle_between_folders(graph: nx.DiGraph, room: str) -> None:
    """Folders of a room import each other in one direction.

    A file beside them counts as a folder. Every import counts: inside a function, and for types alone.
    """
    above = "tidemark." + room.replace("/", ".") + "."
    folders = nx.DiGraph()
    for name, other in graph.edges:
        if name.startswith(above) and other.startswith(above):
            folder, used = (path.removeprefix(above).split(".")[0] for path in (name, other))
            if folder != used:
                folders.add_edge(folder, used, example=f"{name} imports {other}")
    circles = [part for part in nx.strongly_connected_components(folders) if len(part) > 1]
    assert len(folders) > 10
    assert [example for part in circles for *_, example in folders.subgraph(part).edges(data="example")] == []


def test_files_and_functions_are_short() -> None:
    long = []
    for path in sources(*ROOMS, "tests"):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > LINES_OF_A_FILE:
            long.append(str(path.relative_to(ROOT)))
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LINES_OF_A_FUNCTION:
                    long.append(f"{path.relative_to(ROOT)}:{node.name}")
    assert long == []


def test_rooms_of_a_technique_name_no_protocol() -> None:
    words = re.compile(rf"\b(spec|protocols)[./]({'|'.join(PROTOCOLS)})\b")
    assert len(PROTOCOLS) >= 5
    wrong = [
        str(path.relative_to(ROOT))
        for path in sources(*NO_PROTOCOL)
        if words.search(path.read_text(encoding="utf-8"))
    ]
    assert wrong == []


def test_docstrings_have_one_form() -> None:
    """Code in double backticks; no roles of a documentation generator; sections: Args, Returns, Raises,
    Attributes.
    """
    wrong = [
        place
        for path in sources(*ROOMS)
        for place, text in docstrings(path)
        if SECTIONS.search(text) or ROLE.search(text) or SINGLE_BACKTICKS.search(text)
    ]
    assert wrong == []


NAMED = re.compile(r"(?<=[\"' ])tidemark(?:\.\w+)+(?=[:\"' .])")


def test_no_file_is_without_use(graph: nx.DiGraph) -> None:
    """Each file is imported, or named where modules are named as text: manifests, commands, the project."""
    texts = [
        path for room in ROOMS for path in (ROOT / room).rglob("*") if path.suffix in (".py", ".toml", ".sh")
    ]
    files = [*texts, ROOT / "pyproject.toml"]
    named = {name for path in files for name in NAMED.findall(path.read_text(encoding="utf-8"))}
    unused = [
        name
        for name in graph
        if name.startswith("tidemark.")
        and not name.endswith("__main__")
        and graph.in_degree(name) == 0
        and name not in named
        and (ROOT / Path(*name.split(".")[1:]).with_suffix(".py")).exists()
    ]
    assert unused == []
