"""A counterexample in every form: what changed, what failed, and how to run it again."""

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.checks.gate.toy import FORWARD, REFERENCE, SAFE, manifest, trace
from tests.processes import finished
from tidemark.checks.explore.replay import RunToken, parse_token, replay, replay_command
from tidemark.checks.report.forms.bundle import bundle_id, write_bundle
from tidemark.checks.report.forms.diagram import mermaid, svg
from tidemark.checks.report.forms.itf import to_itf
from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.report.graph import dot, longest_run
from tidemark.checks.verdicts.counterexample import Change, Counterexample, Shape, Step, Value, index_text
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.trace import BrokenRunError, counterexample, failing_conjunct, run_again
from tidemark.checks.verdicts.verdict import Subject, refuted
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.interpreted.interpreter import Step as RunStep

ROOT = Path(__file__).parents[3]
CARELESS = Instance(REFERENCE, bounds={"Lamp": 2, "Turn": 3}, constants={"CAREFUL": False}, name="careless")
BOTH_ON = [RunStep("switch_on", (0,)), RunStep("switch_on", (1,))]


def both_lit(steps=BOTH_ON) -> Counterexample:
    """Found again by the interpreter: both lamps lit."""
    interpreter = Interpreter(CARELESS)
    states = run_again(interpreter, next(interpreter.initial()), steps)
    failing = failing_conjunct(interpreter, CARELESS.spec.property(SAFE), states[-1])
    return counterexample(CARELESS, states=states, steps=steps, failing=failing)


def lasso() -> Counterexample:
    dark: dict[str, Value] = {"lit": (False,), "turns": 0}
    light: dict[str, Value] = {"lit": (True,), "turns": 0}
    steps = tuple(
        Step(action=name, after=after, actor="lamp")
        for name, after in [("on", light), ("off", dark), ("on", light)]
    )
    return Counterexample(
        shape=Shape.LASSO, initial=dark, steps=steps, failing="always dark later", loop_start=1
    )


class TestTrace:
    def test_only_what_changed(self):
        found = both_lit().changes(1)
        assert found == [Change("lit[0]", False, True), Change("any_lit", False, True), Change("turns", 0, 1)]

    def test_the_failing_conjunct_names_the_values(self):
        failing = both_lit().failing
        assert re.search(r"with a\w* = 0, b\w* = 1$", failing)
        assert "lit[a" in failing

    def test_a_good_state_fails_nothing(self):
        interpreter = Interpreter(CARELESS)
        assert failing_conjunct(interpreter, CARELESS.spec.property(SAFE), next(interpreter.initial())) == ""

    def test_a_step_that_is_not_enabled(self):
        with pytest.raises(BrokenRunError, match=r"step 2, switch_on\(0\), is not enabled: require"):
            both_lit([RunStep("switch_on", (0,)), RunStep("switch_on", (0,))])

    def test_keys_of_several_parts(self):
        assert index_text(7, ((0, 1), (0, 1, 2, 3))) == "1,3"
        assert index_text(4, ((-1, 0, 1), ("a", "b"))) == "1,a"
        assert index_text(7, None) == "7"

    def test_fields_must_agree(self):
        with pytest.raises(ValueError, match="other fields"):
            Counterexample(initial={"a": 1}, steps=(Step(action="x", after={"b": 1}),), failing="f")

    @pytest.mark.parametrize(("shape", "loop"), [(Shape.RUN, 0), (Shape.LASSO, None), (Shape.LASSO, 9)])
    def test_a_lasso_says_where_it_closes(self, shape, loop):
        with pytest.raises(ValueError, match="loop_start"):
            Counterexample(shape=shape, initial={"a": 1}, failing="f", loop_start=loop)


class TestForms:
    def test_text(self):
        assert trace_text(trace()) == (
            "run from an initial state, 2 steps\n"
            "  1. switch_on(lamp=0)\n"
            "       lit[0]: false -> true\n"
            "       any_lit: false -> true\n"
            "       turns: 0 -> 1\n"
            "  2. switch_on(lamp=1)\n"
            "       lit[1]: false -> true\n"
            "       turns: 1 -> 2\n"
            "  fails: a == b, with a = 0, b = 1"
        )

    def test_the_middle_of_a_long_run_is_left_out_and_said(self):
        steps = tuple(Step(action="tick", after={"n": n}) for n in range(1, 101))
        text = trace_text(Counterexample(initial={"n": 0}, steps=steps, failing="n < 100"), limit=10)
        assert "... 90 steps left out" in text
        assert text.count("tick") == 10
        assert "100. tick" in text

    def test_a_lasso_shows_its_cycle(self):
        text = trace_text(lasso())
        assert text.index("1. ") < text.index("repeat for ever") < text.index("2. ")

    def test_an_induction_counterexample_shows_its_start(self):
        start: dict[str, Value] = {"lit": (True, False, False), "turns": 4}
        cti = Counterexample(shape=Shape.INDUCTION, initial=start, failing="f", axes={"lit": ((0, 1, 2),)})
        assert "lit = all false, except {0: true}" in trace_text(cti)
        assert "turns = 4" in trace_text(cti)

    def test_itf(self):
        document = json.loads(to_itf(trace(), description="d"))
        assert document["vars"] == ["lit", "any_lit", "turns"]
        assert [state["#meta"]["index"] for state in document["states"]] == [0, 1, 2]
        last = document["states"][2]
        assert last["#meta"]["action"] == "switch_on"
        assert last["#meta"]["args"] == {"lamp": {"#bigint": "1"}}
        assert last["lit"] == {"#map": [[{"#bigint": "0"}, True], [{"#bigint": "1"}, True]]}
        assert last["turns"] == {"#bigint": "2"}
        assert "loop" not in document

    def test_itf_of_a_lasso_does_not_repeat_the_state_that_closes_it(self):
        document = json.loads(to_itf(lasso(), description="d"))
        assert document["loop"] == 1
        assert len(document["states"]) == 3

    def test_mermaid(self):
        text = mermaid(lasso())
        assert text.startswith("sequenceDiagram\n  participant L0 as lamp\n")
        assert text.count("->>") == 3
        assert text.index("loop for ever") < text.index("2. off")
        assert "fails: always dark later" in text

    @pytest.mark.parametrize("shown", [trace(), lasso(), trace(failing='<b> & "c"')])
    def test_svg_is_well_formed_and_complete(self, shown):
        picture = ET.fromstring(svg(shown))
        boxes = [part for part in picture.iter() if part.tag.endswith("rect")]
        assert len(boxes) == len(shown.steps)
        texts = [part.text for part in picture.iter() if part.tag.endswith("text")]
        assert f"fails: {shown.failing}" in texts


