"""A claim that follows from others in the same state needs no induction; a circle proves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.checks.cli.app import run
from tidemark.checks.prove.answers import Answers
from tidemark.checks.prove.judge import describe
from tidemark.checks.prove.minimise import implied_claims
from tidemark.checks.prove.proof import Proof, prove
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.reuse import Reuse
from tidemark.models.symbolic.implied import ImpliedError, in_order
from tidemark.models.symbolic.subject import ProofSubject

pytestmark = pytest.mark.proof

COUNTERS = "tests.protocols_proof.implied"
FIVE: dict[str, tuple[str, ...]] = {"counter.at_most_five": ("counter.at_most_three",)}
BOTH: dict[str, tuple[str, ...]] = {"counter.below_seven": ("counter.at_most_five",), **FIVE}


def proof(name: str, implied: dict[str, tuple[str, ...]], answers: Answers | None = None) -> Proof:
    return prove(ProofSubject(f"{COUNTERS}:{name}", implied=implied), answers=answers)


def names(found: Proof) -> list[str]:
    return [one.obligation.name for one in found.outcomes]


def test_one_obligation_in_place_of_the_induction():
    found = proof("Counter", BOTH)
    assert names(found) == [
        "implied:at_most_five",
        "implied:below_seven",
        "initiation:at_most_three",
        "consecution:step:at_most_three",
    ]
    assert not found.open()
    assert len(names(proof("Counter", {}))) == 6


def test_it_rests_on_what_implies_it_and_on_nothing_else():
    found = proof("Counter", {"counter.at_most_three": ("counter.at_most_five",)})
    (broken,) = found.open()
    assert broken.obligation.name == "implied:at_most_three"
    assert broken.model is not None
    assert broken.model.step is None
    assert "at_most_three" in describe(broken)


def test_what_implies_it_must_be_proved():
    found = proof("Endless", BOTH)
    assert {one.obligation.claim for one in found.open()} == {
        "counter.at_most_three",
        "counter.at_most_five",
        "counter.below_seven",
    }
    lost = {one.obligation.name: one.missing for one in found.open()}
    assert lost["implied:at_most_five"] == {"counter.at_most_three"}


def test_a_circle_of_two_claims_is_refused():
    """Each implies the other, and both are false: without the order both would be proved."""
    circle: dict[str, tuple[str, ...]] = {
        "counter.at_most_five": ("counter.below_six",),
        "counter.below_six": ("counter.at_most_five",),
    }
    with pytest.raises(ImpliedError, match=r"a circle: each of counter.at_most_five, counter.below_six"):
        proof("Circle", circle)


def test_one_of_the_two_alone_takes_the_other_away():
    found = proof("Circle", {"counter.below_six": ("counter.at_most_five",)})
    open_claims = {one.obligation.claim for one in found.open()}
    assert {"counter.at_most_five", "counter.below_six"} <= open_claims


@pytest.mark.parametrize(
    ("implied", "says"),
    [
        ({"a": ("a",)}, "a circle"),
        ({"a": ("b",), "b": ("c",), "c": ("a",)}, "a circle"),
        ({"a": ("d",)}, "'d' is no invariant or lemma"),
        ({"d": ("a",)}, "'d' is no invariant or lemma"),
        ({"a": ()}, "has no claims"),
    ],
)
def test_what_is_no_order(implied, says):
    with pytest.raises(ImpliedError, match=says):
        in_order(implied, claims=["a", "b", "c"])


def test_the_order_is_that_of_what_rests_on_what():
    given = {"a": ("b", "c"), "b": ("c",)}
    assert list(in_order(given, claims=["a", "b", "c"])) == ["b", "a"]


def test_answers_that_are_kept_serve_only_with_the_same_claims(tmp_path):
    reuse = Reuse(folder=tmp_path, code="this", files=frozenset(), begun=0.0, read=True)
    first = proof("Counter", FIVE, Answers(reuse, "one"))
    assert not first.open()
    again = proof("Counter", FIVE, Answers(reuse, "one"))
    assert again.taken_over > 0
    other = proof("Counter", {"counter.at_most_five": ("counter.below_seven",)}, Answers(reuse, "one"))
    lost = {one.obligation.name: one.proved for one in other.outcomes}
    assert not lost["implied:at_most_five"]


def test_what_is_implied_is_found_without_a_circle():
    found = implied_claims(ProofSubject(f"{COUNTERS}:Counter"))
    assert set(found) == {"counter.below_seven", "counter.at_most_five"}
    assert not proof("Counter", found).open()
    subject = ProofSubject(f"{COUNTERS}:Circle")
    circle = implied_claims(subject)
    assert "counter.at_most_three" not in circle
    in_order(circle, claims=[prop.id for prop in subject.spec.properties])


MANIFEST = """
name = "counter"
protocol = "tests.protocols_proof.implied:{name}"
[properties]
invariant = ["counter.at_most_three", "counter.at_most_five"{more}]
lemma = ["counter.below_seven"]
[proof.any]
expect = {{ every = "proved" }}
counts = {counts}
[proof.any.implied]
{implied}
"""


def verified(folder: Path, implied: str, *, name: str = "Counter", counts: str, more: str = "") -> int:
    file = folder / "manifest.toml"
    file.write_text(MANIFEST.format(name=name, implied=implied, counts=counts, more=more))
    return run(["verify", "--manifest", str(file), "--build", str(folder / "build"), "--jobs", "1"])


def test_the_gate_counts_what_is_implied(tmp_path):
    implied = '"counter.at_most_five" = ["counter.at_most_three"]'
    assert verified(tmp_path, implied, counts="{ obligations = 5, implied = 1 }") == ExitCode.AS_EXPECTED


def test_another_number_of_them_is_red(tmp_path):
    implied = '"counter.at_most_five" = ["counter.at_most_three"]'
    code = verified(tmp_path, implied, counts="{ obligations = 5, implied = 2 }")
    assert code == ExitCode.VACUOUS_OR_UNPINNED


def test_what_is_not_implied_is_red(tmp_path, capsys):
    implied = '"counter.at_most_three" = ["counter.at_most_five"]'
    assert verified(tmp_path, implied, counts="{ obligations = 4 }") == ExitCode.INCONCLUSIVE
    said = " ".join(capsys.readouterr().out.split())
    assert "initial state" not in said
    assert "not implied by counter.at_most_five" in said


def test_a_circle_in_a_manifest_is_an_error(tmp_path, capsys):
    implied = '"counter.at_most_five" = ["counter.below_six"]\n"counter.below_six" = ["counter.at_most_five"]'
    more = ', "counter.below_six"'
    code = verified(tmp_path, implied, name="Circle", counts="{ obligations = 1 }", more=more)
    assert code == ExitCode.BAD_INPUT
    assert "a circle" in capsys.readouterr().out
