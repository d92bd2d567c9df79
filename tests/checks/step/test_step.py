"""``tidemark step``: each command, in an instance and along a counterexample, from a script."""

import io
import json
import shlex
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tests.checks.report.handover import CLAIM, STEPS, run
from tidemark.checks.cli.app import run as tidemark
from tidemark.checks.explore.replay import parse_token, run_of
from tidemark.checks.gate import last
from tidemark.checks.interleave import again
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.simulation.execution import Violation

MANIFEST = f"""
name = "handover"
protocol = "tests.protocols.small:Handover"

[properties]
invariant = ["{CLAIM}"]

[instance.two]
engines = ["interpreted"]
bounds = {{ Server = 2, Time = 1 }}
expect = {{ every = "holds" }}
counts = {{ distinct = 18 }}
"""
SIZE = ["tests.protocols.small:Handover", "--bound", "Server=2", "--bound", "Time=1"]


@pytest.fixture
def walk(monkeypatch, capsys):
    """Commands in, status and answers out, by command."""

    def do(arguments: list[str], commands: list[str]) -> tuple[int, dict[str, list[str]]]:
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(commands) + "\n"))
        status = tidemark(["step", *arguments])
        answers: dict[str, list[str]] = {"": []}
        at = ""
        for line in capsys.readouterr().out.splitlines():
            if line.startswith("> "):
                at = line[2:]
                answers[at] = []
            else:
                answers[at].append(line)
        return status, answers

    return do


def test_what_is_possible_and_what_comes_of_it(walk):
    status, said = walk(SIZE, ["1", "enabled", "offer 0 1", "accept(server=0, other=1)", "run", "claims"])
    assert status == ExitCode.AS_EXPECTED
    assert said[""] == [
        "handover: Server 2, Time 1; commands: help",
        "  1. take(server=0): holder[0]: false -> true",
        "  2. take(server=1): holder[1]: false -> true",
        "  3. tick: now: 0 -> 1",
    ]
    assert said["1"] == ["1. take(server=0)", "     holder[0]: false -> true"]
    assert said["enabled"][0] == "  1. offer(server=0, other=1): offered[0,1]: false -> true"
    broken = f"BROKEN {CLAIM}: (holder[a_0] & holder[b_1]) => (a_0 == b_1), with a_0 = 0, b_1 = 1"
    assert said["accept(server=0, other=1)"][-1] == broken
    assert said["claims"] == [broken]
    assert said["run"] == ["1. take(server=0)", "2. offer(server=0, other=1)", "3. accept(server=0, other=1)"]


def test_why_a_step_is_not_possible(walk):
    _, said = walk(SIZE, ["take 0", "why take", "why offer 1 1", "why offer 0 1", "why"])
    guard = "require(~exists(s.Server, lambda o: s.holder[o]))"
    assert said["why take"] == [f"take, 2 of 2 steps: {guard}  fails: ~exists(o_0: Server: holder[o_0])"]
    assert said["why offer 1 1"] == [
        "require(s.holder[server])  fails: holder[server], with server = 1",
        "require(server != other)  fails: server != other, with server = 1, other = 1",
    ]
    assert said["why offer 0 1"] == ["offer(server=0, other=1) is enabled"]
    assert "accept, 4 of 4 steps: require(s.offered[server, other])" in said["why"]
    assert "offer(server=0, other=0): require(server != other)" in said["why"]


def test_expressions_and_the_state(walk):
    asked = [
        "= s.now + 1",
        "= count(Server, lambda a: s.holder[a])",
        "= holder[0] & ~LETS_GO",
        "= s.holder",
        "state now",
        "state",
    ]
    status, said = walk(SIZE, ["take 0", "tick", *asked])
    assert status == ExitCode.AS_EXPECTED
    assert [said[one] for one in asked] == [
        ["2"],
        ["1"],
        ["true"],
        ["[0] true", "[1] false"],
        ["now = 1"],
        ["holder = all true, except {1: false}", "offered = all false", "now = 1"],
    ]


def test_back_and_again(walk):
    _, said = walk(SIZE, ["take 0", "tick", "back", "= s.now", "start", "run", "quit", "take 0"])
    assert said["back"] == ["after step 1, take(server=0)"]
    assert said["= s.now"] == ["0"]
    assert said["run"] == ["no step was taken"]
    assert "take 0" not in list(said)[-1], "nothing is read after quit"


