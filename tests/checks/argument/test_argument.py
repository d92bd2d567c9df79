"""What rests on what: supported, unsupported, circular, needless; liveness, and the table of assumptions."""

import inspect
import io
from typing import Any

import pytest
from rich.console import Console

from tests.manifests import manifests
from tidemark.checks.argument.graph import Argument
from tidemark.checks.argument.judge import JUDGE
from tidemark.checks.argument.table import (
    BOUNDED,
    LivenessRow,
    argument_dot,
    argument_tree,
    assumptions,
    assumptions_text,
    liveness,
)
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.manifest import Expectation, Expected, Kind, Manifest, parse
from tidemark.models.rooms import ROOT
from tidemark.spec.language.protocol import resolve

_TOWERS = "tests.protocols.towers"
_BELOW = f"{_TOWERS}:Below"
_ABOVE = f"{_TOWERS}:Above"


_PROOF: dict[str, Any] = {"name": "below-any-size", "protocol": _BELOW, "expect": {"every": "proved"}}


def _below(**changes: Any) -> Manifest:
    data: dict[str, Any] = {
        "name": "below",
        "protocol": _BELOW,
        "properties": {"invariant": ["below.never_falls"], "transition_invariant": ["below.grows"]},
        "proof": [_PROOF],
    }
    return parse(data | changes, file="below.toml")


def _above(**changes: Any) -> Manifest:
    data: dict[str, Any] = {
        "name": "above",
        "protocol": _ABOVE,
        "properties": {"invariant": ["above.in_order"]},
        "instance": [_instance("fresh"), _instance("stale", FRESH=False)],
        "argument": [_resting()],
    }
    return parse(data | changes, file="above.toml")


def _resting(**changes: Any) -> dict[str, Any]:
    return {
        "name": "above-rests-on",
        "claims": ["below.never_falls", "follows.read.below", "environment.FRESH"],
        "needed": {"FRESH": "stale"},
        "reads": [f"{_TOWERS}:AnswerOfBelow"],
        "expect": {"every": "holds"},
    } | changes


def _outcomes(above: Manifest) -> dict[str, Outcome]:
    verdicts = JUDGE.run(above.argument[0], Context(manifest=above))
    return {one.subject.property_id: one.outcome for one in verdicts}


def _instance(name: str, **constants: Any) -> dict[str, Any]:
    refuted = ["above.in_order"] if constants else []
    return {
        "name": name,
        "protocol": _ABOVE,
        "engines": ["explore"],
        "bounds": {"Level": 2},
        "constants": constants,
        "expect": {"every": "holds", "refuted": refuted},
        "counts": {"distinct": 1},
    }


def _problems(*manifests: Manifest) -> dict[str, str]:
    return {one.claim: one.problem for one in Argument(manifests).reliances("above")}


def test_a_supported_argument_names_its_support() -> None:
    argument = Argument([_above(), _below()])
    found = {one.claim: (one.support, one.where, one.problem) for one in argument.reliances("above")}
    assert found == {
        "below.never_falls": ("below-any-size", "read", ""),
        "environment.FRESH": ("stale", "an answer is not older than the one before it", ""),
    }


@pytest.mark.parametrize(
    ("below", "says"),
    [
        (_below(proof=[]), "no proof of below.never_falls for any size"),
        (
            _below(proof=[_PROOF | {"expect": {"every": "proved", "refuted": ["below.never_falls"]}}]),
            "no proof of below.never_falls for any size",
        ),
        (_below(protocol="tests.protocols.towers:Circular"), "a circle proves nothing"),
        (_below(properties={"invariant": ["below.other"]}, proof=[]), "no manifest pins"),
    ],
)
def test_a_guarantee_that_nobody_proves(below: Manifest, says: str) -> None:
    assert says in _problems(_above(), below)["below.never_falls"]


