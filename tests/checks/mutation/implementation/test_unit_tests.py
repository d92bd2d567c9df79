"""Tests as hosts of mutants, and slips: mistakes of people that are tried like the mutants made by rule."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.manifests import manifests
from tidemark.checks.mutation.implementation.command import measured_text, table_text
from tidemark.checks.mutation.implementation.farm import Farm
from tidemark.checks.mutation.implementation.fate import Fate, Trial
from tidemark.checks.mutation.implementation.hosts import Kind, ask
from tidemark.checks.mutation.implementation.judge import Plan, reach_of, reaches_of, tried
from tidemark.checks.mutation.implementation.trial import FAILING, UNCHANGED, Target
from tidemark.checks.mutation.implementation.unit_tests import NoTestRunError, UnitTests, unit_tests_of
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.progress import silent
from tidemark.models.manifest import ImplementationMutants
from tidemark.models.mutation.patches import Patch
from tidemark.models.mutation.source.mutants import mutant_of

PACKAGE = "tidemark.impl"
FILE = "proxy/statistics.py"
LEAST = f"{FILE}:ChannelStatistics.least/not-in-to-in@1"
TEST = """
from tidemark.impl.proxy.statistics import ChannelStatistics

def test_least():
    found = ChannelStatistics()
    for ts in (3, 2):
        found.commit(["x"], ts)
    assert found.snapshot()["x"].min_ts == 2
"""
SETTINGS = "[pytest]\naddopts = --strict-config\ncache_dir = cached\nfilterwarnings = error\n"
SLIP = Patch(
    "the-least-is-forgotten",
    at=f"{FILE}:ChannelStatistics.least",
    old="not in tracked",
    new="in tracked",
    source="facts 3.1",
    says="The least timestamp leaves the heap though its task is unfinished.",
)
SLIPS = (SLIP,)
TSO = manifests()["tso"]
HERE = f"{__name__}:SLIPS"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> UnitTests:
    folder = tmp_path_factory.mktemp("unit")
    (folder / "pytest.ini").write_text(SETTINGS, encoding="utf-8")
    (folder / "test_statistics.py").write_text(TEST, encoding="utf-8")
    (found,) = unit_tests_of(["."], folder)
    return found


def test_a_test_that_fails_kills(host: UnitTests):
    target = Target.of(PACKAGE)
    farm = Farm(target, seconds={})
    trials = {one.id: one for one in farm.trials([(name, [host]) for name in (LEAST, UNCHANGED, FAILING)])}
    found = {name: one.fate for name, one in trials.items()}
    assert found == {LEAST: Fate.KILLED, UNCHANGED: Fate.SURVIVED, FAILING: Fate.BROKEN}
    seen = (trials[LEAST].host, trials[LEAST].claim)
    assert seen == ("test_statistics.py", "test_statistics.py::test_least")


def test_it_is_known_what_tests_run(host: UnitTests):
    target = Target.of(PACKAGE)
    reach = reach_of(host, [FILE, "proxy/ticker.py"], target)
    assert reach.answer.kind is Kind.SAME
    assert reach.runs(mutant_of(target.root, LEAST))
    assert not reach.lines["proxy/ticker.py"]


def test_tests_that_cannot_be_run_say_nothing(tmp_path: Path):
    (tmp_path / "test_of_nothing.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
    host = UnitTests("test_of_nothing.py", tmp_path)
    with pytest.raises(NoTestRunError, match="nothing_of_this_name"):
        ask(host)
    with pytest.raises(BadInputError, match="nothing_of_this_name"):
        reaches_of(replace(_plan(), hosts=(host,)), progress=silent)


def test_a_test_that_passes_only_once_fails_the_controls(host: UnitTests, tmp_path: Path):
    """It would kill every mutant, also one that changes nothing."""
    text = f"{TEST}\nLEFT = [1]\n\n\ndef test_left():\n    assert LEFT.pop()\n"
    (tmp_path / "test_consumed.py").write_text(text, encoding="utf-8")
    plan = replace(_plan(), hosts=(host, host, host, UnitTests("test_consumed.py", tmp_path)), mutants=())
    reaches = reaches_of(plan, progress=silent)
    trials = {one.id: one for one in tried(plan, Context(manifest=TSO), reaches)}
    control = trials[UNCHANGED]
    assert (control.fate, control.claim) == (Fate.KILLED, "test_consumed.py::test_left")


def test_a_folder_without_tests_is_named(tmp_path: Path):
    with pytest.raises(BadInputError, match="there are no tests in 'nowhere'"):
        unit_tests_of(["nowhere"], tmp_path)


def _plan(**given: object) -> Plan:
    entry = ImplementationMutants.model_validate(
        {"name": "a-places", "files": (FILE,), "tests": ("tests/impl/proxy/test_statistics.py",)}
        | {"total": 1}
        | given
    )
    return Plan.of(entry, TSO)


def test_slips_are_tried_with_the_mutants_that_rules_make(host: UnitTests):
    plan = _plan(slips=HERE)
    (slip,) = [mutant for mutant in plan.mutants if mutant.operator == "slip"]
    assert slip.id == f"{FILE}:ChannelStatistics.least/slip:the-least-is-forgotten"
    assert slip.line == mutant_of(plan.target.root, LEAST).line
    (trial,) = Farm(plan.target, seconds={}).trials([(slip.id, [host])])
    assert (trial.fate, trial.host) == (Fate.KILLED, host.name)


def test_tests_that_name_the_file_come_first():
    plan = _plan(tests=("tests/impl/proxy/test_proxy.py", "tests/impl/proxy/test_statistics.py"))
    (_, hosts), *_ = plan.orders(None)
    found = [host.name for host in hosts]
    assert found == ["tests/impl/proxy/test_statistics.py", "tests/impl/proxy/test_proxy.py"]


def test_a_slip_of_another_file_is_named(monkeypatch: pytest.MonkeyPatch):
    away = replace(SLIP, at="proxy/ticker.py:ChannelsTimeTicker.tick", old="async def", new="def")
    monkeypatch.setitem(globals(), "SLIPS", (away,))
    with pytest.raises(BadInputError, match=r"proxy/ticker\.py, which is none of its files"):
        _plan(slips=HERE)


def test_the_table_says_who_kills():
    trials = [
        Trial(id="a.py:f/x@1", fate=Fate.KILLED, host="tests/a.py", claim="tests/a.py::test"),
        Trial(id="a.py:f/x@2", fate=Fate.KILLED, host="h", claim="c"),
    ]
    head, _, row = table_text(trials, (), judges={"h": "conform", "tests/a.py": "test"}).splitlines()
    assert head.endswith("| killed by |")
    assert row.endswith("| 100.0% | test 1, conform 1 |")


def test_what_was_measured_is_what_the_manifest_may_say():
    trials = [
        Trial(id="a.py:f/x@2", fate=Fate.KILLED, host="h", claim="c", seconds=0.5),
        Trial(id="a.py:f/x@3", fate=Fate.KILLED, host="g", claim="c", seconds=2.0),
        Trial(id="a.py:f/x@4", fate=Fate.KILLED, host="h", claim="c", seconds=1.0),
    ]
    text = measured_text("a-places", trials, {"h": "interleave", "g": "test"})
    name, _, line = text.partition(": ")
    assert name == "a-places"
    found = tomllib.loads(line)["measured"]
    assert found == {"judges": {"interleave": 2, "test": 1}, "median": 1.0, "longest": 2.0}
