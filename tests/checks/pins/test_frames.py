"""Frame conditions are told from properties by the solver, and are not counted."""

import pytest

from tests.manifests import manifests
from tidemark.checks.frames.judge import JUDGE, Alone, Frames
from tidemark.checks.gate.pins import judgements
from tidemark.checks.report.matrix import brief, matrix
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.verdict import Judgement, Outcome, Subject, Verdict, holds, judge
from tidemark.models.manifest import Manifest, ManifestError, parse

CLAIM, STEP = "ship.never_too_much", "ship.nothing_falls"


def manifest(protocol: str, *refuted: str) -> Manifest:
    """A manifest that asks for the marks of a protocol."""
    content: dict[str, object] = {
        "name": "ship",
        "protocol": f"tests.protocols.marks:{protocol}",
        "properties": {"invariant": [CLAIM], "transition_invariant": [STEP]},
        "frames": [{"name": "ship-frames", "expect": {"every": "holds", "refuted": list(refuted)}}],
    }
    return parse(content, file="ship.toml")


def wrong(given: Manifest) -> dict[str, Verdict]:
    entry = given.frames[0]
    found = judgements(Task(given, entry, "frames"), JUDGE, JUDGE.run(entry, Context(manifest=given)))
    assert len(found) == 3  # the two claims, and which were answered
    return {one.verdict.subject.property_id: one.verdict for one in found if not one.ok}


@pytest.mark.proof
class TestJudge:
    def test_right_marks(self) -> None:
        assert wrong(manifest("Right")) == {}

    def test_wrong_marks_are_red_by_name(self) -> None:
        found = wrong(manifest("Wrong"))
        assert {*found} == {CLAIM, STEP}
        assert "mark it  frame=True" in found[CLAIM].reason
        assert "step:put:nothing_falls does not follow from the step alone" in found[STEP].reason
        assert wrong(manifest("Wrong", CLAIM, STEP)) == {}

    def test_help_must_be_a_frame_condition_too(self) -> None:
        found = wrong(manifest("WrongHelp"))
        assert {*found} == {STEP}
        assert "given ship.not_above_the_limit, which is none itself" in found[STEP].reason

    def test_a_judge_that_says_yes_is_found_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Frames, "of", lambda _self, prop, **_: Alone(1, "" if prop.frame else "x"))
        assert {*wrong(manifest("Wrong", CLAIM, STEP))} == {CLAIM, STEP}

    def test_an_unknown_claim(self) -> None:
        with pytest.raises(ManifestError, match=r"unknown property 'ship\.unknown'"):
            manifest("Right", "ship.unknown")


def test_every_protocol_judges_its_marks_and_sees_them_refuted() -> None:
    for path, content in manifests().items():
        own = [entry for entry in content.frames if entry.protocol == content.protocol]
        assert [entry.claims for entry in own] == [(), content.wrong_marks], path
        assert own[1].flipped, f"{path}: name claims under wrong_marks, for the self-test"


def judged(claim: str) -> Judgement:
    subject = Subject(protocol="ship", property_id=claim, judge="explore", instance="i")
    return judge(holds(subject, counts={"distinct": 1}, bounds="b"), expected=Outcome.HOLDS)


def test_frame_conditions_do_not_count_as_properties() -> None:
    claims = ("ship.a", "ship.b", "ship.c")
    result = RunResult(
        tier="fast",
        seed=0,
        judgements=tuple(map(judged, claims)),
        planned=1,
        done=1,
        descriptions=dict.fromkeys(claims, "Words."),
        frames=("ship.a", "ship.b"),
    )
    seen = result.summary()
    assert seen == "All 1 verdicts of 1 checks are as expected, and so are 2 that repeat a step's own rule."
    found = matrix(result)
    assert (found.properties, found.frames) == (1, 2)
    assert [row.property_id for row in found.rows] == ["ship.c", "ship.a", "ship.b"]
    assert [row.property_id for row in brief(found.rows)] == ["ship.c", "frame conditions: 2"]
