"""The judge ``conform``: it finds planted bugs, shortens what it finds, and says what it has not tried."""

import re
import socket
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import pytest

from tests.checks.gate.toy import REFERENCE, data
from tests.manifests import manifests
from tests.models.refinement.test_actions import PROTOCOLS
from tidemark.checks.conform.judge import JUDGE, Drive
from tidemark.checks.conform.origins import Origins, Recorder, origins, origins_text, tables
from tidemark.checks.conform.walks import Walks
from tidemark.checks.gate.pins import judgements
from tidemark.checks.interleave.again import replay_token
from tidemark.checks.mutation.implementation.hosts import Host, Kind, ask
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.verdict import COVERAGE, Outcome, Verdict
from tidemark.impl.values.report import TimeTickReport
from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.manifest import ConformEntry, Manifest, ManifestError, parse
from tidemark.models.protocols.sessions.program import SessionsProgram, SessionsScenario
from tidemark.models.refinement.scenario import program
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.world.process import Process

_PROPERTY = "conformance"


class Lamps:
    """Lamps with a switch each. By chance one flickers, which changes nothing."""

    ignored: ClassVar[tuple[str, ...]] = ()
    never_offered: ClassVar[dict[str, str]] = {}

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        del instance
        self._checker = checker
        self.lit = [False, False]
        self.turns = self.flickers = 0

    def state(self) -> State:
        lit = dict(enumerate(self.lit))
        return self._checker.encode({"lit": lit, "any_lit": any(self.lit), "turns": self.turns})

    def offers(self, step: Step) -> bool:
        del step
        return True

    def perform(self, step: Step, chance: int) -> None:
        self.lit[int(step.args[0])] = step.action == "switch_on"
        self.turns += step.action == "switch_on"
        self.flickers += chance > 8

    def faults(self) -> dict[str, int]:
        return {"flickers": self.flickers}

    def close(self) -> None:
        """Nothing is open."""


class CountsEachSwitch(Lamps):
    """A lamp that is put out counts as a turn."""

    def perform(self, step: Step, chance: int) -> None:
        super().perform(step, chance)
        self.turns += step.action == "switch_off"


class NeverOff(Lamps):
    """Cannot be made to put a lamp out, and does not say so."""

    def offers(self, step: Step) -> bool:
        return step.action != "switch_off"


class SaysWhy(NeverOff):
    """The same, with a reason; and an excuse that is not needed."""

    never_offered: ClassVar[dict[str, str]] = {"switch_off": "nobody asks", "switch_on": "no lamp"}


class FailsToSwitch(Lamps):
    """Its implementation raises where the specification switches off."""

    def perform(self, step: Step, chance: int) -> None:
        if step.action == "switch_off":
            raise BrokenRunError("it raised")
        super().perform(step, chance)


class BeginsElsewhere(Lamps):
    """Its first state is none that the specification begins with."""

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        super().__init__(instance, checker)
        self.turns = 1


def _manifest(adapter: type[Lamps], **changes: Any) -> Manifest:
    entry = {
        "name": "driven",
        "instance": "two-lamps",
        "adapter": f"{__name__}:{adapter.__name__}",
        "claims": [_PROPERTY],
        "examples": 25,
        "steps": 40,
        "expect": {"every": "holds"},
    }
    known = data()
    return parse(
        {
            "name": "lights",
            "protocol": REFERENCE,
            "properties": known["properties"],
            "instance": known["instance"][:1],
            "conform": [entry | changes],
        },
        file="lights.toml",
    )


def _judge(adapter: type[Lamps], **changes: Any) -> dict[str, Verdict]:
    manifest = _manifest(adapter, **changes)
    verdicts = JUDGE.run(manifest.conform[0], Context(manifest=manifest))
    return {verdict.subject.property_id: verdict for verdict in verdicts}


@pytest.mark.parametrize(
    ("adapter", "steps", "seen"),
    [
        (CountsEachSwitch, 2, "turns: 1 -> 2"),
        (FailsToSwitch, 2, "it raised"),
        (BeginsElsewhere, 0, "the first state is not initial"),
    ],
)
def test_what_is_wrong_is_found_and_shortened(adapter: type[Lamps], steps: int, seen: str) -> None:
    verdict = _judge(adapter)[_PROPERTY]
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.counterexample is not None
    assert len(verdict.counterexample.steps) <= steps
    assert seen in verdict.counterexample.failing
    assert verdict.replay == "tidemark verify --tier full --only conform/driven"


def test_the_same_seed_gives_the_same_examples() -> None:
    one, two = (_judge(Lamps, examples=5) for _ in range(2))
    assert one[_PROPERTY].outcome is Outcome.HOLDS
    assert one[_PROPERTY].counts == two[_PROPERTY].counts
    assert one[_PROPERTY].counts["performed"] > 5


def test_an_action_that_is_never_performed_fails_the_coverage() -> None:
    verdict = _judge(NeverOff)[COVERAGE]
    assert verdict.outcome is Outcome.REFUTED
    assert "the action switch_off was never performed" in verdict.reason


def test_an_excuse_must_be_true() -> None:
    verdict = _judge(SaysWhy)[COVERAGE]
    assert verdict.outcome is Outcome.REFUTED
    assert "the action switch_off was never performed" not in verdict.reason
    assert "the adapter excuses 'switch_on', which was performed or does not exist" in verdict.reason


def test_a_fault_that_never_happens_is_named() -> None:
    """One step is too little for a fault."""
    coverage = _judge(Lamps, examples=1, steps=1)[COVERAGE]
    assert coverage.outcome is Outcome.REFUTED
    assert "the fault flickers never happened" in coverage.reason


