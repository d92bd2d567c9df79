"""An obligation that is the same, word for word, is not proved again; an implied claim needs no induction."""

import time
from collections.abc import Callable
from dataclasses import replace
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

LOCKS = "tests.protocols_proof.locks"


@pytest.fixture
def reuse(tmp_path: Path) -> Reuse:
    return Reuse(folder=tmp_path, code="this", files=frozenset(), begun=time.time(), read=True)


def proof(protocol: str, reuse: Reuse, *, name: str = "locks", others: tuple[str, ...] = ()) -> Proof:
    return prove(f"{LOCKS}:{protocol}", answers=Answers(reuse, name, others=others))


def by_name(found: Proof) -> dict[str, tuple[bool, frozenset[str]]]:
    """What matters of each obligation: is it proved, and what is missing."""
    return {one.obligation.name: (one.proved, one.missing) for one in found.outcomes}


def solved(found: Proof) -> int:
    """Obligations for which a solver is needed."""
    return sum(not one.obligation.trivial for one in found.outcomes)


def test_the_same_again_is_taken_over(reuse: Reuse) -> None:
    first, second = proof("TicketLock", reuse), proof("TicketLock", reuse)
    assert (first.taken_over, second.taken_over) == (0, solved(second))
    assert solved(second) > 8
    found = [replace(one.answer, seconds=0) for one in first.outcomes]
    assert found == [replace(one.answer, seconds=0) for one in second.outcomes]


def test_only_the_obligations_of_a_changed_action_are_proved_again(reuse: Reuse) -> None:
    proof("TicketLock", reuse)
    changed = proof("RushedLock", reuse)
    hard = [one.obligation for one in changed.outcomes if not one.obligation.trivial]
    assert "enter" in {one.action for one in hard}
    assert changed.taken_over == len([one for one in hard if one.action != "enter"])


def test_a_claim_that_is_proved_no_more_takes_away_what_used_it(reuse: Reuse) -> None:
    before = {one.obligation.name: one for one in proof("TicketLock", reuse).outcomes}
    name = "consecution:leave:one_inside"
    assert before[name].proved
    assert "ticketlock.inside_is_called" in before[name].answer.used
    changed = by_name(proof("RushedLock", reuse))
    assert not changed["consecution:enter:inside_is_called"][0]
    assert changed == by_name(prove(f"{LOCKS}:RushedLock"))


def test_a_changed_lemma_is_in_the_key_of_what_may_use_it(reuse: Reuse) -> None:
    proof("TicketLock", reuse)
    assert not by_name(proof("LooselyNumbered", reuse))["consecution:draw:numbers_differ"][0]


def test_lemmas_that_were_not_used_do_not_matter(reuse: Reuse) -> None:
    """Two lemmas more: the others' answers serve, and only the obligations of the new ones are proved."""
    first = proof("TicketLock", reuse)
    more = proof("Talkative", reuse)
    assert more.taken_over == solved(first)
    assert by_name(more) == by_name(prove(f"{LOCKS}:Talkative"))


def test_a_lemma_that_was_used_must_be_there_and_say_the_same(reuse: Reuse) -> None:
    before = {one.obligation.name: one for one in proof("TicketLock", reuse).outcomes}
    name = "consecution:enter:one_inside"
    assert "ticketlock.numbers_differ" in before[name].answer.used
    without = proof("WithoutLemma", reuse)
    assert not by_name(without)[name][0]
    assert 0 < without.taken_over < solved(without)
    assert by_name(without) == by_name(prove(f"{LOCKS}:WithoutLemma"))


def test_another_effect_of_a_step_is_another_question(reuse: Reuse) -> None:
    """Guards, claims and variables are the same, and so is what was used."""
    traps = "tests.protocols_proof.traps"
    first = prove(f"{traps}:Switches", answers=Answers(reuse, "switches"))
    assert not first.open()
    assert solved(first) == 1
    second = prove(f"{traps}:OtherSwitches", answers=Answers(reuse, "switches"))
    assert second.taken_over == 0
    assert [one.obligation.name for one in second.open()] == ["consecution:move:one_is_off"]