@pytest.mark.parametrize(
    ("needed", "says"),
    [
        ({}, "names no entry without FRESH"),
        ({"FRESH": "missing"}, "there is no entry 'missing'"),
        ({"FRESH": "fresh"}, "nothing is refuted"),
    ],
)
def test_an_assumption_that_is_not_shown_to_be_needed(needed: dict[str, str], says: str) -> None:
    above = _above(argument=[_resting(claims=["below.never_falls", "environment.FRESH"], needed=needed)])
    assert says in _problems(above, _below())["environment.FRESH"]


def test_a_mutant_shows_that_an_assumption_is_needed_if_it_drops_that_one() -> None:
    mutant = {
        "name": "stale",
        "ref": "tests.protocols.towers:Stale",
        "instance": "fresh",
        "source": "an old answer",
        "killer": "above.in_order",
    }
    above = _above(instance=[_instance("fresh")], mutant=[mutant])
    assert _problems(above, _below())["environment.FRESH"] == ""
    harmless = _above(instance=[_instance("fresh")], mutant=[mutant | {"ref": _ABOVE}])
    assert "drops no assumption" in _problems(harmless, _below())["environment.FRESH"]


def test_the_judge_is_inconclusive_about_what_is_not_supported() -> None:
    """The repository has no protocol that is called below, so nobody proves what is relied on."""
    assert _outcomes(_above()) == {
        "below.never_falls": Outcome.INCONCLUSIVE,
        "follows.read.below": Outcome.HOLDS,
        "environment.FRESH": Outcome.HOLDS,
    }


@pytest.mark.parametrize(
    ("reading", "outcome", "says"),
    [
        ("AnswerOfAnybody", Outcome.REFUTED, "does not follow"),
        ("AnswerToEverything", Outcome.INCONCLUSIVE, "follows without below.never_falls too"),
        ("AnswerThatCannotBe", Outcome.INCONCLUSIVE, "everything follows from them"),
        ("AnswerOfSomethingElse", Outcome.INCONCLUSIVE, "is no part of the step read"),
        ("AnswerOfNothing", Outcome.INCONCLUSIVE, "decided by type alone"),
        ("AnswerWithoutType", Outcome.INCONCLUSIVE, "'level' without a type"),
    ],
)
def test_a_reading_from_which_nothing_follows_or_all(reading: str, outcome: Outcome, says: str) -> None:
    above = _above(argument=[_resting(reads=[f"{_TOWERS}:{reading}"])])
    verdicts = {v.subject.property_id: v for v in JUDGE.run(above.argument[0], Context(manifest=above))}
    found = verdicts["follows.read.below"]
    assert (found.outcome, says in found.reason) == (outcome, True), found.reason
    assert (found.counterexample is not None) == (outcome is Outcome.REFUTED)


def test_a_variant_relies_in_the_place_of_its_protocol_if_it_is_proved() -> None:
    reads = [f"{_TOWERS}:AnswerOfBelow", f"{_TOWERS}:PeekOfBelow"]
    entry = _resting(reads=reads)
    proof = {"name": "peeks-any-size", "protocol": f"{_TOWERS}:Peeks", "expect": {"every": "proved"}}
    argument = Argument([_above(argument=[entry], proof=[proof]), _below()])
    found = [(step.claim, step.reading, step.problem) for step in argument.steps("above")]
    assert found == [("follows.read.below", reads[0], ""), ("follows.peek.below", reads[1], "")]
    assert next(one.where for one in argument.reliances("above")) == "read, peek"
    (_, step) = Argument([_above(argument=[entry]), _below()]).steps("above")
    assert (step.reading, "no proof" in step.problem) == ("", True)


def test_each_step_that_relies_needs_one_reading() -> None:
    def problem(*reads: str) -> str:
        entry = _resting(reads=[f"{_TOWERS}:{name}" for name in reads])
        (step,) = Argument([_above(argument=[entry]), _below()]).steps("above")
        return step.problem

    assert "no reading" in problem()
    assert "2 readings" in problem("AnswerOfBelow", "AnswerOfAnybody")
    assert problem("AnswerOfBelow") == ""


