"""Which failures of a run are shown, and in which order."""

from __future__ import annotations

import io

from rich.console import Console

from tests.checks.gate.toy import trace
from tidemark.checks.report.console import show_result
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.verdict import Aspect, Judgement, Outcome, Subject, Verdict, holds, refuted


def judged(verdict: Verdict, expected: Outcome = Outcome.HOLDS) -> Judgement:
    return Judgement(verdict=verdict, expected=expected)


def about(claim: str, aspect: Aspect = Aspect.PROPERTY) -> Subject:
    return Subject(protocol="p", property_id=claim, judge="j", instance="i", aspect=aspect)


def pin(number: int) -> Judgement:
    subject = about(f"pin-{number}", Aspect.PIN)
    return judged(
        refuted(subject, counts={"pins": 1}, counterexample=None, reason="no count is pinned", replay="x")
    )


SURVIVOR = judged(
    holds(about("survivor", Aspect.MUTANT), counts={"distinct": 3}, bounds="b"), Outcome.REFUTED
)
RUN = judged(refuted(about("refinement"), counts={"distinct": 3}, counterexample=trace(), replay="x"))


def test_the_most_telling_failure_is_first_and_all_are_there(tmp_path):
    pins = [pin(number) for number in range(60)]
    result = RunResult(tier="fast", seed=0, judgements=(*pins, SURVIVOR, RUN), planned=1, done=1)
    assert [one.verdict.subject.property_id for one in result.failures[:3]] == [
        "refinement",
        "survivor",
        "pin-0",
    ]
    screen = io.StringIO()
    show_result(result, Console(file=screen, width=200), build=tmp_path, files=[])
    text = screen.getvalue()
    assert text.index("FAIL  expected holds: refinement") < text.index("FAIL  expected refuted: ")
    assert "54 more failures:" in text
    assert "  expected holds: pin-6 is refuted by j on i: no count is pinned" in text
    assert "... and 14 more, which the files have" in text
    assert "NOT as expected: 62 of 62 results" in text


def test_a_failure_that_several_engines_find_is_shown_once(tmp_path):
    def by(judge: str, instance: str = "i") -> Judgement:
        subject = Subject(
            protocol="p", property_id="p.claim", judge=judge, instance=instance, aspect=Aspect.PROPERTY
        )
        again = f"tidemark replay {judge}-{instance}"
        return judged(refuted(subject, counts={"distinct": 3}, counterexample=trace(), replay=again))

    found = (by("explore"), by("interpreted"), by("distribute", "larger"), pin(0))
    result = RunResult(tier="fast", seed=0, judgements=found, planned=1, done=1)
    screen = io.StringIO()
    show_result(result, Console(file=screen, width=200), build=tmp_path, files=[])
    text = screen.getvalue()
    assert text.count("FAIL  expected") == 2
    assert text.count("bundle: ") == 1
    assert (
        f"also by interpreted on i in {len(trace().steps)} steps; replay: tidemark replay interpreted-i"
        in text
    )
    assert text.count("replay: ") == 4, "each verdict can be replayed"
    assert "NOT as expected: 4 of 4 results" in text
