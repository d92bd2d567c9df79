"""The command: a quick run works; differing counts fail; files are written; the gate is measured."""

import json
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.processes import finished
from tidemark.bench import cli
from tidemark.bench.measures import gate
from tidemark.bench.process import Finished
from tidemark.bench.report import number
from tidemark.bench.sample import BrokenRun, NotMeasured, Sample, Side, rate
from tidemark.bench.series import Goal, Measure, Plan, Status
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


@pytest.mark.parametrize(
    ("given", "code", "told"),
    [
        ({"theirs": 8}, ExitCode.VACUOUS_OR_UNPINNED, {"COUNTS DIFFER"}),
        ({"error": BrokenRun("it crashed")}, ExitCode.INTERNAL_ERROR, {"BROKEN", "not measured"}),
        ({"error": NotMeasured("install it")}, ExitCode.AS_EXPECTED, {"not measured"}),
    ],
)
def test_only_a_missing_tool_fails_nothing(run, capsys, given, code, told):
    status, found = run(measure("fake", **given))
    assert status == code.value
    assert {row["status"] for row in found["rows"]} == told
    assert ("distinct: mine 7, theirs 8" in capsys.readouterr().out) == ("theirs" in given)


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
    wanted = ["search", "startup", "interleave"]
    options = [text for name in wanted for text in ("--only", name)]
    done = finished(
        [sys.executable, "-m", "tidemark.bench", "--quick", *options, "--build", str(tmp_path)], cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "bench.json").read_text())
    measured = {row["measure"] for row in found["rows"] if row["samples"]}
    assert measured == set(wanted)
    assert "met" not in {row["status"] for row in found["rows"]}
    native = next(row for row in found["rows"] if row["what"] == "native, one worker")
    assert native["counts"] == {"distinct": 3388, "generated": 29270, "depth": 35}
    assert native["ratio"] > 1
    assert (tmp_path / "bench.md").read_text().startswith("**search: flush/tiny: 3,388 states**")


GREEN: dict[str, Any] = {
    "checks": {"done": 3},
    "judgements": [{}, {}],
    "measured": {"seconds": 10.0, "processor_seconds": 15.0, "taken_over": {"prove/any-size": "2026"}},
}


def rows(monkeypatch, tmp_path, *, status=0, quick=False, loses=False):
    """The lines of the measure, with a gate that takes 200 s on two cores and 390 s on one."""

    changed: list[str] = []

    def run(command, *, cwd, timeout, env):
        *words, option, whose = (str(word) for word in command)
        assert (option, whose) == ("--manifest", "suite"), (
            "a copy would be judged with the manifests of this clone"
        )
        if "pin" in words:
            changed.append(words[-1])
            return Finished("", 0, 1.0, 0.0, 0)
        build = Path(words[words.index("--build") + 1])
        again = build.exists()
        build.mkdir(exist_ok=True)
        found = GREEN | ({"judgements": []} if again and loses else {})
        took = 390.0 if words[-1] == "1" else 200.0
        if "--master" in words:
            master = words[words.index("--master") + 1]
            assert "executor.memory" in (Path(env["SPARK_CONF_DIR"]) / "spark-defaults.conf").read_text()
            found |= {"measured": GREEN["measured"] | {"seconds": 60.0 / int(master)}}
        (build / "verdicts.json").write_text(json.dumps(found), encoding="utf-8")
        assert env["TIDEMARK_KERNELS"].startswith(str(tmp_path))
        if changed:
            assert changed_copies(env, changed)
            return Finished("", status, 70.0 if changed[-1] == "flush" else 50.0, 0.0, 0)
        return Finished("NOT as expected: 1 of 2", status, 6.0 if again else took, 0.0, 0)

    monkeypatch.setattr(gate, "run_process", run)
    monkeypatch.setattr(gate, "cluster", lambda _, workers: nullcontext((str(workers), [])))
    monkeypatch.setattr(gate, "cores", lambda: 2)
    return list(gate.run(Plan(scratch=tmp_path, quick=quick)))


def test_green(monkeypatch, tmp_path):
    empty, processor, at_work, again, single, _, one, two, *changes = rows(monkeypatch, tmp_path)
    assert (one.median, two.median, two.ratio) == (60.0, 30.0, 0.5)
    assert (empty.median, empty.status, len(empty.samples)) == (200.0, Status.MET, 3)
    assert processor.median == 15.0
    assert at_work.median == 1.5
    assert (again.median, again.status) == (6.0, Status.MET)
    assert (single.median, len(single.samples)) == (390.0, 1)
    assert empty.counts == {"checks": 3, "verdicts": 2}
    took, judged = changes[::2], changes[1::2]
    assert {row.what: row.median for row in took} == {
        f"one action of {path.parent.name} changed": 70.0 if path.parent.name == "flush" else 50.0
        for path in (ROOT / "spec").glob("*/actions.py")
    }
    assert {row.goal for row in took} == {gate.AFTER_A_CHANGE}
    assert {row.median for row in judged} == {2.0}


def changed_copies(env, protocols):
    """The copy that is judged has exactly these protocols changed."""
    specs = Path(env["PYTHONPATH"]) / "tidemark" / "spec"
    differ = {
        path.parent.name
        for path in (ROOT / "spec").glob("*/actions.py")
        if path.read_bytes() != (specs / path.parent.name / "actions.py").read_bytes()
    }
    return differ == set(protocols)


def test_too_slow(monkeypatch, tmp_path):
    monkeypatch.setattr(gate, "WITHIN", replace(gate.WITHIN, at_most=199))
    assert rows(monkeypatch, tmp_path)[0].status is Status.NOT_MET


def test_red(monkeypatch, tmp_path):
    found = rows(monkeypatch, tmp_path, status=1)
    assert {row.status for row in found} == {Status.BROKEN}
    assert "status 1: NOT as expected" in found[0].reason


def test_quick_judges_nothing(monkeypatch, tmp_path):
    assert rows(monkeypatch, tmp_path, quick=True)[0].status is Status.NOT_JUDGED


def test_a_second_run_that_loses_verdicts(monkeypatch, tmp_path):
    found = rows(monkeypatch, tmp_path, loses=True)
    assert {row.status for row in found[:6]} == {Status.BROKEN}
    assert "the second run has" in found[0].reason
