"""What unit tests say of a mutant: tried in a process, and nothing without a green run of the real code."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tidemark.checks.mutation.implementation.command import Chosen, by_tests, own_tests_of
from tidemark.checks.mutation.implementation.fate import Fate, Trial
from tidemark.checks.mutation.implementation.table import measured_text, table_text
from tidemark.checks.mutation.implementation.trial import FAILING
from tidemark.checks.mutation.implementation.unit import Noticed, noticed
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.rooms import ROOT

PACKAGE = "tidemark.impl"
LEAST = "proxy/statistics.py:ScanStatistics.least/min-to-max@1"
TEST = """
from tidemark.impl.proxy.statistics import ScanStatistics

def test_least():
    found = ScanStatistics()
    for ts in (3, 2):
        found.commit(["x"], ts, ts)
    assert found.snapshot()["x"].min_ts == 2
"""


SETTINGS = "[pytest]\naddopts = --strict-config\ncache_dir = cached\nfilterwarnings = error\n"


def test_unit_tests_fail_or_say_nothing(tmp_path: Path):
    (tmp_path / "pytest.ini").write_text(SETTINGS, encoding="utf-8")
    path = tmp_path / "test_statistics.py"
    path.write_text(TEST, encoding="utf-8")
    assert list(noticed([LEAST, FAILING], package=PACKAGE, tests=[path])) == [
        Noticed(LEAST, known=True, failed=True),
        Noticed(FAILING, known=False, failed=False),
    ]


def test_tests_that_fail_by_themselves_say_nothing(tmp_path: Path):
    path = tmp_path / "test_wrong.py"
    path.write_text("def test_wrong():\n    assert False\n", encoding="utf-8")
    with pytest.raises(BadInputError, match="fail without any mutant"):
        list(noticed([LEAST], package=PACKAGE, tests=[path]))


def test_the_table_has_a_column_for_them():
    trials = [
        Trial(id="a.py:f/x@1", fate=Fate.SURVIVED),
        Trial(id="a.py:f/x@2", fate=Fate.KILLED, host="h", claim="c"),
    ]
    assert "only by unit tests" not in table_text(trials, ())
    head, _, row = table_text(trials, (), {"a.py:f/x@1"}).splitlines()
    assert head.endswith("| only by unit tests |")
    assert row.endswith("| 50.0% | 1 |")
    head, _, row = table_text(trials, (), {"a.py:f/x@1"}, judges={"h": "conform"}).splitlines()
    assert head.endswith("| killed by | only by unit tests |")
    assert row.endswith("| 50.0% | conform 1 | 1 |")


def test_the_tests_of_a_room_are_those_of_its_mutants(tmp_path: Path):
    chosen = Chosen(entry="", only="", listed=False, last=True, build=tmp_path, jobs=1, own_tests=True)
    found = by_tests([LEAST, "tso/oracle.py:f/x@1", "proxy/ticker.py:f/x@1"], chosen)
    assert {tests[0].name: mutants for tests, mutants in found.items()} == {
        "proxy": [LEAST, "proxy/ticker.py:f/x@1"],
        "tso": ["tso/oracle.py:f/x@1"],
    }
    with pytest.raises(BadInputError, match="there are no unit tests"):
        by_tests(["nowhere/a.py:f/x@1"], chosen)


def test_what_was_measured_is_what_the_manifest_may_say():
    trials = [
        Trial(id="a.py:f/x@1", fate=Fate.SURVIVED),
        Trial(id="a.py:f/x@2", fate=Fate.KILLED, host="h", claim="c", seconds=0.5),
        Trial(id="a.py:f/x@3", fate=Fate.KILLED, host="g", claim="c", seconds=2.0),
        Trial(id="a.py:f/x@4", fate=Fate.KILLED, host="h", claim="c", seconds=1.0),
    ]
    text = measured_text("a-places", trials, {"a.py:f/x@1"}, {"h": "interleave", "g": "conform"})
    name, _, line = text.partition(": ")
    assert name == "a-places"
    assert tomllib.loads(line)["measured"] == {
        "judges": {"interleave": 2, "conform": 1},
        "unit": 1,
        "median": 1.0,
        "longest": 2.0,
    }


def test_what_lies_under_all_rooms_is_tried_with_all_tests():
    assert own_tests_of("rpc.py:Calls.call/swapped@1") == ROOT / "tests" / "impl"
    assert own_tests_of(LEAST) == ROOT / "tests" / "impl" / "proxy"