def test_an_entry_that_must_fail_supports_nothing_and_is_judged_of_its_claims() -> None:
    claims = ["follows.read.below", "environment.FRESH"]
    reads = [f"{_TOWERS}:AnswerOfAnybody"]
    wrong = _resting(claims=claims, needed={"FRESH": "fresh"}, reads=reads, expect={"every": "refuted"})
    above = _above(argument=[wrong | {"name": "must-fail"}, _resting()])
    assert _outcomes(above) == dict.fromkeys(claims, Outcome.REFUTED)
    assert _problems(above, _below())["environment.FRESH"] == ""


def test_the_tree_goes_down_to_what_takes_nothing_for_granted() -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(argument_tree(Argument([_above(), _below()]), "above"))
    text = console.export_text()
    assert "relies on below.never_falls in read; proved for any size by below-any-size" in text
    assert "below: no assumptions" in text
    assert (
        "assumes FRESH: an answer is not older than the one before it; without it a claim breaks in stale"
        in text
    )


def test_the_tree_and_the_graph_show_what_is_not_supported() -> None:
    broken = Argument([_above(), _below(proof=[])])
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(argument_tree(broken, "above"))
    assert "NOT SUPPORTED below.never_falls" in console.export_text()
    assert '"below" -> "above" [label="below.never_falls", color=red];' in argument_dot(broken)


_KEPT = _instance("in-steps") | {"protocol": f"{_TOWERS}:InSteps"}
_BROKEN = _instance("in-steps-apart", TOGETHER=False) | {"protocol": f"{_TOWERS}:InSteps"}


@pytest.mark.parametrize(
    ("needed", "finer", "says"),
    [
        ("in-steps-apart", "in-steps", ""),
        ("in-steps-apart", "", "'finer' names no entry of a variant that does"),
        ("in-steps-apart", "fresh", "the protocol of 'fresh' does not read TOGETHER"),
        ("in-steps-apart", "in-steps-apart", "'in-steps-apart' drops TOGETHER"),
        ("in-steps-apart", "missing", "is no instance and no proof"),
        ("coarse-apart", "in-steps", "the protocol of 'coarse-apart' does not read TOGETHER"),
    ],
)
def test_an_option_that_the_protocol_does_not_read_needs_a_variant_with_finer_steps(
    needed: str, finer: str, says: str
) -> None:
    coarse = {"protocol": f"{_TOWERS}:Coarse"}
    entry = {
        "name": "coarse-rests-on",
        "claims": ["environment.TOGETHER"],
        "needed": {"FRESH": "stale", "TOGETHER": needed},
        "finer": {"TOGETHER": finer} if finer else {},
        "expect": {"every": "holds"},
    }
    above = _above(
        instance=[
            _instance("fresh") | coarse,
            _instance("stale", FRESH=False) | coarse,
            _instance("coarse-apart", TOGETHER=False) | coarse,
            _KEPT,
            _BROKEN,
        ],
        argument=[entry],
        **coarse,
    )
    (found,) = (one for one in Argument([above, _below()]).reliances("above") if "TOGETHER" in one.claim)
    assert (says in found.problem) if says else (found.problem == "")
    assert found.support == ("" if says else "in-steps-apart; with it, in finer steps: in-steps")


