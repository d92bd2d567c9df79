"""Walks: Hypothesis picks what happens next in a program of the explorer."""

from __future__ import annotations

import re
import socket
from typing import Any

import pytest

from tidemark.checks.conform.judge import JUDGE
from tidemark.checks.conform.walks import Walks
from tidemark.checks.interleave.again import replay_token
from tidemark.checks.mutation.implementation.hosts import Host, Kind, ask
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import COVERAGE, Outcome
from tidemark.models.manifest import ConformEntry, Manifest, ManifestError, load, parse
from tidemark.models.protocols.sessions.program import SessionsProgram, SessionsScenario
from tidemark.models.refinement.scenario import program
from tidemark.models.rooms import ROOT
from tidemark.models.simulation.world.process import Process

SESSIONS = load(ROOT / "models" / "protocols" / "sessions" / "manifest.toml")
PROGRAM = "tidemark.models.protocols.sessions.program:sessions"
WRONG = "tidemark.models.protocols.sessions.mutants.implementation:the_list_misses_one_walked"


def _entry(**changes: Any) -> ConformEntry:
    usual = {
        "name": "walked",
        "program": PROGRAM,
        "claims": ("conformance",),
        "constants": {"lives": [1, 1], "compactions": 1},
        "examples": 12,
        "steps": 80,
        "expect": {"every": "holds"},
    }
    return ConformEntry.model_validate(usual | changes)


def _manifest(entry: ConformEntry) -> Manifest:
    return SESSIONS.model_copy(update={"conform": (entry,)})


def _verdicts(entry: ConformEntry, seed: int = 0) -> dict[str, Any]:
    context = Context(manifest=_manifest(entry), seed=seed)
    return {one.subject.property_id: one for one in JUDGE.run(entry, context)}


def test_actions_that_no_walk_has_had_are_named():
    found = _verdicts(_entry(constants={"lives": [1]}))
    assert found["conformance"].outcome is Outcome.HOLDS
    assert "12 walks of at most 80 steps" in found["conformance"].bounds
    assert found[COVERAGE].outcome is Outcome.REFUTED
    assert "no walk has had the action compact" in found[COVERAGE].reason


def test_an_excuse_must_be_needed():
    walks = Walks(_entry(unreached={"register": "no node", "nothing": "no such action"}), 0)
    walks.run()
    assert {problem for problem in walks.silent() if "excuses" in problem} == {
        "the entry excuses 'register', which a walk has had or which does not exist",
        "the entry excuses 'nothing', which a walk has had or which does not exist",
    }


def test_the_same_seed_makes_the_same_walks():
    def steps(seed: int) -> tuple[int, dict[str, int]]:
        walks = Walks(_entry(), seed)
        walks.run()
        return walks.steps, dict(walks.covered)

    assert steps(0) == steps(0)
    assert steps(1) != steps(0)


def test_what_is_weighted_happens_more_often():
    def ends(weights: dict[str, int]) -> int:
        walks = Walks(_entry(weights=weights, steps=6, examples=40), 0)
        walks.run()
        return walks.covered["expire"]

    assert ends({"end": 200}) > ends({"end": 1})


def test_a_fault_is_found_made_short_and_replayed():
    entry = _entry(program=WRONG, examples=40)
    found = _verdicts(entry)
    assert set(found) == {"conformance"}, "walks that end at a failure cover nothing"
    verdict = found["conformance"]
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.counterexample is not None
    assert len(verdict.counterexample.steps) <= 12
    replayed = replay_token(verdict.counterexample.token, [_manifest(entry)])
    assert (replayed.name, replayed.violation is None) == ("walked", False)


class OpensASocket(SessionsProgram):
    async def _compact(self, process: Process) -> None:
        socket.socket()


def test_what_the_simulation_refuses_says_nothing_of_the_program(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tidemark.models.protocols.sessions.program.sessions", outside)
    found = _verdicts(entry := _entry())
    assert {claim: one.outcome for claim, one in found.items()} == {"conformance": Outcome.INCONCLUSIVE}
    assert "the program cannot be explored" in found["conformance"].reason
    assert ask(Host(_manifest(entry), entry)).kind is Kind.COUNT


outside = program(OpensASocket, SessionsScenario)


def test_a_program_without_a_specification_is_refused():
    walks = Walks(_entry(program="tidemark.models.simulation:Program", constants={}), 0)
    with pytest.raises(BadInputError, match="refines no protocol"):
        walks.silent()


@pytest.mark.parametrize("given", [{"program": PROGRAM, "adapter": WRONG}, {"adapter": WRONG}, {}])
def test_an_entry_is_walked_or_driven(given: dict[str, str]):
    plain = SESSIONS.model_dump(exclude_defaults=True, include={"name", "protocol", "properties"})
    entry = {"name": "a", "claims": ["conformance"], "expect": {"every": "holds"}, **given}
    with pytest.raises(ManifestError, match="needs either 'program', or 'instance' and 'adapter'"):
        parse(plain | {"conform": [entry]}, file="a.toml")


@pytest.mark.parametrize(
    ("reaches", "problem"),
    [
        ({"register": 1.0}, ""),
        ({"forget": 1.0}, r"forget in \d+ of 12 walks, and 100% of them must have it"),
        ({"nothing": 0.1}, r"the entry reaches 'nothing', which is no action and no witness"),
    ],
)
def test_a_step_that_too_few_walks_have_had_is_a_problem(reaches, problem):
    whole = {"lives": [1, 1], "compactions": 1, "crashes": 1}
    entry = _entry(constants=whole, reaches=reaches, steps=12 if problem else 80)
    found = _verdicts(entry)[COVERAGE]
    assert found.outcome is (Outcome.REFUTED if problem else Outcome.HOLDS)
    assert re.search(problem, found.reason)
    assert problem or found.notes == ("register in 12 of 12 walks",)
