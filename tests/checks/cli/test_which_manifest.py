"""What a command is about: the manifest that is given or that the project names, and never another one.

The user's entries have names that entries of the suite have too. The commands are those of the command line,
so that a new one is tried as well.
"""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.checks.cli.test_mistakes import WHOLE, folder_with
from tests.checks.cli.test_prove_command import ALL
from tidemark.checks.cli import app as cli
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.manifest import SUITE, ManifestError, chosen_manifests, manifest_files

ENTRIES = """
[proof.any-size]
expect = { every = "proved" }

[instance.small]
engines = ["interpreted", "explore"]
bounds = { Door = 1, Number = 1 }
expect = { every = "holds" }
"""

VALUES = {
    "after": "after.json",
    "before": "before.json",
    "executors": "2",
    "instance": "small",
    "name": "small",
    "over": "Door=1..2",
    "protocol": "any-size",
    "states": "100",
    "base": "tests.protocols.lights:Lights",
    "variant": "tests.protocols.lights:Lights",
    "to": "tla",
    "token": "hello",
}
"""Of each parameter that some command requires: an entry, or something of the right form."""

QUICKER = {"watch": ["--once"], "show origins": ["retries"]}
"""Words without which a command would take long, or not end."""

OF_THE_SUITE = {"evidence", "replay", "show findings", "show places", "show sources"}
"""They take a manifest, and have an answer without: on what the suite claims, has found and implements; on a
damaged token.
"""


def takes_manifest(name: str) -> bool:
    return any("--manifest" in param.opts for param in ALL[name].params)


JUDGING = sorted(name for name in ALL if takes_manifest(name) and name not in OF_THE_SUITE)
OTHERS = sorted(name for name in ALL if name not in JUDGING)


def each(names: list[str]) -> list[Any]:
    """The commands as parameters of a test that runs them: some start Spark, one parses all of impl/."""
    marks = {f"spark {name}": "spark" for name in ("distribute", "history", "sweep", "swarm")}
    marks["show places"] = "slow"
    return [pytest.param(n, marks=getattr(pytest.mark, marks[n]) if n in marks else ()) for n in names]


def arguments(name: str, *more: str) -> list[str]:
    """The words of a command with a value for all that it requires."""
    words = name.split()
    for param in ALL[name].params:
        if param.required:
            value = VALUES[param.name]
            words += [value] if param.param_type_name == "argument" else [param.opts[0], value]
    return [*words, *more, *QUICKER.get(name, [])]


def files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if "__pycache__" not in path.parts
    }


def test_there_are_commands_of_both_kinds():
    assert {"verify", "watch", "pin", "prove", "step", "spark distribute", "mutants", "show torn"} <= {
        *JUDGING
    }
    assert {"doctor", "init", "observe", "show codes", "spark package", *OF_THE_SUITE} <= {*OTHERS}


