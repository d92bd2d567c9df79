"""Traces and foreign runs: the longest matched prefix, what breaks it; traces that Go writes."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.checks.evidence.parts import write
from tests.models.exports.instances import GALLERY
from tidemark.checks.cli import app
from tidemark.checks.evidence.refinement.judge import refine
from tidemark.checks.evidence.refinement.model import Event, Trace
from tidemark.checks.report.forms.itf import to_itf
from tidemark.checks.report.graph import longest_run
from tidemark.models.instance import Instance
from tidemark.models.rooms import ROOT

BEGIN = {
    "kind": "trace", "v": 1, "protocol": "timetick", "ranks": ["Ts"],
    "constants": {
        "ddl": "rootcoord", "sender": {"m1": "proxy-1"}, "channel_of": {"m1": "dml_0"},
        "BARRIER": False, "FENCED": False,
    },
    "bounds": {"Faults": 1}, "hidden": ["others_allocate", "take_round", "end_round"],
}  # fmt: skip


def steps(*given: tuple[str, dict[str, Any], dict[str, Any]]) -> list[Any]:
    return [
        BEGIN,
        *({"n": "all", "s": n, "a": a, "args": args, "see": see} for n, (a, args, see) in enumerate(given)),
    ]


SOUND: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("restart", {}, {"up": True}),
    ("register", {"p": "proxy-1"}, {}),
    ("learn", {"p": "proxy-1"}, {"known[proxy-1]": True}),
    ("ask", {"m": "m1"}, {}),
    ("stamp", {"m": "m1", "ts": 470_000_100}, {}),
    ("report", {"p": "proxy-1", "upto": 470_000_100}, {"promised[proxy-1,dml_0]": 470_000_099}),
    ("report", {"p": "rootcoord", "upto": 470_000_099}, {}),
    ("accept", {"p": "proxy-1"}, {}),
    ("accept", {"p": "rootcoord"}, {}),
    ("close_round", {}, {"queued_ts[dml_0]": 470_000_099}),
    ("send_tick", {"c": "dml_0"}, {"highest[dml_0]": 470_000_099}),
    ("append", {"m": "m1"}, {}),
)


def judged(
    folder: Path, lines: list[Any], capsys: pytest.CaptureFixture[str]
) -> tuple[int, dict[str, Any], str]:
    write(folder / "run" / "traces" / "t.ndjson", lines)
    status = app.run(["evidence", str(folder / "run"), "--build", str(folder / "build")])
    said = capsys.readouterr()
    document = json.loads((folder / "build" / "verdicts.json").read_text())
    (one,) = document["judgements"]
    return status, one, said.out + said.err


def test_a_sound_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, one, said = judged(tmp_path, steps(*SOUND), capsys)
    assert status == 0, said
    assert one["counts"]["matched"] == len(SOUND)
    assert one["counts"]["candidates"] > len(SOUND)


def test_a_step_with_other_arguments_is_another_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No value is observed afterwards: the arguments alone tell which step it was."""
    sound: list[tuple[str, dict[str, Any], dict[str, Any]]] = [(a, args, {}) for a, args, _ in SOUND]
    assert judged(tmp_path, steps(*sound), capsys)[0] == 0
    twice = [*sound[:8], ("accept", {"p": "proxy-1"}, {}), *sound[9:]]
    status, _, said = judged(tmp_path, steps(*twice), capsys)
    assert status == 1, said


def clock(*actions: str) -> Trace:
    """A trace of a clock that strikes three at most."""
    events = [Event("t", n, "all", action, {}, ()) for n, action in enumerate(actions)]
    instance = Instance("tests.protocols.mazes:BornBroken", {"Hour": 3})
    return Trace("bornbroken", instance, (), [events])


def test_a_search_that_was_cut_and_a_step_beyond_the_bounds_match_nothing() -> None:
    done = refine(clock("tick", "tick", "tick"))
    assert (done.complete, done.cut, done.matched) == (True, False, 3)
    done = refine(clock("tick", "tick", "tick"), candidates=2)
    assert (done.complete, done.cut) == (False, True)
    done = refine(clock("tick", "tick", "tick", "tick"))
    assert (done.complete, done.cut, done.matched) == (False, False, 3)


def test_a_step_that_is_not_enabled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = steps(*SOUND[:8], ("close_round", {}, {}), *SOUND[8:])
    status, one, said = judged(tmp_path, lines, capsys)
    assert status == 1
    assert one["counts"]["matched"] == 8
    failing = one["counterexample"]["failing"]
    assert "after 8 of 13 steps: traces/t.ndjson:10 close_round" in failing
    assert "is not enabled: require(s.round_is_complete())" in failing, said


