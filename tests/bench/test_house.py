"""Nothing depends on the benchmarks, and every measure can be chosen by a name of its own."""

from __future__ import annotations

import re

from tidemark.bench.cli import MEASURES
from tidemark.bench.instances import GROWTH, subject
from tidemark.bench.measures.search import LARGE
from tidemark.bench.measures.spin import SIZES
from tidemark.models.rooms import ROOT

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
