"""Another solver answers the same queries, and some obligations must fail: who always agrees is found out."""

from dataclasses import replace
from pathlib import Path

import pytest
import z3

from tests.manifests import manifests
from tidemark.checks.cli.app import run
from tidemark.checks.prove import judge as module
from tidemark.checks.prove.judge import compared
from tidemark.checks.prove.proof import prove
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.manifest import ManifestError, Tier, load
from tidemark.models.symbolic import solve
from tidemark.models.symbolic.second import Opinion, compare, standard
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.spec.language.protocol import resolve

pytestmark = pytest.mark.proof

LOCKS = "tests.protocols_proof.locks"
ODD = "tests.protocols_proof.traps"


@pytest.mark.parametrize("name", [f"{LOCKS}:TicketLock", f"{ODD}:Flush", f"{ODD}:Signs"])
def test_both_solvers_agree(name):
    found = compared(ProofSubject(name))
    assert {item.query.result for item in found} == {"unsat"}
    agreed = [item for item in found if item.opinion is Opinion.AGREES]
    assert len(agreed) >= 0.8 * len(found) > 3
    assert all(item.opinion is not Opinion.CONTRADICTS for item in found)


def test_what_z3_writes_in_words_of_its_own():
    assert standard("(=> and (= x (_ Row.a Row.a)))") == "(=> true (= x Row.a))"
    assert standard("(and (_ is Row.a) or)") == "(and (_ is Row.a) false)"


def test_what_needs_the_second_pass_is_asked_too(monkeypatch):
    """Hardly any work in the first pass: all is left to the limit of the entry."""
    whole = compared(ProofSubject(f"{LOCKS}:TicketLock"))
    monkeypatch.setattr(module, "FIRST_S", 1e-6)
    assert len(compared(ProofSubject(f"{LOCKS}:TicketLock"), timeout_s=1e-6)) < len(whole)
    assert len(compared(ProofSubject(f"{LOCKS}:TicketLock"), timeout_s=20.0)) == len(whole)


def test_a_parameter_with_the_name_of_a_variable_can_be_read():
    """Z3 tells them apart by their types, SMT-LIB does not."""
    spec = resolve("tidemark.spec.allocation:Allocation").trace()
    named = {variable.name for variable in spec.variables}
    assert any(param.name in named for action in spec.actions for param in action.params)
    found = compared(ProofSubject("tidemark.spec.allocation:Allocation"))
    assert {item.opinion for item in found} == {Opinion.AGREES}


HEAD = """
name = "ticketlock"
protocol = "tests.protocols_proof.locks:TicketLock"
[properties]
invariant = ["ticketlock.one_inside"]
lemma = ["ticketlock.inside_is_called", "ticketlock.numbers_differ", "ticketlock.numbers_were_drawn"]
transition_invariant = ["ticketlock.called_in_order"]
reachable = ["ticketlock.two_wait"]
"""
LOCK = """
[proof.lock]
expect = { every = "proved" }
second_opinion = true
counts = { obligations = 19%s }
"""
SKIPS = """
[proof.skips]
protocol = "tests.protocols_proof.locks:SkipsNumbers"
expect = { every = "refuted" }
claims = []
counts = { obligations = 1 }
fails = { "ticketlock.called_in_order" = "%s" }
"""
PINNED = LOCK % ", agreed = 12, unanswered = 0"


def verified(folder: Path, entry: str) -> int:
    file = folder / "manifest.toml"
    file.write_text(HEAD + entry)
    return run(["verify", "--manifest", str(file), "--build", str(folder / "build"), "--jobs", "1"])


def test_agreement_is_pinned(tmp_path):
    assert verified(tmp_path, PINNED) == ExitCode.AS_EXPECTED


def test_agreement_that_drops_is_seen(tmp_path, monkeypatch, capsys):
    def one_unanswered(query):
        other = "unknown" if query.obligation == "consecution:enter:one_inside" else "unsat"
        return replace(compare(query), other=other)

    monkeypatch.setattr(module, "compare", one_unanswered)
    assert verified(tmp_path, PINNED) == ExitCode.VACUOUS_OR_UNPINNED
    said = " ".join(capsys.readouterr().out.split())
    assert "agreed: pinned 12, seen 11" in said
    assert "unanswered: pinned 0, seen 1" in said


