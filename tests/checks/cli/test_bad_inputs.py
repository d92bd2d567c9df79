"""Bad inputs, one after another: each gets its own words, a remedy, and the exit status of its class.

The environment (folders, disks, signals, terminals) is in ``test_mistakes.py``.
"""

import json

import pytest

from tests.checks.cli.test_mistakes import MANIFEST, WHOLE, folder_with
from tidemark.checks.cli import app as cli
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.rooms import ROOT

BAD, PINS = ExitCode.BAD_INPUT, ExitCode.VACUOUS_OR_UNPINNED

IN_THE_MANIFEST = [
    # what is replaced, by what, exit status, words of the message
    ("[instance.tiny]", "[instances.tiny]", BAD, "instances"),
    ("[instance.tiny]", '[[instance]]\nname = "tiny"', BAD, r"write  [instance.NAME]"),
    ('expect = { every = "holds" }', 'expect = { every = "holds" }\nbound = 1', BAD, "bound"),
    ("[instance.tiny]", '[instance."a tiny one"]', BAD, "small letters, digits and hyphens"),
    ('expect = { every = "holds" }', 'expect = { every = "maybe" }', BAD, "every"),
    ('["interpreted"]', '["explorer"]', BAD, "engines"),
    ('["interpreted"]', '"interpreted"', BAD, "engines"),
    ('["interpreted"]', "[]", BAD, "engines is empty"),
    ("[instance.tiny]", '[instance.tiny]\ntier = "medium"', BAD, "tier"),
    ("[instance.tiny]", "[instance.tiny]\ncounts = { distinct = 1.5 }", BAD, "distinct"),
    ("[instance.tiny]", "[instance.tiny]\ncounts = { distinct = -1 }", BAD, "distinct"),
    ('protocol = "NAME:Doors"', "", BAD, "protocol"),
    ('protocol = "NAME:Doors"', 'protocol = "NAME"', BAD, "module:Class"),
    ('protocol = "NAME:Doors"', 'protocol = "NAME:Door"', BAD, "Door"),
    ('protocol = "NAME:Doors"', 'protocol = "nowhere:Doors"', BAD, "nowhere"),
    ('protocol = "NAME:Doors"', 'protocol = "NAME:require"', BAD, "require"),
    ('["doors.all_shut"]', '["doors.all_shut", "doors.all_shut"]', BAD, "doors.all_shut"),
    ('["doors.all_shut"]', '["doors.all_shutt"]', PINS, "doors.all_shutt"),
    ('["doors.all_shut"]', '"doors.all_shut"', BAD, "invariant"),
    ("Door = 1", "Door = -2", BAD, "Door"),
    ("Door = 1", "Door = 0", BAD, "Door"),
    ("Door = 1", "Door = 1.5", BAD, "Door"),
    ("Door = 1", "Door = [3, 1]", BAD, "Door"),
    ("Door = 1, ", "", BAD, "no bound for Door"),
    ("Door = 1", "Door = 1, Gate = 1", BAD, "Gate"),
    ("Number = 1", "Number = [3, 1]", BAD, "Number"),
    ("Number = 1", "Number = 100000000000000000000000", BAD, "Number"),
    ("[instance.tiny]", "[instance.tiny]\nconstants = { LIMIT = 1 }", BAD, "LIMIT"),
    ("[instance.tiny]", '[instance.tiny]\nsymmetry = ["Gate"]', BAD, "symmetry"),
    ("[instance.tiny]", '[instance.tiny]\nsymmetry = ["Number"]', BAD, "Number"),
    ("[properties]", "[properties", BAD, "TOML"),
    (MANIFEST, "", BAD, "name"),
    (MANIFEST, MANIFEST + MANIFEST[MANIFEST.index("[instance.tiny]") :], BAD, "tiny"),
]


TSO = ["--manifest", str(ROOT / "models/protocols/tso/manifest.toml")]

