"""What a liveness claim or a proof assumes and does not need is red by name; what is listed must be idle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tidemark.checks.gate.pins import judgements
from tidemark.checks.strength.judge import JUDGE, LemmaTrials, LivenessTrials
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.plan import Task
from tidemark.models.manifest import load, manifest_files, parse

PLACE = "tests.protocols.strength"
LIVE, FIRST, SECOND = "errand.it_ends", "errand.done_is_asked", "errand.told_is_done"


def reasons(protocol: str, parts: str, *, idle: Mapping[str, list[str]] | None = None) -> list[str]:
    """Why verdicts are not as expected, each claim once."""
    lemmas = [FIRST, SECOND] if protocol == "TooMuch" else [FIRST]
    content: dict[str, object] = {
        "name": "errand",
        "protocol": f"{PLACE}:{protocol}",
        "properties": {"invariant": ["errand.told_is_asked"], "leads_to": [LIVE], "lemma": lemmas},
        "instance": [{"name": "one", "engines": ["explore"], "bounds": {}, "expect": {"every": "holds"}}],
        "strength": [
            {
                "name": "errand-strength",
                "parts": parts,
                "instances": ["one"],
                "expect": {"every": "holds"},
                "idle": dict(idle or {}),
            }
        ],
    }
    given = parse(content, file="errand.toml")
    entry = given.strength[0]
    verdicts = JUDGE.run(entry, Context(manifest=given))
    found = judgements(Task(given, entry, "strength"), JUDGE, verdicts)
    assert len(found) == (1 if parts == "liveness" else len(lemmas)) + 1  # and which claims were answered
    return [one.verdict.reason for one in found if not one.ok]


def test_what_is_needed_is_seen() -> None:
    assert reasons("Errand", "liveness") == []
    assert reasons("Errand", "lemmas") == []


def test_an_idle_hypothesis_and_an_idle_fairness_are_red_by_name() -> None:
    (reason,) = reasons("TooMuch", "liveness")
    assert reason.split("; ") == [
        f"{LIVE}/hypothesis2 is idle, the claim holds without it: ~told",
        f"{LIVE}/without/ask is idle, the protocol assumes no fairness of it: ask",
        "errand.fairness/tell is idle, every liveness claim holds without it: tell",
    ]
    known = [f"{LIVE}/hypothesis2", f"{LIVE}/without/ask", "errand.fairness/tell"]
    assert reasons("TooMuch", "liveness", idle={"for a test": known}) == []


def test_a_lemma_that_the_proof_does_not_need_is_red_by_name() -> None:
    (reason,) = reasons("TooMuch", "lemmas")
    assert reason == f"{SECOND} is idle, the induction succeeds without it: told => done"
    assert reasons("TooMuch", "lemmas", idle={"for a test": [SECOND]}) == []


def test_what_is_listed_and_needed_is_red() -> None:
    (fairness,) = reasons("Errand", "liveness", idle={"for a test": ["errand.fairness/work"]})
    assert fairness == "errand.fairness/work is listed as idle, and one shows it: work"
    (lemma,) = reasons("Errand", "lemmas", idle={"for a test": [FIRST]})
    assert "is listed as idle, and one shows it" in lemma


@pytest.mark.parametrize("trials", [LivenessTrials, LemmaTrials])
def test_a_judge_that_sees_everything_takes_what_is_idle(
    trials: type[LivenessTrials | LemmaTrials], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entries that must be refuted notice it: an idle part that is listed is shown then."""

    def shows_all(self: LivenessTrials | LemmaTrials) -> Sequence[str]:
        self.seen = dict.fromkeys(self.parts, "anything")
        return ["anything"]

    monkeypatch.setattr(trials, "searches", shows_all)
    parts = "liveness" if trials is LivenessTrials else "lemmas"
    assert reasons("TooMuch", parts) == []
    idle = f"{LIVE}/hypothesis2" if trials is LivenessTrials else SECOND
    assert "is listed as idle" in reasons("TooMuch", parts, idle={"for a test": [idle]})[0]


def test_every_protocol_with_such_claims_is_looked_at() -> None:
    for path in manifest_files():
        content = load(path)
        own = {entry.parts for entry in content.strength if entry.expect.every.value == "holds"}
        kinds = set(content.kinds.values())
        wanted = {"liveness": "leads_to", "lemmas": "lemma"}
        missing = {parts for parts, kind in wanted.items() if kind in kinds} - own
        assert not missing, path