def test_no_answer_at_all_is_no_agreement(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(module, "compare", lambda query: replace(compare(query), other="unknown"))
    assert verified(tmp_path, PINNED) == ExitCode.VACUOUS_OR_UNPINNED
    said = " ".join(capsys.readouterr().out.split())
    assert "second-opinion is inconclusive by prove on lock: cvc5 answers none of" in said


def test_agreement_must_be_pinned(tmp_path, capsys):
    assert verified(tmp_path, LOCK % "") == ExitCode.VACUOUS_OR_UNPINNED
    assert "agreed: not pinned; unanswered: not pinned" in " ".join(capsys.readouterr().out.split())


def test_a_missing_solver_is_red(tmp_path, monkeypatch):
    def missing(_query):
        raise ModuleNotFoundError("no cvc5", name="cvc5")

    monkeypatch.setattr(module, "compare", missing)
    assert verified(tmp_path, PINNED) == ExitCode.MISSING_TOOL


def test_a_contradiction_is_red(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(module, "compare", lambda query: replace(compare(query), other="sat"))
    assert verified(tmp_path, PINNED) == ExitCode.VACUOUS_OR_UNPINNED
    assert "is unsat for Z3 and sat for cvc5" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("manifest", manifests().values(), ids=manifests())
def test_all_that_is_proved_has_a_second_opinion_in_the_full_tier(manifest):
    """Each full-tier proof has it, and each fast proof has a full-tier entry of the same protocol."""
    entries = [entry for entry in manifest.proof if not entry.only_failing]
    asked = {entry.protocol for entry in entries if entry.tier is Tier.FULL and entry.second_opinion}
    assert {entry.protocol for entry in entries} == asked
    assert all(entry.second_opinion for entry in entries if entry.tier is Tier.FULL)


@pytest.mark.parametrize(
    ("step", "code", "words"),
    [
        ("step:leave", ExitCode.AS_EXPECTED, "1 refuted as expected"),
        ("step:draw", ExitCode.MISSING_REFUTATION, "step:draw:called_in_order"),
        ("step:sleep", ExitCode.BAD_INPUT, "no obligation 'step:sleep:called_in_order'"),
    ],
)
def test_an_obligation_must_fail_as_it_is_said(tmp_path, capsys, step, code, words):
    assert verified(tmp_path, SKIPS % step) == code
    assert words in " ".join(capsys.readouterr().out.split())


def test_a_prover_that_proves_everything_is_found_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(solve._Attempt, "_query", lambda _self, *_given: z3.unsat)
    assert verified(tmp_path, SKIPS % "step:leave") == ExitCode.MISSING_REFUTATION
    assert "step:leave:called_in_order" in capsys.readouterr().out


def test_a_solver_that_always_says_unsat_is_found_out(tmp_path, monkeypatch):
    monkeypatch.setattr(z3.Solver, "check", lambda _self, *_assumed: z3.unsat)
    assert verified(tmp_path, SKIPS % "step:leave") == ExitCode.MISSING_REFUTATION


def test_an_obligation_that_rests_on_a_failing_claim_fails_without_it():
    """It is proved from a claim that is not: what is shown is a state in which that one does not hold."""
    protocol = "tidemark.spec.paused.variants.other_rules:Leased"
    found = {one.obligation.name: one for one in prove(protocol).outcomes}
    lost = found["consecution:crash:rows_that_were_read_are_not_lost"]
    assert lost.missing == {"paused.flushed_segments_are_complete"}
    assert lost.model is not None
    assert not lost.proved


def test_a_proof_of_nothing_is_refused(tmp_path):
    file = tmp_path / "manifest.toml"
    whole = HEAD + SKIPS % "step:leave"
    file.write_text("\n".join(line for line in whole.splitlines() if not line.startswith("fails")))
    with pytest.raises(ManifestError, match="has no claims"):
        load(file)


@pytest.mark.parametrize("manifest", manifests().values(), ids=manifests())
def test_every_protocol_has_one_in_the_fast_tier(manifest):
    quick = [entry for entry in manifest.proof if entry.tier is Tier.FAST and entry.fails]
    assert quick or not manifest.proof
