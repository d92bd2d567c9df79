"""In a user's own project: what is found where, and what the first commands do."""

import json
import re
import sys
import tomllib
from email.message import Message
from importlib import metadata
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.checks.cli.test_mistakes import WHOLE, folder_with, start
from tests.checks.gate.test_reports import red
from tests.checks.gate.toy import FORWARD
from tests.processes import WITHOUT, finished
from tidemark.checks.cli import app as cli
from tidemark.checks.cli import doctor
from tidemark.checks.cli.commands import application
from tidemark.checks.cli.doctor import State
from tidemark.checks.report.files import JUNIT, PAGE, SARIF, VERDICTS, write_files
from tidemark.checks.verdicts.errors import install_command
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.rooms import ROOT

ALL_GREEN = ExitCode.AS_EXPECTED


def test_the_version_and_the_short_option_for_help(capsys):
    assert cli.run(["--version"]) == ALL_GREEN
    assert capsys.readouterr().out == f"tidemark {metadata.version('tidemark')}\n"
    for arguments in (["-h"], ["explore", "-h"]):
        assert cli.run(arguments) == ALL_GREEN
        assert "Usage: tidemark" in capsys.readouterr().out


def commands() -> dict[str, Any]:
    whole: Any = typer.main.get_command(application)
    return dict(whole.commands)


def test_the_help_fits_on_one_screen(capsys):
    """A heading for each panel and a line for each command, in 80 columns; without arguments, too."""
    assert cli.run([]) == ExitCode.BAD_INPUT
    without = capsys.readouterr().out
    assert cli.run(["--help"]) == ALL_GREEN
    text = capsys.readouterr().out
    assert text.strip() == without.strip()
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    shown = {name for name, one in commands().items() if not one.hidden}
    assert {line.split()[0] for line in lines if line.startswith("  ")} == shown
    assert {"verify", "spark", "show"} <= shown
    assert "Others:" not in text, "a command is in no panel"


@pytest.mark.parametrize("group", ["spark", "show"])
def test_a_command_of_a_group_has_its_former_name_too(group, capsys):
    names = list(commands()[group].commands)
    assert names
    for name in names:
        assert cli.run([group, name, "--help"]) == ALL_GREEN
        grouped = capsys.readouterr().out
        assert f"Usage: tidemark {group} {name}" in grouped
        assert cli.run([name, "--help"]) == ALL_GREEN
        assert capsys.readouterr().out.splitlines()[3:] == grouped.splitlines()[3:]


def test_a_group_says_what_it_has(tmp_path, capsys):
    assert cli.run(["spark"]) == ExitCode.BAD_INPUT
    assert "distribute" in capsys.readouterr().out
    assert cli.run(["show", "--manifest", "x.toml", "codes"]) == ExitCode.BAD_INPUT
    assert "tidemark show codes --manifest" in capsys.readouterr().err


