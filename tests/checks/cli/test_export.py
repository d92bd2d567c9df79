"""``tidemark export``: instances by name or by protocol, in every form."""

import json

import pytest

from tidemark.checks.cli import app as cli
from tidemark.checks.verdicts.exit_codes import ExitCode

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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tinyy", "--to", "tla"], "did you mean 'tiny'"),
        (["tiny", "--to", "tla", "--bound", "Segment=2"], "which has its own"),
        ([LIGHTS, "--to", "tla", "--bound", "Lamp=two"], "the bound 'Lamp=two'"),
        ([LIGHTS, "--to", "tla", *SIZE, "--constant", "CAREFUL=no"], "no value in JSON"),
        ([LIGHTS, "--to", "tla", "--bound", "Lamp=2"], "no bound for Turn"),
        ([LIGHTS, "--to", "prose"], "prose"),
        ([LIGHTS, "--to", "dot", *SIZE, "--limit", "3"], "more than 3 states"),
    ],
)
def test_wrong_arguments_are_named(arguments, message, capsys):
    assert cli.run(["export", *arguments]) == ExitCode.BAD_INPUT
    assert message in capsys.readouterr().err