def test_answers_of_another_proof_serve_a_variant(reuse: Reuse) -> None:
    proof("TicketLock", reuse)
    asked = {"name": "rushed", "others": ("locks", "absent")}
    assert proof("RushedLock", reuse, name="rushed").taken_over == 0
    changed = proof("RushedLock", reuse, **asked)  # type: ignore[arg-type]
    assert changed.taken_over > 8
    assert by_name(changed) == by_name(prove(f"{LOCKS}:RushedLock"))


def test_more_variables_may_be_declared_and_none_may_be_missing(reuse: Reuse) -> None:
    first = proof("TicketLock", reuse)
    assert proof("CountingLock", reuse).taken_over == solved(first)
    again = proof("TicketLock", reuse)
    assert again.taken_over == 0  # these answers assume the type of a variable that is not there


def test_a_fresh_run_uses_what_it_has_proved_itself_and_another_code_nothing(reuse: Reuse) -> None:
    first, second = replace(reuse, read=False, run="a"), replace(reuse, read=False, run="b")
    known = solved(proof("TicketLock", first))
    assert proof("TicketLock", first).taken_over == known
    assert proof("TicketLock", second).taken_over == 0
    assert proof("TicketLock", replace(reuse, code="another")).taken_over == 0
    assert proof("TicketLock", replace(reuse, read=False)).taken_over == 0


def test_what_is_not_proved_is_not_kept(reuse: Reuse) -> None:
    first, again = proof("RushedLock", reuse), proof("RushedLock", reuse)
    open_claims = {one.obligation.name for one in first.open()}
    assert open_claims
    assert open_claims == {one.obligation.name for one in again.open()}
    assert again.taken_over < solved(again)


def test_a_solver_that_gave_up_is_asked_again(reuse: Reuse) -> None:
    for _ in range(2):
        found = prove(f"{LOCKS}:TicketLock", timeout_s=1e-6, answers=Answers(reuse, "hasty"))
        assert {one.answer.status for one in found.open()} == {"unknown"}
        assert found.taken_over == 0


def test_nothing_is_kept_for_code_that_changed_while_it_was_loaded(reuse: Reuse, tmp_path: Path) -> None:
    source = tmp_path / "code.py"
    source.write_text("")
    proof("TicketLock", replace(reuse, files=frozenset({source}), begun=time.time() - 60))
    assert proof("TicketLock", reuse).taken_over == 0


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-9], lambda text: text.replace("answers", "answerz"), lambda _: "x"]
)
def test_a_damaged_file_counts_as_none(reuse: Reuse, damage: Callable[[str], str]) -> None:
    proof("TicketLock", reuse)
    (path,) = reuse.folder.glob("*.json")
    path.write_text(damage(path.read_text()))
    assert proof("TicketLock", reuse).taken_over == 0


COUNTERS = "tests.protocols_proof.implied"
FIVE: dict[str, tuple[str, ...]] = {"counter.at_most_five": ("counter.at_most_three",)}
BOTH: dict[str, tuple[str, ...]] = {"counter.below_seven": ("counter.at_most_five",), **FIVE}


def implied_proof(name: str, implied: dict[str, tuple[str, ...]], answers: Answers | None = None) -> Proof:
    return prove(ProofSubject(f"{COUNTERS}:{name}", implied=implied), answers=answers)


def names(found: Proof) -> list[str]:
    return [one.obligation.name for one in found.outcomes]


@pytest.mark.proof
def test_one_obligation_in_place_of_the_induction():
    found = implied_proof("Counter", BOTH)
    assert names(found) == [
        "implied:at_most_five",
        "implied:below_seven",
        "initiation:at_most_three",
        "consecution:step:at_most_three",
    ]
    assert not found.open()
    assert len(names(implied_proof("Counter", {}))) == 6