@pytest.mark.parametrize(
    ("proof", "says"),
    [
        ({}, ""),
        ({"protocol": f"{_TOWERS}:Coarse"}, "proves nothing of a variant of above"),
        ({"protocol": _BELOW}, "proves nothing of a variant of above"),
        ({"fails": {"above.in_order": "initiation"}}, "does not expect all claims to be proved"),
        ({"claims": ["above.in_order"]}, "does not expect all claims to be proved"),
        ({"expect": {"every": "refuted"}}, "does not expect all claims to be proved"),
        ({"protocol": f"{_TOWERS}:Apart"}, "drops TOGETHER"),
        ({"name": "another"}, "there is no entry 'in-steps-any-size'"),
    ],
)
def test_what_a_variant_does_without_is_proved_of_all_claims_of_it(proof: dict[str, Any], says: str) -> None:
    coarse = {"protocol": f"{_TOWERS}:Coarse"}
    whole = {"name": "in-steps-any-size", "protocol": f"{_TOWERS}:InSteps", "expect": {"every": "proved"}}
    entry = {
        "name": "coarse-rests-on",
        "claims": ["derived.in-steps-any-size"],
        "derived": {"in-steps-any-size": "The halves of a step are one."},
        "expect": {"every": "holds"},
    }
    above = _above(proof=[whole | proof], argument=[entry], **coarse)
    (found,) = (one for one in Argument([above, _below()]).reliances("above") if one.of_variant)
    assert (says in found.problem) if says else (found.problem == "")
    assert found.support == ("" if says else "in-steps-any-size")


@pytest.fixture(scope="module")
def rows() -> dict[str, LivenessRow]:
    return {row.claim: row for row in liveness(manifests().values())}


@pytest.mark.proof
def test_what_is_not_proved_is_judged_within_bounds_and_says_why(rows: dict[str, LivenessRow]) -> None:
    for row in rows.values():
        if not row.proofs:
            assert row.instances, row.claim
            assert row.reason, f"{row.claim}: its docstring says nothing of {BOUNDED!r}"


@pytest.mark.proof
def test_no_docstring_denies_what_is_proved(rows: dict[str, LivenessRow]) -> None:
    for row in rows.values():
        if row.proofs:
            name, _, method = row.claim.partition(".")
            protocol = resolve(manifests()[name].protocol)
            assert BOUNDED not in (inspect.getdoc(getattr(protocol, method)) or ""), row.claim


@pytest.mark.proof
def test_it_says_of_which_runs(rows: dict[str, LivenessRow]) -> None:
    assert rows["meta.a_change_ends"].finitely == ("faults",)
    assert rows["meta.a_request_ends"].finitely == ()


@pytest.mark.proof
def test_a_variant_proves_nothing_of_the_protocol() -> None:
    retries = manifests()["retries"]
    claim = "retries.a_retry_ends"
    assert [row.proofs for row in liveness([retries])] == [("retries-any-size",)]
    moved = [entry.model_copy(update={"protocol": f"{entry.protocol}Variant"}) for entry in retries.proof]
    (row,) = liveness([retries.model_copy(update={"proof": tuple(moved)})])
    assert row.claim == claim
    assert not row.proofs


@pytest.mark.proof
def test_an_entry_that_must_fail_proves_nothing() -> None:
    retries = manifests()["retries"]
    refuted = Expectation(every=Expected.REFUTED)
    entries = [entry.model_copy(update={"expect": refuted}) for entry in retries.proof]
    (row,) = liveness([retries.model_copy(update={"proof": tuple(entries)})])
    assert not row.proofs
    assert retries.properties[Kind.LEADS_TO] == (row.claim,)


@pytest.fixture(scope="module")
def argument() -> Argument:
    return Argument(manifests().values())


def test_the_document_shows_the_table(argument: Argument) -> None:
    assert f"\n{assumptions_text(argument)}\n" in (ROOT / "docs" / "assumptions.md").read_text(
        encoding="utf-8"
    )


def test_each_option_that_assumes_something_has_a_row(argument: Argument) -> None:
    rows = {(row.protocol, row.assumption): row for row in assumptions(argument)}
    for name in argument.manifests:
        for option in argument.spec(name).environment:
            assert rows[name, f"`{option}`"].known.startswith("needed: `")


def test_the_rows_of_one_protocol_are_a_part_of_all(argument: Argument) -> None:
    own = assumptions(argument, ("timetick",))
    assert {row.protocol for row in own} == {"timetick"}
    assert [row for row in assumptions(argument) if row.protocol == "timetick"] == own
    assert any(row.known == "derived: `timetick-takes-over-any-size` is without it" for row in own)
