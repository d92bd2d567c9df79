"""What is read from TLC's output, and when it counts for nothing."""

from __future__ import annotations

import pytest

from tidemark.bench.instances import subject
from tidemark.bench.measures.tlc import Tlc, read
from tidemark.bench.sample import BrokenRun, NotMeasured

OUTPUT = """
Progress(9) : 9,000 states generated, 800 distinct states found, 70 states left on queue.
Model checking completed. No error has been found.
88528 states generated, 16578 distinct states found, 0 states left on queue.
The depth of the complete state graph search is 25.
"""


def test_counts():
    assert read(OUTPUT) == {"distinct": 16_578, "generated": 88_528}


@pytest.mark.parametrize(
    "output",
    [
        OUTPUT.replace("No error has been found", "Error: Invariant Grows is violated."),
        OUTPUT.replace(" 0 states left", " 12 states left"),
        "",
    ],
    ids=["violated", "cut", "nothing"],
)
def test_only_a_complete_search_without_a_violation_counts(output):
    with pytest.raises(BrokenRun, match="TLC has no complete search"):
        read(output)


@pytest.mark.parametrize(("named", "says"), [("", "TLC is missing"), ("no-such.jar", "is not a file")])
def test_without_its_jar_nothing_is_measured(tmp_path, monkeypatch, named, says):
    monkeypatch.setenv("TLA2TOOLS", named)
    monkeypatch.setattr("tidemark.checks.crosscheck.tlc.find_spec", lambda _name: None)
    with pytest.raises(NotMeasured, match=says):
        Tlc(subject("peers/tso-s"), tmp_path, workers=2).run()