class TestBundle:
    def verdict(self, shown):
        subject = Subject(protocol="lights", property_id=SAFE, judge="explore", instance="careless")
        return refuted(
            subject, counts={"distinct": 5}, counterexample=shown, replay="tidemark replay x", bounds="b"
        )

    def written(self, shown: Counterexample, build: Path) -> Path:
        folder = write_bundle(self.verdict(shown), build=build)
        assert folder is not None
        return folder

    def test_all_files(self, tmp_path):
        folder = self.written(both_lit(), tmp_path)
        assert folder.name == bundle_id(self.verdict(both_lit())) == "explore-careless-lights.never_both"
        assert sorted(path.name for path in folder.iterdir()) == [
            "replay.txt",
            "reproduce.py",
            "sequence.mmd",
            "trace.itf.json",
            "trace.txt",
            "verdict.txt",
        ]

    def test_no_machine_dependent_text(self, tmp_path):
        folder = self.written(both_lit(), tmp_path)
        assert not any(str(tmp_path) in path.read_text(encoding="utf-8") for path in folder.iterdir())

    def test_the_reproducer_reproduces(self, tmp_path):
        folder = self.written(both_lit(), tmp_path)
        done = finished(
            [sys.executable, str(folder / "reproduce.py")], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}
        )
        assert done.returncode == 1, done.stderr
        assert "REFUTED" in done.stdout
        assert "2. switch_on(1)  changes lit, turns" in done.stdout

    def test_the_reproducer_of_an_implementation_run_replays_its_token(self, tmp_path):
        shown = trace().model_dump() | {"token": "choices.1.2"}
        folder = self.written(Counterexample.model_validate(shown), tmp_path)
        assert "run(['replay', 'x'])" in (folder / "reproduce.py").read_text(encoding="utf-8")


class TestReplay:
    def token(self) -> RunToken:
        interpreter = Interpreter(CARELESS)
        command = replay_command(
            interpreter,
            entry="careless",
            property_id=SAFE,
            initial=next(interpreter.initial()),
            steps=BOTH_ON,
        )
        assert command.startswith("tidemark replay run1.")
        return parse_token(command.split(" ")[2])

    def test_there_and_back(self):
        shown, still = replay(self.token(), [manifest()])
        assert still
        assert shown == both_lit()

    def test_a_property_that_holds_on_the_run(self):
        token = self.token()
        _, still = replay(RunToken(token.instance, FORWARD, 0, token.steps), [manifest()])
        assert not still

    @pytest.mark.parametrize("at", range(0, 90, 7))
    def test_a_damaged_token_is_noticed(self, at):
        text = self.token().text()
        at %= len(text)
        other = "A" if text[at] != "A" else "B"
        with pytest.raises(BadInputError, match="corrupt replay token"):
            parse_token(text[:at] + other + text[at + 1 :])

    @pytest.mark.parametrize("text", ["", "run1", "run1.x", "run1..00000000", "run1.AAAA.b5f3d5e5"])
    def test_no_token_at_all(self, text):
        with pytest.raises(BadInputError, match="corrupt replay token"):
            parse_token(text)

    def test_an_unknown_instance(self):
        with pytest.raises(BadInputError, match="no instance 'careles'"):
            replay(RunToken("careles", SAFE, 0, ()), [manifest()])

    @pytest.mark.parametrize("steps", [(99,), (0, 0), (2,)])
    def test_a_run_that_is_no_longer_possible(self, steps):
        with pytest.raises(BadInputError, match="changed since"):
            replay(RunToken("two-lamps", SAFE, 0, steps), [manifest()])

    def test_a_witness_cannot_be_replayed(self):
        with pytest.raises(BadInputError, match="finite run cannot decide"):
            replay(RunToken("two-lamps", "lights.second_turn", 0, (0,)), [manifest()])


class TestGraph:
    def test_dot_has_every_state(self):
        text = dot(CARELESS, limit=100)
        assert text.startswith('digraph "careless" {')
        assert text.count("peripheries=2") == 1
        assert "s0 -> s1" in text

    def test_a_graph_is_never_cut(self):
        with pytest.raises(BadInputError, match="more than 3 states"):
            dot(CARELESS, limit=3)

    def test_a_tour(self):
        assert len(longest_run(CARELESS, limit=100).steps) > 3