@pytest.mark.proof
def test_it_rests_on_what_implies_it_and_on_nothing_else():
    found = implied_proof("Counter", {"counter.at_most_three": ("counter.at_most_five",)})
    (broken,) = found.open()
    assert broken.obligation.name == "implied:at_most_three"
    assert broken.model is not None
    assert broken.model.step is None
    assert "at_most_three" in describe(broken)


@pytest.mark.proof
def test_what_implies_it_must_be_proved():
    found = implied_proof("Endless", BOTH)
    seen = {one.obligation.claim for one in found.open()}
    assert seen == {"counter.at_most_three", "counter.at_most_five", "counter.below_seven"}
    lost = {one.obligation.name: one.missing for one in found.open()}
    assert lost["implied:at_most_five"] == {"counter.at_most_three"}


@pytest.mark.proof
def test_one_of_the_two_alone_takes_the_other_away():
    found = implied_proof("Circle", {"counter.below_six": ("counter.at_most_five",)})
    open_claims = {one.obligation.claim for one in found.open()}
    assert {"counter.at_most_five", "counter.below_six"} <= open_claims


@pytest.mark.proof
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


@pytest.mark.proof
def test_the_order_is_that_of_what_rests_on_what():
    given = {"a": ("b", "c"), "b": ("c",)}
    assert list(in_order(given, claims=["a", "b", "c"])) == ["b", "a"]


@pytest.mark.proof
def test_answers_that_are_kept_serve_only_with_the_same_claims(tmp_path):
    reuse = Reuse(folder=tmp_path, code="this", files=frozenset(), begun=0.0, read=True)
    first = implied_proof("Counter", FIVE, Answers(reuse, "one"))
    assert not first.open()
    again = implied_proof("Counter", FIVE, Answers(reuse, "one"))
    assert again.taken_over > 0
    other = implied_proof(
        "Counter", {"counter.at_most_five": ("counter.below_seven",)}, Answers(reuse, "one")
    )
    lost = {one.obligation.name: one.proved for one in other.outcomes}
    assert not lost["implied:at_most_five"]


@pytest.mark.proof
def test_what_is_implied_is_found_without_a_circle():
    found = implied_claims(ProofSubject(f"{COUNTERS}:Counter"))
    assert set(found) == {"counter.below_seven", "counter.at_most_five"}
    assert not implied_proof("Counter", found).open()
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


@pytest.mark.proof
@pytest.mark.parametrize(("count", "code"), [(1, ExitCode.AS_EXPECTED), (2, ExitCode.VACUOUS_OR_UNPINNED)])
def test_the_gate_counts_what_is_implied(tmp_path, count, code):
    implied = '"counter.at_most_five" = ["counter.at_most_three"]'
    assert verified(tmp_path, implied, counts=f"{{ obligations = 5, implied = {count} }}") == code


@pytest.mark.proof
def test_what_is_not_implied_is_red(tmp_path, capsys):
    implied = '"counter.at_most_three" = ["counter.at_most_five"]'
    assert verified(tmp_path, implied, counts="{ obligations = 4 }") == ExitCode.INCONCLUSIVE
    said = " ".join(capsys.readouterr().out.split())
    assert "initial state" not in said
    assert "not implied by counter.at_most_five" in said


@pytest.mark.proof
def test_a_circle_in_a_manifest_is_an_error(tmp_path, capsys):
    """Each implies the other, and both are false: without the order both would be proved."""
    implied = '"counter.at_most_five" = ["counter.below_six"]\n"counter.below_six" = ["counter.at_most_five"]'
    more = ', "counter.below_six"'
    code = verified(tmp_path, implied, name="Circle", counts="{ obligations = 1 }", more=more)
    assert code == ExitCode.BAD_INPUT
    said = " ".join(capsys.readouterr().out.split())
    assert "a circle: each of counter.at_most_five, counter.below_six" in said
