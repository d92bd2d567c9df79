"""The commands about proofs: what they print, and their exit statuses."""

from __future__ import annotations

import pytest

from tidemark.checks.cli.app import run
from tidemark.checks.prove.judge import JUDGE
from tidemark.checks.verdicts.errors import MissingToolError
from tidemark.checks.verdicts.exit_codes import ExitCode

pytestmark = pytest.mark.proof

LOCKS = "tests.protocols_proof.locks"
ODD = "tests.protocols_proof.odd"


def test_bounded_runs(capsys):
    command = ["prove", f"{LOCKS}:SameNumber", "--claim", "one_inside", "--bmc"]
    assert run([*command, "3"]) == ExitCode.AS_EXPECTED
    text = capsys.readouterr().out
    assert "one_inside: holds: runs of at most 3 steps, any number of Process and unbounded Ticket" in text
    assert "proved" not in text
    assert run([*command, "4"]) == ExitCode.UNEXPECTED_REFUTATION
    text = capsys.readouterr().out
    assert "one_inside: refuted: a run of 4 steps" in text
    assert "4. enter(p=" in text


def test_longer_induction(capsys):
    assert run(["prove", f"{ODD}:Cycle", "--k-induction", "2"]) == ExitCode.INCONCLUSIVE
    assert "not inductive over 2 steps" in capsys.readouterr().out
    assert run(["prove", f"{ODD}:Cycle", "--k-induction", "3"]) == ExitCode.AS_EXPECTED
    assert "proved: by induction over 3 steps, for unbounded Value" in capsys.readouterr().out


def test_a_limit_for_proofs_of_a_manifest(tmp_path, monkeypatch, capsys):
    file = tmp_path / "cycle.toml"
    file.write_text(
        f'name = "cycle"\nprotocol = "{ODD}:Cycle"\n[properties]\ninvariant = ["cycle.never_five"]\n'
        f'[proof.any]\nprotocol = "{ODD}:Cycle"\ntimeout_s = 7\nexpect = {{ every = "proved" }}\n'
    )
    seen = []

    def judge(self, entry, context):
        seen.append(entry.timeout_s)
        raise MissingToolError("nothing is judged", remedy="none")

    monkeypatch.setattr(type(JUDGE), "run", judge)
    command = ["prove", "any", "--manifest", str(file), "--build", str(tmp_path / "build")]
    for more in ([], ["--seconds", "0.5"]):
        assert run([*command, *more]) == ExitCode.MISSING_TOOL
    assert seen == [7, 0.5]


def test_suggested_lemmas(capsys):
    status = run(["suggest", f"{ODD}:Flush", "--without", "checkpoint_is_consumed"])
    text = capsys.readouterr().out
    assert status == ExitCode.AS_EXPECTED
    assert "complete" in text


def test_suggestions_to_paste(capsys):
    status = run(["suggest", f"{ODD}:Flush", "--without", "rows_are_consumed"])
    text = capsys.readouterr().out
    assert status == ExitCode.AS_EXPECTED
    assert "    @lemma()\n    def suggested_" in text
    assert "with these lemmas every claim is proved for any size" in text


def test_no_suggestion_is_inconclusive(capsys):
    assert run(["suggest", f"{ODD}:Even"]) == ExitCode.INCONCLUSIVE
    text = capsys.readouterr().out
    assert "no template helps cycle.never_five" in text
    assert "still open: consecution:tick:never_five" in text


def test_redundant_lemmas(capsys):
    assert run(["suggest", f"{LOCKS}:Talkative", "--redundant"]) == ExitCode.AS_EXPECTED
    assert "redundant: ticketlock.some_number" in capsys.readouterr().out
    assert run(["suggest", f"{LOCKS}:WithoutLemma", "--redundant"]) == ExitCode.INCONCLUSIVE


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["suggest", f"{LOCKS}:TicketLock", "--without", "numbers"], "no lemma 'numbers'"),
        (["prove", f"{LOCKS}:TicketLock", "--bmc", "2", "--claim", "two"], "no claim 'two'"),
        (["suggest", "nothing-like-this"], "no check matches 'nothing-like-this'"),
    ],
)
def test_wrong_names_are_named(arguments, wrong, capsys):
    assert run(arguments) == ExitCode.BAD_INPUT
    assert wrong in capsys.readouterr().err