@pytest.mark.parametrize("name", JUDGING)
@pytest.mark.parametrize("lies_there", [False, True])
def test_without_a_manifest_nothing_is_judged(name, lies_there, tmp_path, monkeypatch, capsys):
    """Nor is a manifest judged that nobody has named; the protocols of the suite least of all."""
    if lies_there:
        folder_with(tmp_path, manifest=WHOLE + ENTRIES)
    before = files(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert cli.run(arguments(name)) == ExitCode.BAD_INPUT
    said = capsys.readouterr()
    assert said.out.replace("BROKE", "").strip() == said.out.strip() == ""
    assert f"{tmp_path}: no manifest is found" in said.err
    for remedy in ("--manifest FILE", "[tool.tidemark]", "tidemark init", f"--manifest {SUITE}"):
        assert remedy in said.err
    assert files(tmp_path) == before


@pytest.mark.parametrize("name", each(OTHERS))
def test_a_command_that_needs_no_manifest_needs_none(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    status = cli.run(arguments(name))
    said = capsys.readouterr()
    assert status not in (ExitCode.INTERNAL_ERROR, ExitCode.STOPPED)
    assert "no manifest is found" not in said.err
    assert (said.out + said.err).strip()
    if name == "show findings":
        assert "| finding | result |" in said.out


@pytest.mark.parametrize("name", each(JUDGING))
def test_with_a_manifest_nothing_else_is_judged(name, tmp_path, monkeypatch, capsys):
    """Each command either refuses, or speaks of the user's protocol; of the suite's no word is said."""
    own, path = folder_with(tmp_path, manifest=WHOLE + ENTRIES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    status = cli.run(arguments(name, "--manifest", path.name))
    said = capsys.readouterr()
    text = said.out + said.err
    if status == ExitCode.AS_EXPECTED and not name.startswith("show "):  # it shows tables, which may be empty
        assert own in text
    assert "tidemark.spec." not in text
    assert "/manifest.toml" not in text


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("prove any-size", "any-size"),
        ("prove any-size --bmc 2", "any-size"),
        ("suggest any-size --seconds 1", "any-size"),
        ("explore small", "small"),
        ("interpreted small", "small"),
        ("verify --only interpreted/small --jobs 1", "small"),
        ("verify --jobs 1", "any-size, tiny, small"),
        ("simulate small --visits 100", "small"),
        ("step small", "small"),
        ("pin --jobs 1", ""),
    ],
)
@pytest.mark.proof
def test_the_first_line_says_what_is_judged(words, entry, tmp_path, monkeypatch, capsys):
    own, path = folder_with(tmp_path, manifest=WHOLE + ENTRIES)
    (tmp_path / "pyproject.toml").write_text('[tool.tidemark]\nmanifests = ["doors_*.toml"]\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert cli.run(words.split()) != ExitCode.INTERNAL_ERROR
    first = capsys.readouterr().out.partition("\n")[0]
    assert first == f"{path.name}: {own}" + f" ({entry})" * bool(entry)


def test_the_line_is_not_in_the_output_for_machines(tmp_path, monkeypatch, capsys):
    own, path = folder_with(tmp_path, manifest=WHOLE + ENTRIES)
    monkeypatch.chdir(tmp_path)
    given = ["--manifest", path.name]
    assert cli.run(["interpreted", "small", "--json", *given]) == ExitCode.UNEXPECTED_REFUTATION
    said = capsys.readouterr()
    assert {one["instance"] for one in json.loads(said.out)["judgements"]} == {"small"}
    assert said.err.startswith(f"{path.name}: {own} (small)\n")
    assert cli.run(["export", "small", "--to", "promela", *given]) == ExitCode.AS_EXPECTED
    said = capsys.readouterr()
    assert own not in said.out.partition("\n")[0]
    assert said.err == f"{path.name}: {own} (small)\n"


def test_a_manifest_that_is_given_twice_is_judged_once(tmp_path, monkeypatch, capsys):
    _, path = folder_with(tmp_path, manifest=WHOLE + ENTRIES)
    monkeypatch.chdir(tmp_path)
    counts = []
    for given in ([path.name], [path.name, f"./{path.name}", str(path)]):
        words = ["interpreted", "--jobs", "1", "--json", *(w for one in given for w in ("--manifest", one))]
        assert cli.run(words) == ExitCode.UNEXPECTED_REFUTATION
        counts.append(len(json.loads(capsys.readouterr().out)["judgements"]))
    assert counts[0] == counts[1] > 1


def test_two_manifests_of_one_name_are_refused(tmp_path, monkeypatch, capsys):
    _, path = folder_with(tmp_path, manifest=WHOLE)
    (tmp_path / "other.toml").write_text(path.read_text().replace('"tiny"', '"huge"'))
    monkeypatch.chdir(tmp_path)
    words = ["show", "--manifest", path.name, "--manifest", "other.toml"]
    assert cli.run(words) == ExitCode.BAD_INPUT
    assert f"is used in {path.name} and other.toml" in capsys.readouterr().err


def test_the_suite_is_a_project_like_another(tmp_path, monkeypatch):
    """In a clone its pyproject.toml names the manifests; elsewhere a word means them."""
    root = manifest_files()[0].parents[3]
    monkeypatch.chdir(root)
    traps = tuple(sorted((root / "tests" / "traps").glob("*.toml")))
    assert chosen_manifests() == (*manifest_files(), *traps)
    assert manifest_files()
    assert traps
    monkeypatch.chdir(tmp_path)
    assert chosen_manifests([SUITE]) == manifest_files()
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    with pytest.raises(ManifestError, match="no manifest is found"):
        chosen_manifests()


def test_a_manifest_of_another_copy_is_refused(tmp_path):
    """What it names would be read from this copy: a change there would be judged green unseen."""
    (tmp_path / "spec" / "language").mkdir(parents=True)
    (tmp_path / "spec" / "language" / "protocol.py").touch()
    (tmp_path / "models").mkdir()
    with pytest.raises(ManifestError, match="belongs to another copy of Tidemark"):
        chosen_manifests([tmp_path / "models" / "manifest.toml"])


def test_of_many_manifests_the_first_line_has_the_number(tmp_path, monkeypatch, capsys):
    for number in range(5):
        folder_with(tmp_path, manifest=WHOLE.replace("tiny", f"tiny-{number}"))
    (tmp_path / "pyproject.toml").write_text('[tool.tidemark]\nmanifests = ["doors_*.toml"]\n')
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert cli.run(["interpreted", "--jobs", "1"]) == ExitCode.UNEXPECTED_REFUTATION
    assert capsys.readouterr().out.startswith(f"5 manifests below {tmp_path.as_posix()}: 5 entries\n")


def test_a_protocol_and_a_run_in_a_file_need_no_manifest(tmp_path, monkeypatch, capsys):
    own, _ = folder_with(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    bounds = ["--bound", "Door=1", "--bound", "Number=1"]
    for words in (["step", f"{own}:Doors", *bounds], ["export", f"{own}:Doors", "--to", "itf", *bounds]):
        assert cli.run(words) == ExitCode.AS_EXPECTED
        text = capsys.readouterr().out
        assert "push" in text
    (tmp_path / "run.json").write_text(text)
    assert json.loads(text)["vars"]
    assert cli.run(["replay", "run.json"]) != ExitCode.BAD_INPUT, capsys.readouterr().err