def test_a_value_that_the_step_does_not_give(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = (*SOUND[:10], ("send_tick", {"c": "dml_0"}, {"highest[dml_0]": 470_000_100}), SOUND[11])
    status, one, _ = judged(tmp_path, steps(*wrong), capsys)
    assert status == 1
    assert one["counts"]["matched"] == 10
    assert "highest['" not in one["counterexample"]["failing"]
    assert "was observed" in one["counterexample"]["failing"]


def test_parameters_that_are_not_observed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = [(a, {} if a in {"report", "accept", "learn"} else args, see) for a, args, see in SOUND]
    status, one, said = judged(tmp_path, steps(*bare), capsys)
    assert status == 0, said
    assert one["counts"]["matched"] == len(SOUND)


def test_a_stutter_only_looks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    look: tuple[str, dict[str, Any], dict[str, Any]] = ("", {}, {"up": True})
    status, _, _ = judged(tmp_path, steps(SOUND[0], look, *SOUND[1:]), capsys)
    assert status == 0
    status, one, _ = judged(tmp_path, steps(look, *SOUND), capsys)
    assert status == 1
    assert one["counts"]["matched"] == 0


def test_lost_steps_are_inconclusive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = steps(*SOUND)
    del lines[6]
    status, one, _ = judged(tmp_path, lines, capsys)
    assert status == 3
    assert one["outcome"] == "inconclusive"
    assert "1 steps are missing from traces/t.ndjson:7 on" in one["reason"]
    lines = [*steps(*SOUND[:3]), {"n": "all", "s": 3, "dropped": 5}]
    assert judged(tmp_path, lines, capsys)[0] == 3


def test_an_empty_trace_is_never_green(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, one, _ = judged(tmp_path, [BEGIN], capsys)
    assert status == 3
    assert "no step that could be judged" in one["reason"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"a": "fly"}, "'fly' is not an action"),
        ({"args": {"who": 1}}, "has no parameter 'who'"),
        ({"see": {"mood": 1}}, "not a variable of the protocol"),
        ({"see": {"up": 7}}, "7 is not a value of Bool"),
    ],
)
def test_a_line_that_is_no_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], text: str
) -> None:
    lines = steps(*SOUND[:2])
    lines[1] = lines[1] | change
    status, one, _ = judged(tmp_path, lines, capsys)
    assert status == 3
    assert text in one["reason"]


def test_two_files_in_any_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each process has its file; some order of their steps is a run."""
    of_proxy = {1, 3, 4, 5, 11}
    listed = steps(*SOUND)[1:]
    for name, chosen in (("proxy", of_proxy), ("rootcoord", set(range(12)) - of_proxy)):
        own = [one | {"n": name, "s": n} for n, one in enumerate(listed[i] for i in sorted(chosen))]
        write(tmp_path / "run" / "traces" / f"{name}.ndjson", [BEGIN, *own])
    status = app.run(["evidence", str(tmp_path / "run"), "--build", str(tmp_path / "build")])
    assert status == 0, capsys.readouterr().out


# ---- runs of other tools ----


def test_a_foreign_run_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_file = tmp_path / "run.itf.json"
    document = json.loads(to_itf(longest_run(GALLERY["stations"], limit=20_000), description="stations"))
    for state in document["states"]:
        state.pop("#meta", None)
    build = run_file.parent / "build"
    assert len(document["states"]) > 2
    run_file.write_text(json.dumps(document))
    assert app.run(["evidence", str(run_file), "--build", str(build)]) == 0
    broken = json.loads(json.dumps(document))
    del broken["states"][1]
    run_file.write_text(json.dumps(broken))
    status = app.run(["evidence", str(run_file), "--build", str(build)])
    said = capsys.readouterr()
    assert status == 1, said.out + said.err
    assert "no step leads from state 0 of the trace to state 1" in said.out
    assert app.run(["replay", str(run_file)]) == 1
    assert "no step leads" in capsys.readouterr().err


def test_a_run_that_does_not_say_of_what(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_file = tmp_path / "run.itf.json"
    run_file.write_text(json.dumps({"vars": ["x"], "states": [{"x": 1}, {"x": 2}]}))
    assert app.run(["evidence", str(run_file), "--build", str(tmp_path / "build")]) == 3
    assert "does not say which protocol" in capsys.readouterr().out


def test_the_page_on_traces_names_real_actions() -> None:
    import re

    from tidemark.checks.evidence.claims import PROTOCOLS
    from tidemark.spec.language.protocol import resolve

    docs = Path(__file__).parents[3] / "docs"
    page = (docs / "traces.md").read_text()
    actions = {name: {a.name for a in resolve(ref).trace().actions} for name, ref in PROTOCOLS.items()}
    named = [
        (protocol, action)
        for row in page.splitlines()
        for protocol, listed in re.findall(r"`(\w+)`: ((?:`\w+`(?:, )?)+)", row)
        for action in re.findall(r"`(\w+)`", listed)
    ]
    assert len(named) > 25
    assert [one for one in named if one[1] not in actions[one[0]]] == []
    assert {protocol for protocol, _ in named} == set(PROTOCOLS)
    assert len((docs / "tmtrace.go").read_text().splitlines()) <= 80
    assert "//go:build tidemark" in (docs / "tmtrace.go").read_text()


SOURCE = Path(__file__).parents[3] / "docs" / "tmtrace.go"
FETCHED = Path(sys.prefix) / "go" / "bin" / "go"
GO = str(FETCHED) if FETCHED.exists() else shutil.which("go")

PROGRAM = """
package main

