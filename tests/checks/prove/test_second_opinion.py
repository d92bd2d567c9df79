"""Another solver answers the same queries: agreement is counted, a contradiction is a failure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tidemark.checks.cli.app import run
from tidemark.checks.prove import judge as module
from tidemark.checks.prove.judge import compared, second_opinion
from tidemark.checks.verdicts.errors import MissingToolError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.manifest import Expectation, Expected, Manifest, ProofEntry, Tier, load, manifest_files
from tidemark.models.symbolic.second import Opinion, compare, standard
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.spec.language.protocol import resolve

pytestmark = pytest.mark.proof

LOCKS = "tests.protocols_proof.locks"
ODD = "tests.protocols_proof.odd"


def judged(protocol: str):
    properties: dict[Any, Any] = {}
    for prop in resolve(protocol).trace().properties:
        properties.setdefault(prop.kind, []).append(prop.id)
    expect = Expectation(every=Expected.PROVED)
    entry = ProofEntry(name="proof", protocol=protocol, expect=expect, second_opinion=True)
    manifest = Manifest(name="test", protocol=protocol, properties=properties, proof=(entry,))
    return second_opinion(entry, Context(manifest=manifest), judge="prove")


@pytest.mark.parametrize("name", [f"{LOCKS}:TicketLock", f"{ODD}:Flush", f"{ODD}:Signs"])
def test_both_solvers_agree(name):
    found = compared(ProofSubject(name))
    assert {item.query.result for item in found} == {"unsat"}
    agreed = [item for item in found if item.opinion is Opinion.AGREES]
    assert len(agreed) >= 0.8 * len(found) > 3
    assert all(item.opinion is not Opinion.CONTRADICTS for item in found)


def test_agreement_is_counted():
    verdict = judged(f"{LOCKS}:TicketLock")
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.counts["queries"] == verdict.counts["agreed"] + verdict.counts["unanswered"]


def test_a_planted_contradiction_is_a_failure(monkeypatch):
    """The first solver is made to say sat where the other one says unsat."""

    def planted(queries):
        return [replace(query, result="sat") for query in queries if query.result == "unsat"]

    monkeypatch.setattr(module, "decisive", planted)
    verdict = judged(f"{LOCKS}:TicketLock")
    assert verdict.outcome is Outcome.REFUTED
    assert "is sat for Z3 and unsat for cvc5" in verdict.reason


def test_no_answer_at_all_is_no_agreement(monkeypatch):
    monkeypatch.setattr(module, "compare", lambda query: replace(compare(query), other="unknown"))
    verdict = judged(f"{LOCKS}:TicketLock")
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "answers none of" in verdict.reason


def test_a_missing_solver_is_a_missing_tool(monkeypatch):
    def missing(_query):
        raise ModuleNotFoundError("no cvc5", name="cvc5")

    monkeypatch.setattr(module, "compare", missing)
    with pytest.raises(MissingToolError, match="cvc5"):
        compared(ProofSubject(f"{LOCKS}:TicketLock"))


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


MANIFEST = """
name = "ticketlock"
protocol = "tests.protocols_proof.locks:TicketLock"
[properties]
invariant = ["ticketlock.one_inside"]
lemma = ["ticketlock.inside_is_called", "ticketlock.numbers_differ", "ticketlock.numbers_were_drawn"]
transition_invariant = ["ticketlock.called_in_order"]
reachable = ["ticketlock.two_wait"]
[proof.lock]
expect = {{ every = "proved" }}
second_opinion = true
counts = {{ obligations = 19{agreement} }}
"""


def verified(folder: Path, agreement: str) -> int:
    file = folder / "manifest.toml"
    file.write_text(MANIFEST.format(agreement=agreement))
    return run(["verify", "--manifest", str(file), "--build", str(folder / "build"), "--jobs", "1"])


def test_agreement_is_pinned(tmp_path):
    assert verified(tmp_path, ", agreed = 12, unanswered = 0") == ExitCode.AS_EXPECTED


def test_agreement_that_drops_is_seen(tmp_path, monkeypatch, capsys):
    def one_unanswered(query):
        other = "unknown" if query.obligation == "consecution:enter:one_inside" else "unsat"
        return replace(compare(query), other=other)

    monkeypatch.setattr(module, "compare", one_unanswered)
    assert verified(tmp_path, ", agreed = 12, unanswered = 0") == ExitCode.VACUOUS_OR_UNPINNED
    said = " ".join(capsys.readouterr().out.split())
    assert "agreed: pinned 12, seen 11" in said
    assert "unanswered: pinned 0, seen 1" in said


def test_agreement_must_be_pinned(tmp_path, capsys):
    assert verified(tmp_path, "") == ExitCode.VACUOUS_OR_UNPINNED
    assert "agreed: not pinned; unanswered: not pinned" in " ".join(capsys.readouterr().out.split())


def test_a_missing_solver_is_red(tmp_path, monkeypatch):
    def missing(_query):
        raise ModuleNotFoundError("no cvc5", name="cvc5")

    monkeypatch.setattr(module, "compare", missing)
    assert verified(tmp_path, ", agreed = 12, unanswered = 0") == ExitCode.MISSING_TOOL


def test_a_contradiction_is_red(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "compare", lambda query: replace(compare(query), other="sat"))
    assert verified(tmp_path, ", agreed = 12, unanswered = 0") == ExitCode.VACUOUS_OR_UNPINNED


@pytest.mark.parametrize("path", manifest_files(), ids=lambda path: path.parent.name)
def test_all_that_is_proved_has_a_second_opinion_in_the_full_tier(path):
    """Each full-tier proof has it, and each fast proof has a full-tier entry of the same protocol."""
    entries = [entry for entry in load(path).proof if not entry.only_failing]
    asked = {entry.protocol for entry in entries if entry.tier is Tier.FULL and entry.second_opinion}
    assert {entry.protocol for entry in entries} == asked
    assert all(entry.second_opinion for entry in entries if entry.tier is Tier.FULL)
