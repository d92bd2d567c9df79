"""Commands on proofs and exports: what they print, their exit statuses, their manifests, their help."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.markup import render

from tests.checks.prove.test_second_opinion import HEAD
from tidemark.checks.cli import app as cli
from tidemark.checks.cli.app import run
from tidemark.checks.cli.commands import application
from tidemark.checks.cli.run import chosen_tasks, kept_of
from tidemark.checks.gate.registry import registry
from tidemark.checks.gate.settings import Settings
from tidemark.checks.prove.judge import JUDGE
from tidemark.checks.verdicts.errors import MissingToolError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.manifest import PinError, Tier

LOCKS = "tests.protocols_proof.locks"
ODD = "tests.protocols_proof.traps"


@pytest.mark.proof
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


@pytest.mark.proof
def test_longer_induction(capsys):
    assert run(["prove", f"{ODD}:Cycle", "--k-induction", "2"]) == ExitCode.INCONCLUSIVE
    assert "not inductive over 2 steps" in capsys.readouterr().out
    assert run(["prove", f"{ODD}:Cycle", "--k-induction", "3"]) == ExitCode.AS_EXPECTED
    assert "proved: by induction over 3 steps, for unbounded Value" in capsys.readouterr().out


@pytest.mark.proof
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


@pytest.mark.proof
def test_suggestions_to_paste(capsys):
    status = run(["suggest", f"{ODD}:Flush", "--without", "rows_are_consumed"])
    text = capsys.readouterr().out
    assert status == ExitCode.AS_EXPECTED
    assert "    @lemma()\n    def suggested_" in text
    assert "with these lemmas every claim is proved for any size" in text


@pytest.mark.proof
def test_no_suggestion_is_inconclusive(capsys):
    assert run(["suggest", f"{ODD}:Even"]) == ExitCode.INCONCLUSIVE
    text = capsys.readouterr().out
    assert "no template helps cycle.never_five" in text
    assert "still open: consecution:tick:never_five" in text


@pytest.mark.proof
def test_redundant_lemmas(capsys):
    assert run(["suggest", f"{LOCKS}:Talkative", "--redundant"]) == ExitCode.AS_EXPECTED
    assert "redundant: ticketlock.some_number" in capsys.readouterr().out
    assert run(["suggest", f"{LOCKS}:WithoutLemma", "--redundant"]) == ExitCode.INCONCLUSIVE


LIGHTS = "tests.protocols.lights:Lights"
SIZE = ["--bound", "Lamp=2", "--bound", "Turn=3"]


def test_a_protocol_with_bounds_and_constants(capsys):
    arguments = ["export", LIGHTS, "--to", "tla", *SIZE, "--constant", "CAREFUL=false"]
    assert cli.run(arguments) == ExitCode.AS_EXPECTED
    text = capsys.readouterr().out
    assert " MODULE Lights " in text
    assert "  CAREFUL = FALSE" in text
    assert "  Turn_max = 3" in text


def test_files_of_a_manifest_instance(tmp_path, capsys):
    assert cli.run(["export", "tiny", "--to", "tla", "--out", str(tmp_path)]) == ExitCode.AS_EXPECTED
    assert {path.name for path in tmp_path.iterdir()} == {"Flush.tla", "tiny.cfg", "tiny-live.cfg"}
    assert cli.run(["export", "tiny", "--to", "promela", "--out", str(tmp_path)]) == ExitCode.AS_EXPECTED
    assert "active proctype" in (tmp_path / "tiny.pml").read_text(encoding="utf-8")
    assert "tiny.pml" in capsys.readouterr().out


def test_states_and_a_run(capsys):
    assert cli.run(["export", LIGHTS, "--to", "dot", *SIZE]) == ExitCode.AS_EXPECTED
    assert capsys.readouterr().out.startswith('digraph "lights"')
    assert cli.run(["export", LIGHTS, "--to", "itf", *SIZE]) == ExitCode.AS_EXPECTED
    assert json.loads(capsys.readouterr().out)["#meta"]["format"] == "ITF"


GOOD = (
    HEAD.replace('"ticketlock"', '"locks"')
    + """
[proof.locks-any-size]
expect = { every = "proved" }
"""
)


def chosen(tmp_path: Path, *, only: tuple[str, ...]) -> list[str]:
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text(GOOD)
    bad.write_text(
        GOOD.replace('"ticketlock.one_inside"', '"ticketlock.gone"')
        .replace('"locks"', '"others"')
        .replace("locks-any-size", "others-any-size")
    )
    kept = kept_of(Settings(build=tmp_path / "build"), registry())
    return [task.name for task in chosen_tasks([good, bad], tier=Tier.FAST, only=only, kept=kept)]


def test_a_broken_manifest_elsewhere_does_not_matter(tmp_path: Path) -> None:
    assert chosen(tmp_path, only=("locks-any-size",)) == ["prove/locks-any-size"]


@pytest.mark.parametrize("only", [(), ("others-any-size",), ("*any-size",)])
def test_a_broken_manifest_that_is_needed_is_red(tmp_path: Path, only: tuple[str, ...]) -> None:
    with pytest.raises(PinError, match="gone"):
        chosen(tmp_path, only=only)


def commands(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name, one in below.items():
        if not one.hidden:
            yield from commands(one, f"{path} {name}".strip())


ALL = dict(commands(typer.main.get_command(application)))


def lost(text: str) -> bool:
    """Whether a part of a text vanishes when Rich shows it."""
    return render(text).plain != text.replace("\\[", "[")


def test_markup_is_seen():
    assert lost("those of [tool.tidemark] in pyproject.toml")
    assert not lost("those of \\[tool.tidemark] in pyproject.toml")


@pytest.mark.parametrize("name", ALL)
def test_nothing_of_a_help_vanishes(name):
    command = ALL[name]
    texts = [command.help or "", *(param.help or "" for param in command.params)]
    assert [text for text in texts if lost(text)] == []
    assert [param.name for param in command.params if not param.help] == []