import (
	"os"
	"strconv"
	"sync"

	"example.org/traced/tmtrace"
)

func main() {
	count, _ := strconv.Atoi(os.Args[3])
	if err := tmtrace.Start(os.Args[1], "all", os.Args[2]); err != nil {
		os.Exit(3)
	}
	tmtrace.Emit("restart", "", 0, nil, tmtrace.See{"up": true})
	tmtrace.Emit("register", "dml_0", 7, tmtrace.Args{"p": "proxy-1"}, nil)
	var wait sync.WaitGroup
	for worker := 0; worker < 4; worker++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for n := 0; n < count; n++ {
				tmtrace.Emit("", "", 0, nil, tmtrace.See{"up": true})
			}
		}()
	}
	wait.Wait()
	tmtrace.Stop()
	tmtrace.Emit("restart", "", 0, nil, nil)
}
"""


def test_it_is_short_enough_to_be_read() -> None:
    assert len(SOURCE.read_text().splitlines()) <= 80


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if GO is None:
        pytest.skip("there is no Go compiler: make go, or apt-get install golang-go")
    folder = tmp_path_factory.mktemp("go")
    (folder / "tmtrace").mkdir()
    shutil.copy(SOURCE, folder / "tmtrace")
    (folder / "go.mod").write_text("module example.org/traced\n\ngo 1.18\n")
    (folder / "main.go").write_text(PROGRAM)
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GO")}
    environment |= {"GOCACHE": str(folder / "cache"), "GOPROXY": "off", "GOFLAGS": "-mod=mod"}
    build = [GO, "build", "-tags", "tidemark", "-o", "traced", "."]
    done = subprocess.run(build, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "traced"


def written(program: Path, path: Path, count: int) -> list[dict[str, Any]]:
    """Run the program with four writers of so many steps each; what it wrote after the beginning."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([str(program), str(path), json.dumps(BEGIN), str(count)], check=True, timeout=120)
    first, *rest = path.read_text().splitlines()
    assert json.loads(first) == BEGIN
    return [json.loads(line) for line in rest]


