"""What is read from the output of TLC and of Spin, and when it counts for nothing."""

import pytest

from tidemark.bench.instances import subject
from tidemark.bench.measures.spin import Pan, rounded, with_rounded_counts
from tidemark.bench.measures.spin import read as read_spin
from tidemark.bench.measures.tlc import Tlc
from tidemark.bench.measures.tlc import read as read_tlc
from tidemark.bench.sample import BrokenRun, NotMeasured, Sample

TLC = """
Progress(9) : 9,000 states generated, 800 distinct states found, 70 states left on queue.
Model checking completed. No error has been found.
88528 states generated, 16578 distinct states found, 0 states left on queue.
The depth of the complete state graph search is 25.
"""


def test_counts():
    assert read_tlc(TLC) == {"distinct": 16_578, "generated": 88_528}


@pytest.mark.parametrize(
    "output",
    [
        TLC.replace("No error has been found", "Error: Invariant Grows is violated."),
        TLC.replace(" 0 states left", " 12 states left"),
        "",
    ],
    ids=["violated", "cut", "nothing"],
)
def test_only_a_complete_search_without_a_violation_counts(output):
    with pytest.raises(BrokenRun, match="TLC has no complete search"):
        read_tlc(output)


@pytest.mark.parametrize(("named", "says"), [("", "TLC is missing"), ("no-such.jar", "is not a file")])
def test_without_its_jar_nothing_is_measured(tmp_path, monkeypatch, named, says):
    monkeypatch.setenv("TLA2TOOLS", named)
    monkeypatch.setattr("tidemark.checks.crosscheck.tlc.find_spec", lambda _name: None)
    with pytest.raises(NotMeasured, match=says):
        Tlc(subject("peers/tso-s"), tmp_path, workers=2).run()


SPIN = """
(Spin Version 6.5.2 -- 6 December 2019)
Full statespace search for:
State-vector 60 byte, depth reached 201, errors: 0
   868352 states, stored
  5313324 states, matched
1.1791445e+08 transitions (= stored+matched)
        0 atomic steps
Stats on memory usage (in Megabytes):
   66.250\tequivalent memory usage for states (stored*(State-vector + overhead))
   46.500\tactual memory usage for states (compression: 70.22%)
    8.000\tmemory used for hash table (-w20)
   53.406\tmemory used for DFS stack (-m1000000)
  107.813\ttotal actual memory usage
"""


def test_counts_and_memory():
    counts, values = read_spin(SPIN)
    assert counts == {"distinct": 868_352, "generated": 117_914_450}
    assert values["bytes_per_state"] == pytest.approx((46.5 + 8.0) * 2**20 / 868_352)


def test_our_counts_are_rounded_like_the_verifiers():
    assert rounded(117_914_446) == 117_914_450
    assert rounded(12_791_505) == 12_791_505
    ours = Sample(seconds=1.0, counts={"distinct": 868_352, "generated": 117_914_446, "depth": 3})
    assert with_rounded_counts(ours).counts == read_spin(SPIN)[0]


@pytest.mark.parametrize(
    "output",
    [
        SPIN.replace("errors: 0", "errors: 1"),
        SPIN + "error: max search depth too small\n",
        SPIN.replace("states, stored", ""),
        "",
    ],
    ids=["fault", "cut", "no counts", "nothing"],
)
def test_a_search_that_is_cut_or_finds_a_fault_is_broken(output):
    with pytest.raises(BrokenRun):
        read_spin(output)


def test_without_spin_nothing_is_measured(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotMeasured, match="spin and gcc is missing; install"):
        Pan(subject("peers/tso-s"), tmp_path / "pan").run()
