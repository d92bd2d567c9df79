"""The repository does not grow: what is counted, and the bounds that hold; the rules of the benchmarks."""

import re

from tidemark.bench.cli import MEASURES
from tidemark.bench.instances import GROWTH, subject
from tidemark.bench.measures.search import LARGE
from tidemark.bench.measures.spin import SIZES
from tidemark.bench.size import Size, code_lines, protocols, ratio_of_all, rooms
from tidemark.models.rooms import ROOT

BOUNDS = {"lines": 216_070, "code": 129_366, "data": 12_307, "locks": 2_698}
"""Of all rooms together. A change that makes something shorter lowers them."""

RATIO, RATIO_OF_ONE, KINDS, TO_READ = 2.5, 5.1, 7, 27

TEXT = '''"""A docstring
of two lines."""

import os
from a import (
    b,
)

VALUE = """not a docstring
but two lines"""
"""A docstring of an attribute."""


def name(x):  # a comment
    """Of a function."""
    # another comment
    return [
        x,
    ]
'''


def test_code_lines_are_no_blank_lines_comments_docstrings_or_imports() -> None:
    assert code_lines(TEXT) == 2 + 4


def test_sizes_add_up() -> None:
    one = Size(1, 2, 3, 4, 5)
    assert one + one == Size(2, 4, 6, 8, 10)
    assert (one.by_hand, one.lines) == (6, 11)


def test_all_rooms_together_are_within_their_bounds() -> None:
    whole = sum(rooms().values(), Size())
    assert {name: getattr(whole, name) for name in BOUNDS if getattr(whole, name) > BOUNDS[name]} == {}


def test_what_binds_the_protocols_to_the_judges_is_within_its_bounds() -> None:
    assert ratio_of_all() <= RATIO
    found = protocols()
    for one in found:
        assert one.ratio <= RATIO_OF_ONE, one
        assert one.kinds <= KINDS, one
        assert one.to_read <= TO_READ, one
    assert len(found) > 20


IMPORT = re.compile(r"^\s*(?:from|import) tidemark\.bench\b", re.MULTILINE)


def test_nothing_imports_bench():
    files = [path for room in ("spec", "impl", "models", "checks") for path in (ROOT / room).rglob("*.py")]
    assert len(files) > 100
    assert [path.name for path in files if IMPORT.search(path.read_text(encoding="utf-8"))] == []


def test_measures_have_names_of_their_own_and_stand_in_the_page():
    names = [measure.name for measure in MEASURES]
    assert len(set(names)) == len(names)
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert [name for name in names if f"| `{name}` |" not in page] == []


def test_every_instance_has_pinned_counts():
    references = [
        *LARGE,
        *SIZES,
        *(f"bench/{name}" for name in GROWTH),
        "flush/tiny",
        "flush/calm",
        "flush/moves",
    ]
    for reference in references:
        found = subject(reference)
        assert set(found.expected) == {"distinct", "generated", "depth"}
        assert found.instance.spec.actions