def test_its_trace_is_judged(program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``Stop`` leaves nothing unwritten, and what comes after it is no part of the trace."""
    lines = written(program, tmp_path / "run" / "traces" / "go.ndjson", 3)
    assert [line["s"] for line in lines] == list(range(14))
    status = app.run(["evidence", str(tmp_path / "run"), "--build", str(tmp_path / "build")])
    assert status == 0, capsys.readouterr().out
    (one,) = json.loads((tmp_path / "build" / "verdicts.json").read_text())["judgements"]
    assert (one["outcome"], one["counts"]["matched"]) == ("holds", 14)


def test_steps_that_it_drops_are_counted_also_the_last_ones(program: Path, tmp_path: Path) -> None:
    count = 200_000
    lines = written(program, tmp_path / "go.ndjson", count)
    told = sum(line.get("dropped", 0) for line in lines)
    steps = [line for line in lines if "see" in line or "a" in line]
    assert len(steps) + told == 4 * count + 2
    assert [line["s"] for line in lines] == sorted({line["s"] for line in lines})
    assert lines[-1]["s"] >= 4 * count + 1


LINE = "x : MessageType=RESPONSE, ClientID={}, LockID=7, TransactionType={}, A=1, Result={}, B=2"
SPIN = '{{"action": "{}Lock", "data": {{"thread": {}}}, "post_state": {{"lockHolder": {}}}}}'
CALLS = [(0, "LOCK", "SUCCESS"), (1, "LOCK", "FAIL"), (1, "RELEASE", "FAIL"), (0, "RELEASE", "SUCCESS")]
HELD = [("Acquire", 0, 0), ("Acquire", 1, 0), ("Release", 0, "null"), ("Acquire", 1, 1)]


def lines(form: str, *given: tuple[object, ...]) -> str:
    return "\n".join(form.format(*one) for one in given)


def told(*given: tuple[Any, ...]) -> str:
    """Events of CCF's clients: what, which transaction (unless it is a status), view and number."""
    events = []
    for kind, *numbers in given:
        of = {"status": kind} if kind.endswith("Status") else {"tx": numbers.pop(0)}
        events.append(of | {"type": kind} | ({"tx_id": numbers} if numbers else {}))
    return "\n".join(map(json.dumps, events))


def sent(tx: int, view: int, number: int) -> list[tuple[Any, ...]]:
    return [("RwTxRequest", tx), ("RwTxExecute", tx, view, number), ("RwTxResponse", tx, view, number)]


def votes(*given: tuple[Any, ...]) -> str:
    """Events of raft's nodes: node, name, term, role; of a vote from whom and to whom."""
    events = []
    for node, name, term, role, *vote in given:
        event = {
            "nid": node,
            "name": name,
            "state": {"term": term},
            "role": f"State{role}",
            "conf": [["1", "2", "3"], []],
        }
        message = dict(zip(("from", "to"), vote, strict=False), type="MsgVoteResp", term=term, reject=False)
        events.append({"event": event | ({"msg": message} if vote else {})})
    return "\n".join(map(json.dumps, events))


ELECTION: list[tuple[Any, ...]] = [
    *((node, "BecomeFollower", 1, "Follower") for node in "123"),
    ("2", "BecomeCandidate", 2, "Candidate"),
    ("2", "SendRequestVoteResponse", 2, "Candidate", "2", "2"),
    ("2", "ReceiveRequestVoteResponse", 2, "Candidate", "2", "2"),
    ("3", "BecomeFollower", 2, "Follower"),
    ("3", "SendRequestVoteResponse", 2, "Follower", "3", "2"),
    ("2", "ReceiveRequestVoteResponse", 2, "Candidate", "3", "2"),
    ("2", "BecomeLeader", 2, "Leader"),
]
FIRST = [*sent(0, 2, 10), ("CommittedStatus", 2, 10)]

PUBLIC: dict[str, tuple[str, list[str], list[str]]] = {
    "convert.py": (
        "lockserver",
        [lines(LINE, *CALLS)],
        [lines(LINE, CALLS[0], (1, "LOCK", "SUCCESS")), lines(LINE, CALLS[-1])],
    ),
    "spin.py": (
        "lockserver",
        [lines(SPIN, *HELD)],
        [lines(SPIN, *HELD[:3], ("Acquire", 1, 0)), lines(SPIN, *HELD[:2], HELD[3])],
    ),
    "ccf.py": (
        "ledger",
        [
            told(*FIRST, *sent(1, 2, 11), ("InvalidStatus", 2, 11), *sent(2, 3, 11)),
            told(*FIRST, ("RoTxRequest", 1), ("RoTxResponse", 1, 3, 12)),
        ],
        [
            told(*FIRST, ("InvalidStatus", 2, 10)),
            told(*sent(0, 2, 10), *sent(1, 3, 10), ("CommittedStatus", 2, 10), ("CommittedStatus", 3, 10)),
            told(*sent(0, 2, 10), *sent(1, 2, 11), ("InvalidStatus", 2, 10), ("CommittedStatus", 2, 11)),
            told(*FIRST, ("RoTxRequest", 1), ("RoTxResponse", 1, 3, 9)),
            told(*FIRST, *sent(1, 3, 10)),
            told(*sent(0, 2, 10), *sent(1, 2, 10)),
            told(*sent(0, 2, 10)[:2], ("RwTxResponse", 0, 2, 11)),
            told(*sent(0, 2, 10), ("CommittedStatus", 2, 9)),
        ],
    ),
    "raft.py": (
        "elections",
        [votes(*ELECTION), votes(*ELECTION, ("4", "BecomeFollower", 2, "Follower"))],
        [
            votes(*ELECTION[:5], *ELECTION[6:]),
            votes(*ELECTION, ("3", "SendRequestVoteResponse", 2, "Follower", "3", "1")),
            votes(*ELECTION, ("2", "BecomeFollower", 1, "Follower")),
        ],
    ),
}


@pytest.mark.parametrize("script", PUBLIC)
def test_the_specifications_and_scripts_of_the_page(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They judge logs in the form of the public ones: sound ones hold, others are refuted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    page = (ROOT / "docs" / "traces.md").read_text(encoding="utf-8")
    for name, text in re.findall(r"^```python file=(\S+)\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(text, encoding="utf-8")
    protocol, sound, wrong = PUBLIC[script]
    for log, status in [*((one, 0) for one in sound), *((one, 1) for one in wrong)]:
        done = subprocess.run([sys.executable, script], input=log, capture_output=True, text=True, check=True)
        (tmp_path / "run.ndjson").write_text(done.stdout, encoding="utf-8")
        assert app.run(["evidence", "run.ndjson", "--build", "b"]) == status
    monkeypatch.delitem(sys.modules, protocol)
