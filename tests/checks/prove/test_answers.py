"""An obligation that is the same, word for word, is not proved again, and nothing else is taken over."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tidemark.checks.prove.answers import Answers
from tidemark.checks.prove.proof import Proof, prove
from tidemark.checks.verdicts.reuse import Reuse

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
    assert [replace(one.answer, seconds=0) for one in first.outcomes] == [
        replace(one.answer, seconds=0) for one in second.outcomes
    ]


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
    changed = {one.obligation.name: one for one in proof("RushedLock", reuse).outcomes}
    assert not changed["consecution:enter:inside_is_called"].proved
    fresh = {one.obligation.name: one for one in prove(f"{LOCKS}:RushedLock").outcomes}
    assert {name: (one.proved, one.missing) for name, one in changed.items()} == {
        name: (one.proved, one.missing) for name, one in fresh.items()
    }


def test_a_changed_lemma_is_in_the_key_of_what_may_use_it(reuse: Reuse) -> None:
    proof("TicketLock", reuse)
    weaker = {one.obligation.name: one for one in proof("LooselyNumbered", reuse).outcomes}
    assert not weaker["consecution:draw:numbers_differ"].proved


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


def test_a_fresh_run_uses_what_it_has_proved_itself(reuse: Reuse) -> None:
    first, second = replace(reuse, read=False, run="a"), replace(reuse, read=False, run="b")
    known = solved(proof("TicketLock", first))
    assert proof("TicketLock", first).taken_over == known
    assert proof("TicketLock", second).taken_over == 0
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


def test_another_code_and_a_fresh_run_read_nothing(reuse: Reuse) -> None:
    proof("TicketLock", reuse)
    assert proof("TicketLock", replace(reuse, read=False)).taken_over == 0
    assert proof("TicketLock", replace(reuse, code="another")).taken_over == 0


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
