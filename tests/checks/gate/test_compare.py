"""Two runs beside each other: nothing that is lost or different stays unsaid."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.checks.gate.test_gate import judged
from tidemark.checks.cli import app
from tidemark.checks.report.files import to_json
from tidemark.checks.verdicts.exit_codes import ExitCode

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
def test_each_difference_is_said(
    run: Path, capsys: pytest.CaptureFixture[str], change: Change, words: str
) -> None:
    assert app.run(["compare", str(run), str(changed(run, change))]) == ExitCode.VACUOUS_OR_UNPINNED
    assert words in capsys.readouterr().out


def test_what_is_only_new_is_no_difference(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        app.run(["compare", str(changed(run, lambda found: found.pop())), str(run)]) == ExitCode.AS_EXPECTED
    )
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
