"""A verdict over nothing cannot be built, one module builds verdicts, and errors keep their class."""

import ast
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.checks.gate.toy import trace
from tidemark.checks.verdicts.exit_codes import MEANING, ExitCode, most_severe, table
from tidemark.checks.verdicts.explain import explain
from tidemark.checks.verdicts.verdict import (
    Aspect,
    Outcome,
    Subject,
    Verdict,
    amended,
    holds,
    inconclusive,
    judge,
    proved,
    refuted,
)
from tidemark.spec.language.errors import AuthorError

ROOT = Path(__file__).parents[3]


def subject(aspect: Aspect = Aspect.PROPERTY) -> Subject:
    return Subject(protocol="lights", property_id="p", judge="explore", instance="small", aspect=aspect)


def refutation(aspect: Aspect = Aspect.PROPERTY) -> Verdict:
    return refuted(
        subject(aspect), counts={"distinct": 2}, counterexample=trace(), replay="tidemark replay x"
    )


def without_run(aspect: Aspect, reason: str = "") -> Verdict:
    return refuted(subject(aspect), counts={"distinct": 1}, replay="x", reason=reason)


class TestConstructors:
    @pytest.mark.parametrize("counts", [{}, {"depth": 3}, {"distinct": 0}, {"executions": 5, "events": 0}])
    def test_a_verdict_over_nothing_is_an_error(self, counts):
        with pytest.raises(ValueError, match="over nothing"):
            holds(subject(), counts=counts, bounds="Lamp 2")
        with pytest.raises(ValueError, match="over nothing"):
            proved(subject(), counts=counts)
        with pytest.raises(ValueError, match="over nothing"):
            refuted(subject(), counts=counts, counterexample=trace(), replay="x")

    @pytest.mark.parametrize(
        ("words", "build"),
        [
            ("say the bounds", lambda: holds(subject(), counts={"distinct": 1}, bounds="")),
            ("say the bounds", lambda: holds(subject(), counts={"distinct": 1}, bounds="  ")),
            ("needs a counterexample", lambda: without_run(Aspect.PROPERTY, reason="because")),
            ("needs a reason", lambda: without_run(Aspect.VACUITY)),
            ("replays it", lambda: amended(refutation(), replay="")),
            ("needs a reason", lambda: inconclusive(subject(), reason=" ")),
            ("negative", lambda: inconclusive(subject(), reason="x", counts={"distinct": -1})),
        ],
    )
    def test_what_is_missing_is_an_error(self, words, build):
        with pytest.raises(ValueError, match=words):
            build()

    def test_details_are_checked_again(self):
        verdict = holds(subject(), counts={"distinct": 7, "depth": 0}, bounds="b")
        assert verdict.outcome is Outcome.HOLDS
        assert amended(verdict, seconds=2.5).seconds == 2.5
        assert amended(verdict, seconds=2.5).counts == {"distinct": 7, "depth": 0}
        with pytest.raises(ValueError, match="over nothing"):
            amended(verdict, counts={"distinct": 0})
        with pytest.raises(ValueError, match="say the bounds"):
            amended(verdict, bounds=" ")

    def test_a_verdict_is_frozen(self):
        verdict = inconclusive(subject(), reason="time-out")
        assert verdict.outcome is Outcome.INCONCLUSIVE
        with pytest.raises(ValueError, match="frozen"):
            verdict.outcome = Outcome.PROVED


class TestJudgement:
    good = holds(subject(), counts={"distinct": 1}, bounds="b")
    proof = proved(subject(), counts={"obligations": 1})
    unsure = inconclusive(subject(), reason="r")

    @pytest.mark.parametrize(
        ("verdict", "expected", "code"),
        [
            (good, "holds", ExitCode.AS_EXPECTED),
            (proof, "proved", ExitCode.AS_EXPECTED),
            (refutation(), "refuted", ExitCode.AS_EXPECTED),
            (refutation(), "holds", ExitCode.UNEXPECTED_REFUTATION),
            (refutation(), "proved", ExitCode.UNEXPECTED_REFUTATION),
            (good, "refuted", ExitCode.MISSING_REFUTATION),
            (proof, "refuted", ExitCode.MISSING_REFUTATION),
            (good, "proved", ExitCode.INCONCLUSIVE),
            (proof, "holds", ExitCode.VACUOUS_OR_UNPINNED),
            (unsure, "holds", ExitCode.INCONCLUSIVE),
            (unsure, "refuted", ExitCode.INCONCLUSIVE),
            (refutation(Aspect.VACUITY), "holds", ExitCode.VACUOUS_OR_UNPINNED),
            (refutation(Aspect.PIN), "holds", ExitCode.VACUOUS_OR_UNPINNED),
            (refutation(Aspect.MUTANT), "refuted", ExitCode.AS_EXPECTED),
        ],
    )
    def test_compared_exactly(self, verdict, expected, code):
        judgement = judge(verdict, expected=Outcome(expected))
        assert judgement.exit_code is code
        assert judgement.ok is (code is ExitCode.AS_EXPECTED)

    def test_not_knowing_is_never_expected(self):
        with pytest.raises(ValueError, match="not an expectation"):
            judge(self.unsure, expected=Outcome.INCONCLUSIVE)


