"""Obligations that must fail: a prover that proves everything turns the gate red."""

from __future__ import annotations

from pathlib import Path

import pytest
import z3

from tidemark.checks.cli.app import run
from tidemark.checks.prove.proof import prove
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.manifest import ManifestError, Tier, load, manifest_files
from tidemark.models.symbolic import solve

pytestmark = pytest.mark.proof

LOCKS = "tests.protocols_proof.locks"
MANIFEST = """
name = "ticketlock"
protocol = "{locks}:TicketLock"
[properties]
invariant = ["ticketlock.one_inside"]
lemma = ["ticketlock.inside_is_called", "ticketlock.numbers_differ", "ticketlock.numbers_were_drawn"]
transition_invariant = ["ticketlock.called_in_order"]
reachable = ["ticketlock.two_wait"]
[proof.skips]
protocol = "{locks}:SkipsNumbers"
expect = {{ every = "refuted" }}
claims = []
counts = {{ obligations = 1 }}
fails = {{ "ticketlock.called_in_order" = "{step}" }}
"""


def verified(folder: Path, step: str = "step:leave") -> int:
    file = folder / "manifest.toml"
    file.write_text(MANIFEST.format(locks=LOCKS, step=step))
    return run(["verify", "--manifest", str(file), "--build", str(folder / "build"), "--jobs", "1"])


def test_an_obligation_fails_as_it_must(tmp_path, capsys):
    assert verified(tmp_path) == ExitCode.AS_EXPECTED
    assert "1 refuted as expected" in capsys.readouterr().out


def test_a_prover_that_proves_everything_is_found_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(solve._Attempt, "_query", lambda _self, *_given: z3.unsat)
    assert verified(tmp_path) == ExitCode.MISSING_REFUTATION
    assert "step:leave:called_in_order" in capsys.readouterr().out


def test_a_solver_that_always_says_unsat_is_found_out(tmp_path, monkeypatch):
    monkeypatch.setattr(z3.Solver, "check", lambda _self, *_assumed: z3.unsat)
    assert verified(tmp_path) == ExitCode.MISSING_REFUTATION


def test_an_obligation_that_holds_is_no_failing_one(tmp_path):
    assert verified(tmp_path, step="step:draw") == ExitCode.MISSING_REFUTATION


def test_an_obligation_that_rests_on_a_failing_claim_fails_without_it():
    """It is proved from a claim that is not: what is shown is a state in which that one does not hold."""
    protocol = "tidemark.spec.paused.variants.other_rules:Leased"
    found = {one.obligation.name: one for one in prove(protocol).outcomes}
    lost = found["consecution:crash:rows_that_were_read_are_not_lost"]
    assert lost.missing == {"paused.flushed_segments_are_complete"}
    assert lost.model is not None
    assert not lost.proved


def test_an_obligation_that_there_is_not(tmp_path, capsys):
    assert verified(tmp_path, step="step:sleep") == ExitCode.BAD_INPUT
    assert "no obligation 'step:sleep:called_in_order'" in " ".join(capsys.readouterr().out.split())


def test_a_proof_of_nothing_is_refused(tmp_path):
    file = tmp_path / "manifest.toml"
    whole = MANIFEST.format(locks=LOCKS, step="step:leave")
    file.write_text("\n".join(line for line in whole.splitlines() if not line.startswith("fails")))
    with pytest.raises(ManifestError, match="has no claims"):
        load(file)


@pytest.mark.parametrize("path", manifest_files(), ids=lambda path: path.parent.name)
def test_every_protocol_has_one_in_the_fast_tier(path):
    manifest = load(path)
    quick = [entry for entry in manifest.proof if entry.tier is Tier.FAST and entry.fails]
    assert quick or not manifest.proof
