"""The repository's own judges and protocols: what a change can touch, and what each judge must refute."""

import re
from collections import defaultdict
from typing import Any

import pytest

from tests.manifests import manifests
from tidemark.checks.cache import closure
from tidemark.checks.cache.closure import Mentions, Sources
from tidemark.checks.cache.key import Keys
from tidemark.checks.cache.memo import Memo
from tidemark.checks.gate.registry import modules, registry
from tidemark.checks.verdicts.plan import Task, all_tasks
from tidemark.models.manifest import (
    Expected,
    GeneratedMutants,
    ImplementationMutants,
    InterleaveEntry,
    MutantEntry,
    ProofEntry,
    Tier,
)
from tidemark.models.rooms import ROOT

JUDGES = modules(registry())
OF_A_PROTOCOL = re.compile(r"tidemark\.(impl\b|models\.protocols\.|spec\.(?!language\b))")
REFERENCE = re.compile(r"([A-Za-z_][\w.]*):[A-Za-z_][\w.]*")
USED_BY_OTHERS = {"timetick": {"proxy"}, "deletes": {"flush"}, "parts": {"reads"}}
"""The chain of proxy and root coordinator runs in the manifest of the time tick; the data node with deletes
is the program of flush with another log; the query nodes of several channels are set up as those of one."""


@pytest.fixture(scope="module")
def sources() -> Sources:
    """The repository's files, each parsed once."""
    return Sources(Memo(None))


@pytest.mark.parametrize("judge", JUDGES)
def test_no_judge_loads_a_protocol(judge: str, sources: Sources) -> None:
    found = sources.closure([JUDGES[judge], "tidemark.checks.gate.pins"]).files
    assert len(found) > 20
    assert [name for name in found if OF_A_PROTOCOL.match(name)] == []


@pytest.mark.parametrize("judge", JUDGES)
def test_no_judge_loads_what_only_shows(judge: str, sources: Sources) -> None:
    """A change of the report or of the command line judges nothing again."""
    found = sources.closure([JUDGES[judge]]).files
    assert [name for name in found if re.match(r"tidemark\.checks\.(report|cli|cache|watch)\b", name)] == []


@pytest.mark.parametrize("name", manifests())
def test_a_protocol_refers_to_its_own_specification(name: str, sources: Sources) -> None:
    # An argument speaks about several protocols, and so do its readings, which are pinned.
    others: Any = {"argument": True, "pins": {"__all__": {"pinned", "readings"}}}
    text = manifests()[name].model_dump_json(exclude=others)
    named = {match.group(1) for match in REFERENCE.finditer(text)}
    found = sources.closure(sorted(one for one in named if one.startswith("tidemark."))).files
    specified = {one.split(".")[2] for one in found if one.startswith("tidemark.spec.")} - {"language"}
    assert specified <= {name} | USED_BY_OTHERS.get(name, set())
    assert name in specified


def test_the_engines_are_among_what_a_verdict_depends_on(sources: Sources) -> None:
    libraries = {name: sources.closure([module]).libraries for name, module in JUDGES.items()}
    assert "z3-solver" in libraries["prove"]
    assert {"llvmlite", "numpy"} <= libraries["explore"]
    assert {"pyspark", "py4j", "llvmlite"} <= libraries["distribute"]
    assert "hypothesis" in libraries["conform"]
    assert {"z3-solver", "hypothesis", "llvmlite"} <= libraries["mutate"]


def test_lazily_imported_engines_are_followed(sources: Sources) -> None:
    """Judges import engines inside functions, so that no engine slows the others' start."""
    found = sources.closure([JUDGES["mutate"]]).files
    for module in (
        "tidemark.checks.prove.judge",
        "tidemark.checks.interleave.judge",
        "tidemark.checks.spark.sweep",
    ):
        assert found[module].is_relative_to(ROOT)


def test_what_lies_beside_and_above_a_test_counts(sources: Sources) -> None:
    """A fixture that changes makes the mutants that tests kill new."""
    (task,) = (one for one in EVERY if one.name == "mutate/replicas-impl-places")
    files = Keys(sources, judges=JUDGES, seed=0, options={}).key(task).files
    own = ROOT / "tests" / "impl" / "cluster"
    assert {own / "conftest.py", own.parent / "conftest.py", own / "parts.py"} <= files