def test_examples_that_were_not_run_are_missed() -> None:
    manifest = _manifest(Lamps)
    drive = Drive.of(manifest.conform[0], Context(manifest=manifest))
    drive.journal.examples = 24
    verdicts = JUDGE.verdicts(drive, None, 0.0)
    (coverage,) = [one for one in verdicts if one.subject.property_id == COVERAGE]
    assert coverage.outcome is Outcome.REFUTED
    assert "only 24 of 25 examples were run" in coverage.reason
    unseen = [one for one in verdicts if one is not coverage]
    found = judgements(Task(manifest, manifest.conform[0], "conform"), JUDGE, unseen)
    assert [one.verdict.reason for one in found if not one.ok] == ["examples: pinned 25, seen 24"]


TABLES = tables()
COUNTED = (
    "3 variables of 1 mappings: 1 are read from the implementation, 1 in part,"
    " 1 are environment or noted by adapters"
)


def test_each_mapping_has_a_table():
    assert {name for name in TABLES if "/" not in name} == PROTOCOLS.keys()


@pytest.mark.parametrize("name", TABLES)
def test_each_variable_is_read_or_has_a_reason(name):
    found = origins(TABLES[name], manifests()[name.partition("/")[0]])
    assert found.unknown() == []
    assert set(found.reasons) - set(found.variables) == set()


def test_a_variable_of_which_nothing_is_known_is_named():
    assert Origins(("a", "b", "c"), {"a": "a clock"}, ignored={"b"}).unknown() == ["c"]


def look(evaluate: Any) -> Mapping[str, set[tuple[str, str]]]:
    found, recorder = Origins(("a", "b"), {}), Recorder()
    with recorder.installed():
        found.look(recorder, evaluate)
    return found.fields


def test_a_variable_comes_from_the_field_on_which_it_depends():
    report = TimeTickReport(3, (), 7)

    def mapping() -> dict[str, Hashable]:
        return {"a": report.source, "b": 2}

    assert look(mapping) == {"a": {("TimeTickReport", "source")}}
    assert look(lambda: {"a": 1, "b": report.value("x") + 1}) == {"b": {("TimeTickReport", "value")}}


def test_the_text_counts_what_is_read_from_where():
    found = Origins(("a", "b", "c"), {"b": "it answers by the network", "c": "a clock"})
    found.fields.update(a={("Thing", "kept")}, b={("Thing", "answer")})
    assert origins_text({"thing": found}).splitlines() == [
        "thing",
        "  a (read): Thing.kept",
        "  b (in part): Thing.answer; it answers by the network",
        "  c (environment): a clock",
        "",
        COUNTED,
    ]
    assert "a (read)" not in origins_text({"thing": found}, only_adapters=True)


SESSIONS = manifests()["sessions"]
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


def _walked_manifest(entry: ConformEntry) -> Manifest:
    return SESSIONS.model_copy(update={"conform": (entry,)})


def _verdicts(entry: ConformEntry, seed: int = 0) -> dict[str, Any]:
    context = Context(manifest=_walked_manifest(entry), seed=seed)
    return {one.subject.property_id: one for one in JUDGE.run(entry, context)}


def test_actions_that_no_walk_has_had_are_named():
    found = _verdicts(_entry(constants={"lives": [1]}))
    assert found["conformance"].outcome is Outcome.HOLDS
    assert "12 walks of at most 80 steps" in found["conformance"].bounds
    assert found[COVERAGE].outcome is Outcome.REFUTED
    assert "no walk has had the action compact" in found[COVERAGE].reason


def test_a_comparison_that_takes_any_state_for_a_first_one_is_a_problem(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(StepChecker, "start", lambda checker, state: None)
    found = _verdicts(_entry())
    assert found["conformance"].outcome is Outcome.HOLDS
    assert "a later state is taken for a first one" in found[COVERAGE].reason


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


def test_a_changed_digest_of_the_source_makes_the_same_walks(monkeypatch: pytest.MonkeyPatch):
    def covered() -> tuple[int, dict[str, int]]:
        (walks := Walks(_entry(), 0)).run()
        return walks.steps, dict(walks.covered)

    before = covered()
    monkeypatch.setattr("hypothesis.core.function_digest", lambda function: b"another")
    assert covered() == before


def test_the_shares_of_three_seeds_lie_within_a_band():
    """Independent walks: four standard deviations of the mean share on both sides."""
    entry, found = _entry(steps=6, examples=60), []
    for seed in range(3):
        (walks := Walks(entry, seed)).run()
        found.append(walks.covered["list_sessions"])
    share = sum(found) / (3 * entry.examples)
    assert 0.5 < share < 0.9
    band = 4 * (entry.examples * share * (1 - share)) ** 0.5
    assert all(abs(one - share * entry.examples) <= band for one in found), found


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
    replayed = replay_token(verdict.counterexample.token, [_walked_manifest(entry)])
    assert (replayed.name, replayed.violation is None) == ("walked", False)


class OpensASocket(SessionsProgram):
    async def _compact(self, process: Process) -> None:
        socket.socket()


def test_what_the_simulation_refuses_says_nothing_of_the_program(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tidemark.models.protocols.sessions.program.sessions", outside)
    found = _verdicts(entry := _entry())
    assert {claim: one.outcome for claim, one in found.items()} == {"conformance": Outcome.INCONCLUSIVE}
    assert "the program cannot be explored" in found["conformance"].reason
    assert ask(Host(_walked_manifest(entry), entry)).kind is Kind.COUNT


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
