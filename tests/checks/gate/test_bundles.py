"""Bundles that are there already are left alone; whatever differs is written again."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.checks.gate.test_reports import red
from tidemark.checks.report.files import FORMS
from tidemark.checks.report.forms.bundle import FOLDER, INDEX, write_bundles
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.verdict import amended
from tidemark.models.rooms import ROOT


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
