"""What was asked of a specification is asked of another text of it: only the same replies count as such."""

import ast
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.protocols.changed import door
from tests.protocols.changed.door import at_once, by_two, counting, from_four_on, only_once, twice
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.refinement.queries import Asked
from tidemark.models.refinement.step import Matched, Refuted, StepChecker, asking
from tidemark.models.rooms import ROOT
from tidemark.spec.language import Bool

INSTANCE = Instance("tests.protocols.changed.door:PRESENT", {"Count": 4})
CLOSED, OPEN, AGAIN = (False, 0), (True, 1), (False, 1)
FAR = (False, 3)


def ask(checker: StepChecker, *, wrong: bool = False, applied: bool = True) -> None:
    assert checker.start(CLOSED) is None
    assert checker.check(CLOSED, OPEN) == Matched(Step("pull"))
    assert checker.check(OPEN, AGAIN) == Matched(Step("push"))
    assert checker.witnessed(OPEN, AGAIN, Step("push")) == {"door.closed_again"}
    assert checker.unmet("door.is_closed", OPEN) is not None
    if applied:
        assert [str(found.step) for found in checker.successors(AGAIN)] == ["pull()"]
        assert checker.apply(AGAIN, Step("push")) is None
    if wrong:
        assert isinstance(checker.check(CLOSED, FAR), Refuted)


def asked_of(**options: bool) -> Asked:
    """What was asked of the door, read again from text."""
    with asking() as found:
        ask(StepChecker(INSTANCE), **options)
    (one,) = found
    again = Asked.read(json.loads(json.dumps(one.plain())))
    assert again == one
    return again


def changed(monkeypatch: pytest.MonkeyPatch, **members: Any) -> None:
    """Let the name of the protocol stand for another text of it."""
    fresh = type("Door", (door.Door,), {**members, "__module__": door.__name__})
    monkeypatch.setattr(door, "PRESENT", fresh)


def alike(asked: Asked) -> bool:
    instance = replace(asked.instance)  # one that has not read its protocol
    return StepChecker(instance, ignored=asked.ignored, sound=asked.sound).replies_alike(asked)


@pytest.mark.parametrize("wrong", [False, True])
def test_the_same_text_replies_alike(wrong: bool) -> None:
    assert alike(asked_of(wrong=wrong))


@pytest.mark.parametrize("member", [{"push": twice}, {"reset": from_four_on}])
def test_a_change_that_no_query_meets_replies_alike(monkeypatch: pytest.MonkeyPatch, member: Any) -> None:
    asked = asked_of()
    changed(monkeypatch, **member)
    assert alike(asked)


@pytest.mark.parametrize(
    "member",
    [{"push": only_once}, {"push": counting}, {"reset": at_once}],
    ids=["a step is gone", "another effect", "a second step between the same states"],
)
@pytest.mark.parametrize("applied", [False, True])
def test_a_change_of_what_was_asked_does_not(monkeypatch, member, applied):
    asked = asked_of(applied=applied)
    changed(monkeypatch, **member)
    assert not alike(asked)


def test_nor_does_one_of_the_words_about_a_wrong_step(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_of(wrong=True)
    changed(monkeypatch, push=twice)
    assert alike(asked)
    changed(monkeypatch, pull=by_two)
    assert not alike(asked)


CLAIMS = {
    "few": lambda s: s.count < 1,
    "opened_at_first": lambda s: ~s.open,
    "closed_again": lambda before, after: after.count == 2,
    "is_closed": lambda s: (s.open & (s.count > 1), ~s.open),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_that_is_broken_now_or_says_something_else(monkeypatch, claim):
    asked = asked_of()
    changed(monkeypatch, **{claim: CLAIMS[claim]})
    assert not alike(asked)


def test_a_claim_in_other_words_that_holds_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, wrong = asked_of(), asked_of(wrong=True)
    changed(monkeypatch, few=lambda s: s.count < 7)
    assert alike(asked)
    assert not alike(wrong), "its parts are shown where something is wrong"
    checker = StepChecker(replace(asked.instance))
    assert not checker.replies_alike(asked, shown=True)


def test_transition_invariants_count_where_a_variant_may_break_them(monkeypatch: pytest.MonkeyPatch) -> None:
    with asking() as found:
        StepChecker(INSTANCE, sound=False).check(CLOSED, OPEN)
    changed(monkeypatch, one_by_one=lambda before, after: after.count == before.count)
    assert not alike(found[0])


def test_another_state_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_of()
    changed(monkeypatch, colour=False, __annotations__={"colour": Bool})
    assert not alike(asked)
    assert not alike(
        Asked(Instance(INSTANCE.protocol, {"Count": 4}), ("count",), True, asked.texts, asked.queries)
    )


def test_a_checker_that_is_gone_was_asked_too() -> None:
    with asking() as outer:
        ask(StepChecker(INSTANCE))
    assert len(outer) == 1
    with asking() as nothing:
        pass
    assert nothing == []


ALLOWED = {"instance", "decode", "encode", "spec"}
"""What an exploration may use of the interpreter behind a checker: what the signature has."""
SHOWN = {"checks/interleave/executions/recorded_execution.py", "checks/interleave/executions/lasso.py"}
"""Shows the parts of a broken claim in a counterexample: a change of one is explored again. Looks for endless
runs: entries that ask for them are never taken over by what they have asked.
"""


def test_explorations_ask_specifications_through_a_checker_alone() -> None:
    rooms = ("models/protocols", "models/simulation", "models/conformance", "checks/interleave")
    files = [path for room in rooms for path in sorted((ROOT / room).rglob("*.py"))]
    files += [ROOT / "models/refinement/program.py", *sorted((ROOT / "checks/conform").glob("*.py"))]
    found = 0
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
                assert node.func.attr not in ("trace", "traced"), f"{name}:{node.lineno} reads a protocol"
            if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Attribute):
                continue
            if node.value.attr == "interpreter":
                found += 1
                assert node.attr in ALLOWED or name in SHOWN, f"{name}:{node.lineno}"
    assert found > 3