EXPORT = ["export", "tests.protocols.lights:Lights"]
SIZE = ["--bound", "Lamp=2", "--bound", "Turn=3"]
IN_A_COMMAND = [
    # the words of a command after the program; MANIFEST stands for the option with a good manifest
    (["verify", "MANIFEST", "--only", "zzz"], BAD, "no check matches 'zzz'"),
    (["verify", "MANIFEST", "--only", " "], BAD, "an argument is empty"),
    (["verify", "MANIFEST", "--only", "tiny", "--only", "zzz"], BAD, "no check matches 'zzz'"),
    (["verify", "MANIFEST", "--seed", "1", "--seed=2"], BAD, "--seed is given 2 times"),
    (["show", "findings", "doors", "--build", "a", "--build", "b"], BAD, "--build is given 2 times"),
    (["verify", "MANIFEST", "--tier", "medium"], BAD, "medium"),
    (["verify", "MANIFEST", "--seed", "abc"], BAD, "abc"),
    *((["verify", "MANIFEST", "--jobs", jobs], BAD, "--jobs") for jobs in ("0", "-1", "many")),
    (["verify", "MANIFEST", "--jobs", "100000"], BAD, "512"),
    (["verify", "MANIFEST", "--only", ""], BAD, "an argument is empty"),
    (["explore", "MANIFEST", "--workers", "100000"], BAD, "512"),
    (["verify", "MANIFEST", "--fresh", "--audit", "1"], BAD, "--audit with --fresh"),
    (["verify", "MANIFEST", "--resume"], BAD, "no stopped run"),
    (["verify", "--manifest", "absent.toml"], BAD, "absent.toml"),
    (["verify", "--manifest", "."], BAD, ".: cannot be read (Is a directory)"),
    (["explore", "MANIFEST"], BAD, "explore"),
    (["explore", "MANIFEST", "tiny"], BAD, "verify --only interpreted/tiny"),
    (["interpreted", "MANIFEST", "tinny"], BAD, "did you mean"),
    (["verify", "doors.toml"], BAD, "write  --manifest doors.toml"),
    (["explore", "doors.py"], BAD, "write  doors:CLASS"),
    (["explore", "doors.toml"], BAD, "write  --manifest doors.toml"),
    (["mutants", "MANIFEST"], BAD, "no manifest here has mutants"),
    (["prove", "below/doors.py:Doors"], BAD, "Write  doors:Doors"),
    (["explore", "MANIFEST", "--workers", "-1"], BAD, "--workers"),
    (["explore", "MANIFEST", "--memory", "0"], BAD, "--memory"),
    (["prove", "MANIFEST", "--seconds", "0"], BAD, "--seconds"),
    (["prove", "tests.protocols.lights:Lamps"], BAD, "Lamps"),
    (["prove", "tests.protocols.lights:Lights", "--claim", "never"], BAD, "never"),
    (["prove", "tests.protocols.lights:Lights", "--bmc", "0"], BAD, "--bmc"),
    (["suggest", "tests.protocols.lights:Lights", "--without", "nothing"], BAD, "no lemma 'nothing'"),
    (["suggest", "nothing-like-this", "MANIFEST"], BAD, "no check matches 'nothing-like-this'"),
    (["replay", "hello", "MANIFEST"], BAD, "hello"),
    (["replay", "run1.abc.00000000", "MANIFEST"], BAD, "check sum"),
    (["replay", "run1.abc", "MANIFEST"], BAD, "three parts"),
    (["replay", "tm1-abc", "MANIFEST"], BAD, "tm1-abc"),
    (["replay", "absent.json"], BAD, "absent.json"),
    (["step", "tinny", "MANIFEST"], BAD, "did you mean 'tiny'"),
    (["export", "tiny", "MANIFEST", "--to", "tlb"], BAD, "tlb"),
    (["export", "tinny", "MANIFEST", "--to", "tla"], BAD, "did you mean 'tiny'"),
    ([*EXPORT, "--to", "tla", "--bound", "Lamp=x"], BAD, "Lamp=x"),
    ([*EXPORT, "--to", "tla", "--bound", "Lamp=2..1"], BAD, "Lamp"),
    ([*EXPORT, "--to", "tla", "--bound", "Lump=1"], BAD, "Lump"),
    ([*EXPORT, "--to", "tla", "--constant", "X"], BAD, "'X'"),
    ([*EXPORT, "--to", "tla", *SIZE, "--constant", "CAREFUL=no"], BAD, "no value in JSON"),
    ([*EXPORT, "--to", "dot", *SIZE, "--limit", "3"], BAD, "more than 3 states"),
    (["export", "tiny", "MANIFEST", "--to", "tla", "--bound", "Door=2"], BAD, "which has its own"),
    (["report", "--build", "absent"], BAD, "absent"),
    (["compare", "one.json", "two.json"], BAD, "one.json"),
    (["findings", "nothing-like-it"], BAD, "nothing-like-it"),
    (["argument", "nothing", "MANIFEST"], BAD, "nothing"),
    (["actions", "nothing"], BAD, "nothing"),
    (["show", "origins", "nothing"], BAD, "known: aliases, allocation,"),
    (["show", "argument", "tos", *TSO], BAD, "did you mean 'tso'? known: tso"),
    (["mutants", "nothing", *TSO], BAD, "tso-impl-places"),
    (["mutants", "tso-impl-places-sample", *TSO, "--list", "--only", "zzz"], BAD, "'zzz' in its id"),
    (["pin", "nothing", "MANIFEST"], BAD, "nothing"),
    (["evidence", "here", "--seconds", "3"], BAD, "--seconds without --follow"),
    (["evidence", "here", "--topics", "dml"], BAD, "--topics without --kafka"),
    (["evidence", "here", "--claims"], BAD, "a path with --claims"),
    (["observe", "crash", "--table"], BAD, "a scenario with --table"),
    (["verfy"], BAD, "verfy"),
    (["verify", "--onyl", "x"], BAD, "--onyl"),
    ([], BAD, ""),
]


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed: every refusal has a remedy, and nothing is called our fault."""
    text = "".join(capsys.readouterr())
    assert "internal error" not in text
    assert "Traceback" not in text
    return text


@pytest.mark.parametrize(("old", "new", "status", "words"), IN_THE_MANIFEST)
def test_in_a_manifest(old, new, status, words, tmp_path, capsys):
    text = (WHOLE if old != MANIFEST else MANIFEST).replace(old, new, 1)
    assert text != WHOLE
    _, path = folder_with(tmp_path, manifest=text)
    build = ["--build", str(tmp_path / "build")]
    assert cli.run(["verify", "--manifest", str(path), *build, "--jobs", "1"]) == status
    text = said(capsys)
    assert words in text
    assert "remedy: " in text


def test_an_error_is_json_where_verdicts_would_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["explore", "nowhere:Door", "--json"]) == BAD
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    assert told["status"] == BAD
    assert f"tidemark: {told['error']}\n  remedy: {told['remedy']}\n" in printed.err


@pytest.mark.parametrize(("arguments", "status", "words"), IN_A_COMMAND)
def test_in_a_command(arguments, status, words, tmp_path, monkeypatch, capsys):
    _, path = folder_with(tmp_path, manifest=WHOLE)
    monkeypatch.chdir(tmp_path)
    given = [
        each for word in arguments for each in (["--manifest", path.name] if word == "MANIFEST" else [word])
    ]
    assert cli.run(given) == status
    text = said(capsys)
    assert words in text
    assert not words or "remedy: " in text