@pytest.mark.proof
def test_the_first_files_pass(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "my project"
    assert cli.run(["init", str(folder), "--name", "first_lease", "--workflow"]) == ALL_GREEN
    said = capsys.readouterr().out
    assert f"tidemark verify --manifest {folder.as_posix()}/first_lease.toml" in said
    assert cli.run(["init", str(folder), "--name", "first_lease"]) == ExitCode.BAD_INPUT
    assert "exists already" in capsys.readouterr().err
    (folder / "pyproject.toml").write_text(
        '[tool.tidemark]\nmanifests = ["first_*.toml"]\n', encoding="utf-8"
    )
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    arguments = ["--build", str(tmp_path / "build"), "--jobs", "1", "--json"]
    assert cli.run(["verify", *arguments]) == ALL_GREEN
    verdicts = json.loads(capsys.readouterr().out)
    assert verdicts["exit_code"] == 0
    assert {one["property_id"] for one in verdicts["judgements"]} >= {
        "firstlease.was_given",
        "firstlease.late_write",
    }
    assert verdicts["places"]["firstlease.was_given"].startswith("first_lease.py:")
    workflow = (folder / ".github" / "workflows" / "tidemark.yml").read_text(encoding="utf-8")
    assert "tidemark verify --manifest first_lease.toml" in workflow
    assert "  security-events: write" in workflow
    assert (folder / ".gitignore").read_text(encoding="utf-8") == "build/\n"
    for file in (VERDICTS, JUNIT, SARIF, PAGE.parent):
        assert f"build/{file}" in workflow


def test_a_manifest_works_from_another_folder(tmp_path):
    """In a process of its own: here, other tests have made the modules of this folder importable."""
    name, path = folder_with(tmp_path, manifest=WHOLE)
    elsewhere = tmp_path / "else" / "where"
    elsewhere.mkdir(parents=True)
    done = start("interpreted", "--manifest", str(path), folder=elsewhere, PYTHONPATH="")
    said, complaint = done.communicate(timeout=120)
    assert done.returncode == ExitCode.UNEXPECTED_REFUTATION, complaint
    assert "doors.all_shut is refuted by interpreted on tiny" in said
    assert name not in complaint


@pytest.mark.proof
def test_protocols_beside_the_manifests_of_a_project_are_found(tmp_path):
    """From the root of the project, by name, and by a pattern."""
    specs = tmp_path / "specs"
    specs.mkdir()
    name, _ = folder_with(specs, manifest=WHOLE)
    (tmp_path / "pyproject.toml").write_text('[tool.tidemark]\nmanifests = ["specs/*.toml"]\n')
    for words, status in ((["show"], 0), (["prove", f"{name}:Doors"], 1)):
        done = start(*words, folder=tmp_path, PYTHONPATH="")
        said, complaint = done.communicate(timeout=120)
        assert done.returncode == status, said + complaint
    assert "doors.all_shut: refuted" in said


def test_a_name_that_is_no_module(tmp_path, capsys):
    assert cli.run(["init", str(tmp_path), "--name", "My-Lease"]) == ExitCode.BAD_INPUT
    assert "'My-Lease'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('manifest = ["a.toml"]', "tool.tidemark.manifest: Extra inputs"),
        ('manifests = "a.toml"', "tool.tidemark.manifests"),
        ('manifests = ["nothing/*.toml"]', "no file matches 'nothing/*.toml'"),
        ('manifests = ["/nothing/*.toml"]', "no file matches '/nothing/*.toml'"),
        ('manifests = [""]', "no file matches ''"),
        ("manifests = [", "cannot be read"),
    ],
)
def test_a_wrong_table_of_the_project(table, words, tmp_path, monkeypatch, capsys):
    (tmp_path / "pyproject.toml").write_text(f"[tool.tidemark]\n{table}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert cli.run(["show"]) == ExitCode.BAD_INPUT
    assert words in capsys.readouterr().err


def test_the_marker_needs_no_conftest(tmp_path):
    """The plugin is found by its entry point; a conftest that names it does not load it twice."""
    (tmp_path / "test_it.py").write_text(
        "import asyncio, pytest\n\n@pytest.mark.every_order\n"
        "async def test_it():\n    await asyncio.sleep(0)\n"
    )
    for conftest in ("", 'pytest_plugins = ["tidemark.checks.interleave.pytest_plugin"]\n'):
        (tmp_path / "conftest.py").write_text(conftest)
        options = ["-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
        done = finished([sys.executable, "-m", "pytest", *options], cwd=tmp_path)
        assert "1 passed" in done.stdout, done.stdout + done.stderr


BARE = """
import asyncio
from tidemark.checks.cli import app
import tidemark.checks.interleave.pytest_plugin
from tidemark.checks.interleave import require_every_order

async def waits():
    await asyncio.sleep(1)

assert require_every_order(waits).statistics.executions
assert app.run(["show", "--manifest", "m.toml"]) == 0
assert app.run(["replay", "hello", "--manifest", "m.toml"]) == 5
assert app.run(["interpreted", "--manifest", "m.toml", "--jobs", "1"]) == 1
assert app.run(["explore", "--manifest", "m.toml"]) in (5, 6)
"""
"""Without the packages of all extras: the command line, the explorer, and a search by the interpreter."""


def test_an_install_without_extras_works(tmp_path):
    _, path = folder_with(tmp_path, manifest=WHOLE)
    path.rename(tmp_path / "m.toml")
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for name, group in tables["optional-dependencies"].items() for one in group]
    wanted = {re.split(r"[\[<>=, ]", one)[0] for one in extras} - {"tidemark", "pytest"}
    modules = packages_distributions()
    names = {module for module, owners in modules.items() if wanted & {one.lower() for one in owners}}
    assert {"numpy", "z3", "numba", "pyspark", "hypothesis"} <= names
    done = finished([sys.executable, "-c", WITHOUT.format(missing=names) + BARE], cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "internal error" not in done.stderr


class TestDoctorAfterAnInstall:
    def about(self) -> Message:
        message = Message()
        message["Provides-Extra"] = "prove"
        message["Provides-Extra"] = "spark"
        message["Requires-Dist"] = "rich>=13"
        message["Requires-Dist"] = 'z3-solver>=4; extra == "prove"'
        message["Requires-Dist"] = "pyspark<5,>=4; extra == 'spark'"
        return message

    def test_parts_that_are_not_there_are_no_fault(self):
        found = doctor.extra_findings(self.about(), installed={"rich": "13", "z3-solver": "4"}.get)
        states = {one.name: one.state for one in found}
        assert states == {"packages": State.OK, "extra prove": State.OK, "extra spark": State.OPTIONAL}
        assert found[-1].remedy == install_command("spark")
        assert doctor.exit_code(found) is ALL_GREEN

    def test_what_every_command_needs_has_to_be_there(self):
        found = doctor.extra_findings(self.about(), installed={"z3-solver": "4"}.get)
        assert doctor.exit_code(found) is ExitCode.MISSING_TOOL

    def test_this_environment_without_its_clone(self, monkeypatch, tmp_path):
        monkeypatch.setattr(doctor, "LOCK", tmp_path / "run.lock")
        found = doctor.examine(build=tmp_path)
        assert doctor.exit_code(found) is ALL_GREEN
        names = {one.name for one in found}
        assert {"extra prove", "extra spark", "z3", "Java"} <= names
        assert names.isdisjoint({"etcd", "milvus", "spin"}), "only a clone has them"


def test_sarif_has_each_failure_at_its_line(tmp_path):
    result = red(tmp_path)
    write_files(result, build=tmp_path)
    (run,) = json.loads((tmp_path / SARIF).read_text(encoding="utf-8"))["runs"]
    by_rule = {one["ruleId"]: one for one in run["results"]}
    assert len(by_rule) == len(result.failures) + len(result.unjudged)
    failure = by_rule[FORWARD]
    assert failure["level"] == "error"
    assert "replay: tidemark replay abc" in failure["message"]["text"]
    place = failure["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "tests/protocols/lights.py"
    line = Path("tests/protocols/lights.py").read_text().splitlines()[place["region"]["startLine"] - 1]
    assert "transition_invariant" in line
    assert any("no Z3" in one["message"]["text"] for one in run["results"])
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": result.exit_code.value}]
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == set(by_rule)
