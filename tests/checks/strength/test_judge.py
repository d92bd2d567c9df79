"""A conjunct or a hypothesis that says nothing is red by name; what is listed must be idle."""

from collections.abc import Mapping, Sequence

import pytest

from tests.manifests import manifests
from tests.protocols.strength import Tank
from tidemark.checks.gate.pins import judgements
from tidemark.checks.strength.judge import JUDGE, LemmaTrials, LivenessTrials, Trials
from tidemark.checks.strength.parts import parts_of
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.verdict import Verdict
from tidemark.models.manifest import ManifestError, parse

CLAIM = "tank.within"


def judged(
    protocol: str = "Tank", *, idle: Mapping[str, list[str]] | None = None, instance: str = "small"
) -> Verdict | None:
    """The verdict on the claim if it is not as expected."""
    place = "tests.protocols.strength"
    content: dict[str, object] = {
        "name": "tank",
        "protocol": f"{place}:Tank",
        "properties": {"invariant": [CLAIM]},
        "instance": [
            {"name": "small", "engines": ["explore"], "bounds": {"Level": 4}, "expect": {"every": "holds"}}
        ],
        "mutants": [{"module": place, "number": 2}],
        "strength": [
            {
                "name": "tank-strength",
                "protocol": f"{place}:{protocol}",
                "instances": [instance],
                "generated": {"small": ["*"]},
                "expect": {"every": "holds"},
                "idle": dict(idle or {}),
            }
        ],
    }
    given = parse(content, file="tank.toml")
    entry = given.strength[0]
    verdicts = JUDGE.run(entry, Context(manifest=given))
    found = judgements(Task(given, entry, "strength"), JUDGE, verdicts)
    assert len(found) == 2  # the claim, and which claims were answered
    wrong = [one.verdict for one in found if not one.ok]
    assert len(wrong) <= 1
    return wrong[0] if wrong else None


def test_the_parts_of_a_claim() -> None:
    (claim,) = Tank.trace().properties
    parts = parts_of(claim)
    assert [(part.id, part.text) for part in parts] == [
        (f"{CLAIM}/hypothesis1", "open"),
        (f"{CLAIM}/conjunct1", "level < 2"),
        (f"{CLAIM}/conjunct2", "~locked"),
    ]


def test_all_parts_matter() -> None:
    assert judged() is None


def test_an_idle_conjunct_is_red_by_name() -> None:
    verdict = judged("IdleConjunct")
    assert verdict is not None
    assert verdict.subject.property_id == CLAIM
    assert verdict.reason == (
        f"{CLAIM}/conjunct3 is idle, no wrong protocol breaks the claim and not the claim without it: "
        "level < 3"
    )
    assert judged("IdleConjunct", idle={"for a test": [f"{CLAIM}/conjunct3"]}) is None


def test_an_idle_hypothesis_is_red_by_name() -> None:
    verdict = judged("IdleHypothesis")
    assert verdict is not None
    assert verdict.reason == f"{CLAIM}/hypothesis2 is idle, the claim holds without it: level < 3"
    assert judged("IdleHypothesis", idle={"for a test": [f"{CLAIM}/hypothesis2"]}) is None


def test_what_is_listed_must_be_idle() -> None:
    verdict = judged(idle={"for a test": [f"{CLAIM}/hypothesis1"]})
    assert verdict is not None
    assert verdict.reason == f"{CLAIM}/hypothesis1 is listed as idle, and small shows it: open"


def test_a_judge_that_says_yes_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Trials.try_on

    def shows_all(self, *given, **more) -> None:
        real(self, *given, **more)
        self.seen |= dict.fromkeys(self.parts, "anything")

    monkeypatch.setattr(Trials, "try_on", shows_all)
    verdict = judged("IdleConjunct", idle={"for a test": [f"{CLAIM}/conjunct3"]})
    assert verdict is not None
    assert "is listed as idle" in verdict.reason


def test_unknown_names() -> None:
    with pytest.raises(BadInputError, match=r"'tank.within/conjunct9' is listed as idle and is no part"):
        judged(idle={"for a test": [f"{CLAIM}/conjunct9"]})
    with pytest.raises(ManifestError, match="unknown instance 'smal'"):
        judged(instance="smal")


def test_every_protocol_is_looked_at_whole_and_sees_an_idle_part_refuted() -> None:
    for path, content in manifests().items():
        looked_at = [entry for entry in content.strength if entry.parts == "claims"]
        own = [entry for entry in looked_at if entry.expect.every.value == "holds"]
        assert [entry.claims for entry in own] == [()], f"{path}: add one [strength.NAME] entry"
        others = [entry for entry in looked_at if entry.expect.every.value == "refuted"]
        assert others or not own[0].idle, f"{path}: add a [strength.NAME] entry that leaves out an idle part"


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
    for path, content in manifests().items():
        own = {entry.parts for entry in content.strength if entry.expect.every.value == "holds"}
        kinds = set(content.kinds.values())
        wanted = {"liveness": "leads_to", "lemmas": "lemma"}
        missing = {parts for parts, kind in wanted.items() if kind in kinds} - own
        assert not missing, path
