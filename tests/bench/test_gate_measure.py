"""The time of the gate counts only if the gate is green."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tidemark.bench.measures import gate
from tidemark.bench.process import Finished
from tidemark.bench.series import Plan, Status
from tidemark.models.rooms import ROOT

GREEN = {
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
        (build / "verdicts.json").write_text(json.dumps(found), encoding="utf-8")
        assert env["TIDEMARK_KERNELS"].startswith(str(tmp_path))
        took = 390.0 if words[words.index("--jobs") + 1] == "1" else 200.0
        if changed:
            assert changed_copies(env, changed)
            return Finished("", status, 70.0 if changed[-1] == "flush" else 50.0, 0.0, 0)
        return Finished("NOT as expected: 1 of 2", status, 6.0 if again else took, 0.0, 0)

    monkeypatch.setattr(gate, "run_process", run)
    monkeypatch.setattr(gate, "cores", lambda: 2)
    return list(gate.run(Plan(scratch=tmp_path, quick=quick)))


def test_green(monkeypatch, tmp_path):
    empty, processor, at_work, again, single, _, *changes = rows(monkeypatch, tmp_path)
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
