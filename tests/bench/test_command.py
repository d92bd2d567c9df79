"""The command: a quick run works; differing counts fail; files are written."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tidemark.bench import cli
from tidemark.bench.report import number
from tidemark.bench.sample import BrokenRun, NotMeasured, Sample, Side, rate
from tidemark.bench.series import Goal, Measure
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.rooms import ROOT


def measure(name, *, mine=7, theirs=7, error=None):
    def other():
        if error is not None:
            raise error
        return Sample(seconds=2.0, counts={"distinct": theirs})

    def run(plan):
        sides = [Side("mine", lambda: Sample(seconds=1.0, counts={"distinct": mine})), Side("theirs", other)]
        series = plan.series(sides, measure=name, size="small")
        return [
            series.row("theirs", "rate", rate("distinct"), unit="/s"),
            series.row("mine", "rate", rate("distinct"), unit="/s", against="theirs", goal=Goal(at_least=99)),
        ]

    return Measure(name, "A fake.", run)


@pytest.fixture
def run(monkeypatch, tmp_path):
    def run(*measures, arguments=()):
        monkeypatch.setattr(cli, "MEASURES", measures)
        status = cli.run([*arguments, "--build", str(tmp_path)])
        path = tmp_path / "bench.json"
        return status, json.loads(path.read_text()) if path.exists() else None

    return run


def test_a_missed_goal_fails_nothing(run, capsys):
    status, found = run(measure("fake"))
    assert status == ExitCode.AS_EXPECTED.value
    assert found["repeat"] == 3
    assert [row["status"] for row in found["rows"]] == ["no goal", "not met"]
    assert found["rows"][1]["ratios"] == [2.0, 2.0, 2.0]
    assert found["rows"][1]["met"] is False
    assert set(found["machine"]) == {"cores", "memory_gib", "processor", "system", "python"}
    assert "not met" in capsys.readouterr().out


def test_differing_counts_fail(run, capsys):
    status, found = run(measure("fake", theirs=8))
    assert status == ExitCode.VACUOUS_OR_UNPINNED.value
    assert {row["status"] for row in found["rows"]} == {"COUNTS DIFFER"}
    assert "distinct: mine 7, theirs 8" in capsys.readouterr().out


def test_a_crash_fails(run):
    status, _ = run(measure("fake", error=BrokenRun("it crashed")))
    assert status == ExitCode.INTERNAL_ERROR.value


def test_a_missing_tool_fails_nothing_and_meets_nothing(run):
    status, found = run(measure("fake", error=NotMeasured("install it")))
    assert status == ExitCode.AS_EXPECTED.value
    assert [row["status"] for row in found["rows"]] == ["not measured"] * 2


def test_what_was_measured_before_a_stop_is_kept(run):
    def run_and_stop(plan):
        yield from measure("fake").run(plan)
        raise KeyboardInterrupt

    status, found = run(Measure("fake", "A fake.", run_and_stop), measure("other"))
    assert status == ExitCode.STOPPED.value
    assert found["stopped"] is True
    assert [row["measure"] for row in found["rows"]] == ["fake", "fake"]


def test_measures_by_name(run):
    status, found = run(measure("one"), measure("two"), arguments=["--only", "two", "--repeat", "2"])
    assert status == ExitCode.AS_EXPECTED.value
    assert {row["measure"] for row in found["rows"]} == {"two"}
    assert found["rows"][1]["status"] == "not judged"


def test_an_unknown_name_is_bad_input(run, capsys):
    status, found = run(measure("search"), arguments=["--only", "serach"])
    assert status == ExitCode.BAD_INPUT.value
    assert found is None
    assert "did you mean 'search'" in capsys.readouterr().err


def test_a_bad_option_is_bad_input(run, capsys):
    assert run(measure("one"), arguments=["--repeat", "0"])[0] == ExitCode.BAD_INPUT.value
    assert "--repeat" in capsys.readouterr().err


def test_numbers_are_shown_with_three_digits_and_counts_whole():
    shown = [number(value) for value in (1_986_794.0, 905_702.2, 0.012345, 2.0, float("nan"))]
    assert shown == ["1,986,794", "906,000", "0.0123", "2", "?"]


def test_a_quick_run_works(tmp_path):
    """The real measures on small sizes, as the Makefile starts them."""
    wanted = ["search", "startup", "proof", "interleave"]
    options = [text for name in wanted for text in ("--only", name)]
    done = subprocess.run(
        [sys.executable, "-m", "tidemark.bench", "--quick", *options, "--build", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "bench.json").read_text())
    measured = {row["measure"] for row in found["rows"] if row["samples"]}
    assert measured == set(wanted)
    assert "met" not in {row["status"] for row in found["rows"]}
    native = next(row for row in found["rows"] if row["what"] == "native, one worker")
    assert native["counts"] == {"distinct": 3388, "generated": 29270, "depth": 35}
    assert native["ratio"] > 1
    assert (tmp_path / "bench.md").read_text().startswith("**search: flush/tiny: 3,388 states**")
