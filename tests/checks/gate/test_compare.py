"""Two runs beside each other, and the bundles of a run beside those of the last one."""

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.checks.gate.test_gate import judged
from tests.checks.gate.test_reports import red
from tidemark.checks.cli import app
from tidemark.checks.report.files import FORMS, to_json
from tidemark.checks.report.forms.bundle import FOLDER, INDEX, write_bundles
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.verdict import amended
from tidemark.models.rooms import ROOT

Change = Callable[[list[dict[str, Any]]], object]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "before.json"
    path.write_text(to_json(judged(tmp_path)))
    return path


def changed(run: Path, change: Change) -> Path:
    document = json.loads(run.read_text())
    change(document["judgements"])
    path = run.with_name("after.json")
    path.write_text(json.dumps(document))
    return path


def test_the_same_run_is_the_same(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["compare", str(run), str(run)]) == ExitCode.AS_EXPECTED
    said = capsys.readouterr().out
    assert "0 gone, 0 changed, 0 new" in said
    assert "changed  " not in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda found: found.pop(), "1 gone, 0 changed, 0 new"),
        (lambda found: found[0].update(outcome="refuted"), "-> refuted"),
        (lambda found: found[0].update(expected="refuted"), "expected"),
        (lambda found: found[0]["counts"].update(made_up=7), "made_up none -> 7"),
    ],
)
def test_each_difference_is_said(run, capsys, change, words):
    assert app.run(["compare", str(run), str(changed(run, change))]) == ExitCode.VACUOUS_OR_UNPINNED
    assert words in capsys.readouterr().out


def test_what_is_only_new_is_no_difference(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = app.run(["compare", str(changed(run, lambda found: found.pop())), str(run)])
    assert seen == ExitCode.AS_EXPECTED
    assert "0 gone, 0 changed, 1 new" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "no file of verdicts"),
        ("not JSON", "no file of verdicts"),
        ('{"judgements": []}', "has no verdict"),
    ],
)
def test_other_files(run: Path, capsys: pytest.CaptureFixture[str], text: str, words: str) -> None:
    other = run.with_name("other.json")
    other.write_text(text)
    assert app.run(["compare", str(run), str(other)]) == ExitCode.BAD_INPUT
    assert words in capsys.readouterr().err
    assert app.run(["compare", str(run), str(run.with_name("missing.json"))]) == ExitCode.BAD_INPUT
    assert "missing.json" in capsys.readouterr().err


@pytest.fixture
def result(tmp_path: Path) -> RunResult:
    """A run with counterexamples, whose bundles were written long ago."""
    found: RunResult = red(tmp_path)
    write_bundles(found, build=tmp_path, forms="code")
    assert len(files(tmp_path)) > 5
    return found


def files(build: Path) -> list[Path]:
    return [path for path in sorted((build / FOLDER).glob("*/*")) if path.is_file()]


def rewritten(result: RunResult, build: Path, *, forms: str = "code") -> set[str]:
    """Names of the files that are written, as those that have another time then."""
    before = {path: path.stat().st_mtime_ns for path in files(build)}
    write_bundles(result, build=build, forms=forms)
    return {path.name for path in files(build) if path.stat().st_mtime_ns != before.get(path)}


def test_what_is_there_is_not_written_again(result: RunResult, tmp_path: Path) -> None:
    assert rewritten(result, tmp_path) == set()
    assert "verdict.txt" in rewritten(result, tmp_path, forms="other code")
    assert "verdict.txt" in rewritten(result, tmp_path, forms="")


def test_a_file_that_is_touched_or_gone_is_written_again(result: RunResult, tmp_path: Path) -> None:
    texts = {path: path.read_text() for path in files(tmp_path)}
    changed, gone = next(path for path in texts if path.name == "trace.txt"), files(tmp_path)[-1]
    changed.write_text("something else")
    gone.unlink()
    assert {changed.name, gone.name} <= rewritten(result, tmp_path)
    assert {path: path.read_text() for path in files(tmp_path)} == texts


def test_another_verdict_is_written(result: RunResult, tmp_path: Path) -> None:
    judgements = tuple(
        one.model_copy(update={"verdict": amended(one.verdict, replay="another command")})
        for one in result.judgements
    )
    write_bundles(result.model_copy(update={"judgements": judgements}), build=tmp_path, forms="code")
    commands = [path.read_text() for path in files(tmp_path) if path.name == "replay.txt"]
    assert set(commands) == {"another command\n"}


def test_a_damaged_index_counts_as_none(result: RunResult, tmp_path: Path) -> None:
    index = tmp_path / FOLDER / INDEX
    index.write_text(index.read_text().replace("trace.txt", "trace.tex"))
    assert "trace.txt" in rewritten(result, tmp_path)


def test_bundles_of_what_is_no_longer_refuted_go(result: RunResult, tmp_path: Path) -> None:
    write_bundles(result.model_copy(update={"judgements": ()}), build=tmp_path, forms="code")
    assert files(tmp_path) == []


def test_a_bundle_is_made_by_code_that_its_digest_covers():
    """What writes a bundle imports nothing of the package from elsewhere."""
    mine = tuple(f"tidemark.{folder.replace('/', '.')}." for folder in FORMS)
    named = ("bundle", "diagram", "itf", "trace_text")
    modules = set()
    for name in named:
        tree = ast.parse((ROOT / FORMS[0] / f"{name}.py").read_text(encoding="utf-8"))
        modules |= {one.module or "" for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
    ours = {module for module in modules if module.startswith("tidemark.")}
    assert ours
    assert {module for module in ours if not module.startswith(mine)} == set()
    here = {module.rpartition(".")[2] for module in ours if module.startswith(mine[0])}
    assert here <= set(named), "a form that is not looked at"
