"""``python -m tidemark.bench.size``: lines by room and by protocol, and what binds a protocol to the judges.

A *code line* is no blank line, comment, docstring or import. The *binding* of a protocol is what is
written by hand in ``models/protocols/<protocol>``: Python and TOML, not the locks.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tidemark.models.rooms import ROOT

ROOMS = ("spec", "impl", "models", "models/protocols", "checks", "bench", "tests")
_PYTHON, _DATA, _LOCK = ".py", ".toml", ".lock"
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """Lines of some files.

    Attributes:
        files: how many files.
        python: lines of Python.
        code: those that are no blank line, comment, docstring or import.
        data: lines of TOML.
        locks: lines of locks.
    """

    files: int = 0
    python: int = 0
    code: int = 0
    data: int = 0
    locks: int = 0

    @property
    def by_hand(self) -> int:
        """Lines that somebody writes."""
        return self.python + self.data

    @property
    def lines(self) -> int:
        """All lines."""
        return self.by_hand + self.locks

    def __add__(self, other: Size) -> Size:
        return Size(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class ProtocolSize:
    """What belongs to one protocol.

    Attributes:
        name: of its folders.
        spec: its specification.
        binding: what binds it to the judges.
        kinds: of file in its room: a folder or a file at the top is one, all locks are one.
        to_read: how many files somebody reads who changes it: specification and binding without locks.
    """

    name: str
    spec: Size
    binding: Size
    kinds: int
    to_read: int

    @property
    def ratio(self) -> float:
        """Lines of the binding that are written by hand for each line of the specification."""
        return self.binding.by_hand / self.spec.python


def size_of(paths: Iterable[Path]) -> Size:
    """The lines of some files. Other files than Python, TOML and locks do not count."""
    return sum((_size(path) for path in paths), Size())


@cache
def _size(path: Path) -> Size:
    if path.suffix not in (_PYTHON, _DATA, _LOCK):
        return Size()
    text = path.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    match path.suffix:
        case ".py":
            return Size(files=1, python=lines, code=code_lines(text))
        case ".toml":
            return Size(files=1, data=lines)
    return Size(files=1, locks=lines)


def code_lines(text: str) -> int:
    """Lines of a Python text that are no blank line, comment, docstring or import."""
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_docstring(node):
            assert isinstance(node, ast.stmt)
            found.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(found)


def _is_docstring(node: ast.AST) -> bool:
    """A text that stands by itself: docstrings of modules, classes, functions and attributes."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def rooms(root: Path = ROOT) -> dict[str, Size]:
    """The size of each room; ``models`` is without ``models/protocols``."""
    found = {room: size_of(sorted((root / room).rglob("*"))) for room in ROOMS}
    inner = found["models/protocols"]
    minus = Size(*(-getattr(inner, name) for name in inner.__dataclass_fields__))
    return found | {"models": found["models"] + minus}


def protocols(root: Path = ROOT) -> list[ProtocolSize]:
    """The protocols that have a specification, the one with the longest first."""
    found = []
    for spec in root.glob("spec/*/actions.py"):
        room = root / "models" / "protocols" / spec.parent.name
        own, bound = sorted(spec.parent.rglob("*.py")), sorted(room.rglob("*"))
        by_hand = [path for path in bound if path.suffix in (_PYTHON, _DATA)]
        kinds = {path.relative_to(room).parts[0].partition(".")[0] for path in by_hand}
        kinds |= {_LOCK} if any(path.suffix == _LOCK for path in bound) else set()
        to_read = [path for path in (*own, *by_hand) if path.read_text(encoding="utf-8").strip()]
        found.append(
            ProtocolSize(
                spec.parent.name, size_of(own), size_of(bound), len(kinds - {"__init__"}), len(to_read)
            )
        )
    return sorted(found, key=lambda one: -one.spec.python)


def ratio_of_all(root: Path = ROOT) -> float:
    """Hand-written lines of ``models/protocols`` for each line of specification, the language left out."""
    by_room = rooms(root)
    language = size_of((root / "spec" / "language").rglob("*"))
    return by_room["models/protocols"].by_hand / (by_room["spec"].python - language.python)


def main() -> None:
    """Print both tables."""
    console = Console(width=120)
    by_room = rooms()
    table = Table("room", *(["files", "Python", "code", "data", "locks", "lines"]), box=None)
    for name, size in [*by_room.items(), ("all", sum(by_room.values(), Size()))]:
        counts = (size.files, size.python, size.code, size.data, size.locks, size.lines)
        table.add_row(name, *(f"{count:,}" for count in counts))
    console.print(table)
    heads = (
        "protocol",
        "spec",
        "Python",
        "data",
        "locks",
        "by hand / spec",
        "kinds of file",
        "files to read",
    )
    table = Table(*heads, box=None)
    for one in protocols():
        parts = (one.spec.python, one.binding.python, one.binding.data, one.binding.locks)
        shown = [f"{count:,}" for count in parts]
        table.add_row(one.name, *shown, f"{one.ratio:.1f}", str(one.kinds), str(one.to_read))
    console.print()
    console.print(table)
    console.print(f"\nhand-written binding / specification, over all: {ratio_of_all():.1f}")


if __name__ == "__main__":
    main()
