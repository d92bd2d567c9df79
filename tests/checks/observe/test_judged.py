"""The evidence of a run against what is pinned: what must be refuted is, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from tests.checks.evidence import parts
from tests.checks.evidence.parts import message, ts
from tidemark.checks.observe.expected import Case
from tidemark.checks.observe.judged import Judged, judge_run, overview
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode

LATE = "timetick.watermark_promise/broker-watermark"
SOUND = Case(server="1", scenario="s", why="nothing breaks")
LOSES = Case(server="1", scenario="s", refuted_if={"late_messages": (LATE,)}, why="a late message")
OPEN = Case(server="1", scenario="s", may=(LATE,), why="a race")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A small sound run."""
    folder = tmp_path / "run"
    parts.sound(folder)
    (folder / "scenario.json").write_text(json.dumps({"facts": {"late_messages": 0}}))
    return folder


def plant(run: Path) -> None:
    """A message behind a later tick, counted beside the judges."""
    late = json.dumps(message(7, "insert", ts(999), rows=2, segment=8))
    (run / "broker.ndjson").write_text((run / "broker.ndjson").read_text() + late + "\n")
    (run / "scenario.json").write_text(json.dumps({"facts": {"late_messages": 1}}))


def judged(run: Path, case: Case) -> tuple[Judged, str]:
    with (run.parent / "said").open("w") as file:
        found = judge_run(
            run, case=case, build=run.parent / "verdicts", console=Console(file=file, width=200)
        )
    return found, (run.parent / "said").read_text()


def test_a_sound_run_is_as_expected_and_says_nothing_of_a_refutation(run: Path) -> None:
    found, said = judged(run, LOSES)
    assert found == Judged(refuted=(), status=ExitCode.AS_EXPECTED)
    assert "as due" not in said


def test_what_is_pinned_and_found_is_as_expected_with_the_reason(run: Path) -> None:
    plant(run)
    found, said = judged(run, LOSES)
    assert found == Judged(refuted=(LATE,), status=ExitCode.AS_EXPECTED)
    assert "expected on Milvus 1: a late message" in said


def test_what_is_not_pinned_is_a_failure(run: Path) -> None:
    plant(run)
    assert judged(run, SOUND)[0].status is ExitCode.UNEXPECTED_REFUTATION


def test_what_is_pinned_and_not_found_is_a_failure(run: Path) -> None:
    (run / "scenario.json").write_text(json.dumps({"facts": {"late_messages": 1}}))
    assert judged(run, LOSES)[0].status is ExitCode.MISSING_REFUTATION


def test_what_is_pinned_and_not_judged_at_all_is_a_failure(run: Path) -> None:
    """Without the broker nobody judges the claim."""
    (run / "scenario.json").write_text(json.dumps({"facts": {"late_messages": 1}}))
    (run / "broker.ndjson").unlink()
    found, said = judged(run, LOSES)
    assert found.status is ExitCode.MISSING_REFUTATION
    assert f"NOT JUDGED {LATE}" in said


def test_what_is_left_open_may_go_either_way(run: Path) -> None:
    assert judged(run, OPEN)[0].status is ExitCode.AS_EXPECTED
    plant(run)
    assert judged(run, OPEN)[0] == Judged(refuted=(LATE,), status=ExitCode.AS_EXPECTED)


def test_the_table_of_all_runs(run: Path, tmp_path: Path) -> None:
    """Runs are judged anew; alarms that the manifest does not expect, and missed ones, are counted."""

    def told() -> tuple[ExitCode, str]:
        with (tmp_path / "said").open("w") as file:
            status = overview(tmp_path, console=Console(file=file, width=200))
        return status, (tmp_path / "said").read_text()

    with pytest.raises(BadInputError, match="no run"):
        overview(tmp_path / "nowhere", console=Console())
    record(run, "clean", late_messages=0)
    status, said = told()
    assert status is ExitCode.AS_EXPECTED
    assert "clean on 2.3.5, lease 30 s" in said
    assert "broker and store" in said
    assert "1 runs; 0 alarms" in said
    plant(run)
    record(run, "clean", late_messages=1)
    status, said = told()
    assert status is ExitCode.UNEXPECTED_REFUTATION
    assert f"{LATE}: refuted in 1, NOT EXPECTED" in said
    record(run, "paused-proxy", lost_rows=2, late_messages=1)
    status, said = told()
    assert f"{LATE}: refuted in 1, demanded" in said
    assert "history.kept/client-history: MISSED in 1" in said
    assert status is ExitCode.MISSING_REFUTATION


def record(run: Path, scenario: str, **facts: int) -> None:
    given = {"name": scenario, "versions": {"server": "2.3.5"}, "lease": 30, "facts": facts, "error": ""}
    (run / "scenario.json").write_text(json.dumps(given))