def test_along_a_counterexample(walk, tmp_path, monkeypatch):
    file = tmp_path / "handover.toml"
    file.write_text(MANIFEST, encoding="utf-8")
    _, command = run(STEPS)
    token = shlex.split(command)[2]
    _, _, steps = run_of(parse_token(token), manifests_of(file))
    assert steps == STEPS
    commands = ["next 2", "= s.now", "why accept 0 1", "offer 0 1", "next", "back 2", "take 0", "next 9"]
    status, said = walk([token, "--manifest", str(file)], commands)
    assert said[""][1].endswith("  <- next")
    assert said["next 2"][0] == "1. take(server=0)"
    assert said["= s.now"] == ["1"]
    assert said["why accept 0 1"] == [
        "require(s.offered[server, other])  fails: offered[server, other], with server = 0, other = 1"
    ]
    assert said["next"][0] == "4. accept(server=0, other=1)"
    assert said["next"][-1].startswith(f"BROKEN {CLAIM}")
    assert "is not enabled: require(~exists" in said["take 0"][0]
    assert said["next 9"][-2] == "there is no next step of a counterexample"
    assert status == ExitCode.BAD_INPUT, "a script with a command that is refused has not done what it says"


def manifests_of(file):
    from tidemark.checks.inputs.manifests import manifests

    return manifests([file])


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("99", "there is no step 99"),
        ("jump", "there is no command and no action 'jump'"),
        ("take", "take with no arguments"),
        ("take 7", "there is no step take with 7"),
        ("take 'x", "take 'x: No closing quotation"),
        ("offer 0 1 2", "offer with 0, 1, 2"),
        ("state later", "there is no variable 'later'"),
        ("back", "0 steps lie behind"),
        ("back x", "x is not a number"),
        ("start 5", "there is no initial state 5"),
        ("why jump", "there is no action 'jump'"),
        ("= s.later", "s.later: Handover has no variable 'later'"),
        ("= 1 +", "1 +: SyntaxError: invalid syntax"),
        ("= s.now if s.now else 0", "a symbolic value has no truth value"),
    ],
)
def test_what_cannot_be_done_is_said_with_a_remedy(command, message, walk):
    status, said = walk(SIZE, [command, "= s.now"])
    assert message in said[command][0]
    assert said[command][1].startswith("  remedy: ")
    assert said["= s.now"] == ["0"], "and the session goes on"
    assert status == ExitCode.BAD_INPUT


def test_the_token_of_an_implementation_is_refused(capsys):
    assert tidemark(["step", "tm1-abc"]) == ExitCode.BAD_INPUT
    assert "tidemark replay" in capsys.readouterr().err


@pytest.mark.parametrize(("claim", "word"), [("a.b", "still"), ("execution", "no longer")])
def test_an_order_that_breaks_another_claim_is_not_the_failure(claim, word, tmp_path, monkeypatch):
    found = SimpleNamespace(violation=Violation("property", "a.b: no"), shown=SimpleNamespace(steps=[1, 2]))
    monkeypatch.setattr(again, "replay_token", lambda *_of: found)
    kept = json.dumps([last.LastFailure("interleave/x", claim, "token")])
    (tmp_path / last.FILE).write_text(kept, encoding="utf-8")
    task: Any = SimpleNamespace(name="interleave/x", manifest=SimpleNamespace(name="a"))
    (line,) = last.replayed(tmp_path, [task])
    assert f"{claim} is {word} refuted" in line


def test_the_last_failure_is_replayed_first(tmp_path, capsys):
    file, build = tmp_path / "handover.toml", tmp_path / "build"
    file.write_text(MANIFEST, encoding="utf-8")
    words = ["interpreted", "--manifest", str(file), "--build", str(build)]
    assert tidemark(words) == ExitCode.UNEXPECTED_REFUTATION
    assert "last failure" not in capsys.readouterr().out
    assert tidemark(words) == ExitCode.UNEXPECTED_REFUTATION
    _, first, *rest = capsys.readouterr().out.splitlines()
    assert first == f"last failure of interpreted/two: {CLAIM} is still refuted, in 3 steps"
    assert any(line.startswith("FAIL  expected holds") for line in rest), "the verdict is found anew"
    repaired = MANIFEST.replace("bounds =", "constants = { LETS_GO = true }\nbounds =")
    file.write_text(repaired.replace("distinct = 18", "distinct = 10"), encoding="utf-8")
    assert tidemark(words) == ExitCode.AS_EXPECTED
    first = capsys.readouterr().out.splitlines()[1]
    assert first == f"last failure of interpreted/two: {CLAIM} is no longer refuted by this run"
    assert tidemark(words) == ExitCode.AS_EXPECTED
    assert "last failure" not in capsys.readouterr().out
