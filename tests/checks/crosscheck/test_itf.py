"""A trace in ITF is read back to the same run, and a damaged one is refused at the right state."""

import json

import pytest

from tests.models.exports.instances import GALLERY
from tidemark.checks.cli import app as cli
from tidemark.checks.report.forms.itf import to_itf
from tidemark.checks.report.forms.itf_reader import model_of, read_itf, take_again
from tidemark.checks.report.graph import longest_run
from tidemark.checks.verdicts.counterexample import Shape
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode


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