def test_a_new_build_folder_does_not_begin_with_reading_the_package(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    asked: list[str] = []

    def compute() -> list[str]:
        asked.append("read")
        return ["found"]

    first = Memo(tmp_path / "one", beside=tmp_path / "beside")
    assert first.get("mentions ours", "digest", compute, ours=True) == ["found"]
    assert first.get("mentions theirs", "digest", compute) == ["found"]
    first.save()
    second = Memo(tmp_path / "two", beside=tmp_path / "beside")
    assert second.get("mentions ours", "digest", compute, ours=True) == ["found"]
    assert len(asked) == 2
    second.get("mentions theirs", "digest", compute)
    second.get("mentions ours", "another digest", compute, ours=True)
    assert len(asked) == 4


def test_what_a_file_mentions_is_read_again_when_the_reader_changes(tmp_path, monkeypatch):
    reader = tmp_path / "reader.py"
    reader.write_text("one", encoding="utf-8")
    monkeypatch.setattr(closure, "_READER", reader)
    memo = Memo(tmp_path / "build")
    seen: list[str] = []

    def read_nothing(_text: bytes, *, module: str, is_package: bool) -> Mentions:
        seen.append(f"{module} {is_package}")
        return Mentions()

    monkeypatch.setattr(closure, "mentions", read_nothing)
    Sources(memo).closure(["tidemark.models.rooms"])
    read = len(seen)
    assert read > 0
    Sources(memo).closure(["tidemark.models.rooms"])
    assert len(seen) == read
    reader.write_text("two", encoding="utf-8")
    Sources(memo).closure(["tidemark.models.rooms"])
    assert len(seen) == 2 * read


ON_SPARK = "interleave on Spark"


def judge_of(task: Task) -> str:
    """The judge; interleavings that are spread over Spark are searched by code of their own."""
    spread = isinstance(task.entry, InterleaveEntry) and task.entry.on_spark
    return ON_SPARK if spread else task.judge


EVERY = list(all_tasks(manifests().values()))
TASKS = [task for task in EVERY if task.entry.tier is Tier.FAST]
HOSTS = {
    task.entry.name: judge_of(task) for task in EVERY if task.judge in ("explore", "interleave", "conform")
}
JUDGED = sorted({(task.manifest.name, judge_of(task)) for task in TASKS})


def judges_behind(task: Task) -> set[str]:
    """The judge of the task, and the one that looks for a mutant's violation on its host."""
    entry = task.entry
    behind = {judge_of(task)}
    if isinstance(entry, MutantEntry):
        behind.add(HOSTS.get(entry.instance, ""))
    if isinstance(entry, GeneratedMutants):
        behind.add("explore")
    return behind


def must_refute(task: Task) -> bool:
    """Whether the task is green only if something is refuted."""
    entry = task.entry
    if isinstance(entry, MutantEntry):
        return entry.killer is not None
    if isinstance(entry, GeneratedMutants | ImplementationMutants):
        return True
    if isinstance(entry, ProofEntry) and entry.fails:
        return True
    return entry.expect.every is Expected.REFUTED or bool(entry.expect.refuted)


def refuted() -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for task in TASKS:
        if must_refute(task):
            for judge in judges_behind(task):
                found[task.manifest.name, judge].append(task.entry.name)
    return found


@pytest.mark.parametrize(("protocol", "judge"), JUDGED)
def test_a_judge_of_a_protocol_has_something_that_it_must_refute(protocol, judge):
    assert refuted()[protocol, judge], f"{judge} refutes nothing of {protocol} in the fast tier"


def test_every_judge_is_asked_about_most_protocols():
    """Not a count of its own: the parameters above must not become few unseen."""
    protocols = {protocol for protocol, _ in JUDGED}
    asked = {judge: sum(1 for _, other in JUDGED if other == judge) for _, judge in JUDGED}
    for judge in ("pins", "frames", "strength", "prove", "interpreted", "explore", "mutate"):
        assert asked[judge] == len(protocols), judge