class TestExitCodes:
    def test_the_numbers_are_fixed(self):
        assert [code.value for code in ExitCode] == [0, 1, 2, 3, 4, 5, 6, 7, 70]
        assert set(MEANING) == set(ExitCode)
        assert len(table().splitlines()) == len(ExitCode)

    def test_the_most_severe_wins(self):
        ok, sure = ExitCode.AS_EXPECTED, ExitCode.INCONCLUSIVE
        assert most_severe([ok, sure, ok]) is sure
        assert most_severe([sure, ExitCode.MISSING_REFUTATION]) is ExitCode.MISSING_REFUTATION
        assert most_severe([ExitCode.VACUOUS_OR_UNPINNED, ExitCode.UNEXPECTED_REFUTATION]).value == 1
        assert most_severe([ExitCode.UNEXPECTED_REFUTATION, ExitCode.STOPPED]) is ExitCode.STOPPED

    def test_nothing_at_all_is_not_success(self):
        assert most_severe([]) is ExitCode.VACUOUS_OR_UNPINNED


def _builds_verdict(node: ast.AST) -> bool:
    """A call of the class, or one of pydantic's ways around its validation."""
    if not isinstance(node, ast.Call):
        return False
    called = ast.unparse(node.func)
    name = called.rpartition(".")[2]
    copied = name in ("model_copy", "model_construct") and ("verdict" in called.lower() or called[:2] == "v.")
    return name == "Verdict" or copied


class TestLint:
    def test_only_one_module_builds_verdicts(self):
        texts = {
            path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
            for room in ("spec", "impl", "models", "checks")
            for path in (ROOT / room).rglob("*.py")
        }
        assert len(texts) > 30
        asked = {name: text for name, text in texts.items() if re.search(r"Verdict\(|\.model_co", text)}
        builders = {
            name
            for name, text in asked.items()
            if any(_builds_verdict(node) for node in ast.walk(ast.parse(text)))
        }
        assert builders == {"checks/verdicts/verdict.py"}

    def test_the_lint_sees_a_builder(self):
        for text in ("v = Verdict(subject=s)", "v = verdict.Verdict(x=1)", "w = v.model_copy(update={})"):
            assert any(_builds_verdict(node) for node in ast.walk(ast.parse(text)))


def wrapped(name: str) -> AuthorError:
    cause = ModuleNotFoundError(f"No module named {name!r}", name=name)
    error = AuthorError(cause, place="protocol.py:3", doing="protocol cannot be imported")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(("name", "extra"), [("pyarrow.parquet", "spark"), ("numba", "explore")])
def test_a_package_of_an_extra(name: str, extra: str) -> None:
    found = explain(wrapped(name))
    assert found.code is ExitCode.MISSING_TOOL
    assert f"[{extra}]" in found.remedy


def test_a_package_of_the_author() -> None:
    found = explain(wrapped("their_own_package"))
    assert found.code is ExitCode.BAD_INPUT
    assert "protocol.py:3" in found.message


def test_a_file_that_takes_the_name_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = ModuleType("z3")
    foreign.__file__ = str(tmp_path / "z3.py")
    monkeypatch.setitem(sys.modules, "z3", foreign)
    error = AttributeError("module 'z3' has no attribute 'Context'")
    for here, code in ((tmp_path, ExitCode.BAD_INPUT), (Path("/"), ExitCode.INTERNAL_ERROR)):
        monkeypatch.chdir(here)
        found = explain(error)
        assert (found.code, f"{foreign.__file__} stands in for" in found.message) == (code, here == tmp_path)
