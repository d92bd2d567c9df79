"""An exploration is taken over where the specification replies as before, and nothing else differs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.manifests import manifests
from tidemark.checks.cache.closure import Sources
from tidemark.checks.cache.key import Keys
from tidemark.checks.cache.memo import Memo
from tidemark.checks.gate.registry import modules, registry
from tidemark.checks.mutation.implementation.farm import Farm, Order
from tidemark.checks.mutation.implementation.fate import Fate, Trial
from tidemark.checks.verdicts import asking
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.plan import Task, all_tasks
from tidemark.checks.verdicts.reuse import Reuse
from tidemark.checks.verdicts.verdict import Verdict, inconclusive
from tidemark.models.manifest import ImplementationMutants, Manifest
from tidemark.models.rooms import ROOT
from tidemark.spec.flush import Flush
from tidemark.spec.language import require

PROGRAM, DRIVER, PROOF = "interleave/tiny-merged", "conform/driven", "prove/any-size"
MUTANT = "mutate/chain-lock-is-lost"
SAMPLE, PLACES = "mutate/stream-impl-places-sample", "mutate/stream-impl-places"
COORDINATOR = "mutate/datacoord-impl-places-sample"


@pytest.fixture(scope="module", name="tasks")
def _tasks() -> dict[str, Task]:
    return {task.name: task for task in all_tasks(manifests().values())}


class Files:
    """The repository's files; one of them may have another content."""

    def __init__(self) -> None:
        self.sources = Sources(Memo(None))
        self._digest_of = self.sources.digest_of
        self.edited = ""

    def keys(self, edited: str = "") -> Keys:
        """Keys of a run in which the file of that name is edited."""

        def digest_of(path: Path) -> str:
            return self._digest_of(path) + ("edited" if edited and path == ROOT / edited else "")

        self.sources.digest_of = digest_of  # type: ignore[method-assign]
        return Keys(self.sources, judges=modules(registry()), seed=0, options={})


@pytest.fixture(scope="module", name="files")
def _files() -> Files:
    return Files()


SPEC = ("spec/flush/actions.py", "spec/flush/claims.py")
OF_HOSTS = ("spec/stream/actions.py", "spec/stream/claims.py")
OTHER_SPEC = (*SPEC, "spec/tso/actions.py", "models/protocols/tso/manifest/actions.toml")
CODE = ("impl/datanode/write_buffer.py", "models/protocols/flush/program.py")
ENGINE = (
    "models/protocols/flush/refinement.py", "models/protocols/flush/manifest/actions.toml",
    "models/refinement/step.py",
    "models/simulation/snapshot.py", "checks/verdicts/asking.py", "spec/language/spec.py",
)  # fmt: skip
HOSTS = (
    "impl/tso/oracle.py", "models/protocols/stream/program/__init__.py", "checks/interleave/judge.py",
    "checks/mutation/implementation/trial.py",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "edited", "counts"),
    [
        *((name, edited, False) for name in (PROGRAM, DRIVER) for edited in OTHER_SPEC),
        *((name, edited, True) for name in (PROGRAM, DRIVER) for edited in (*CODE, *ENGINE)),
        *((SAMPLE, edited, False) for edited in OF_HOSTS),
        *((SAMPLE, edited, True) for edited in HOSTS),
    ],
)
def test_all_but_the_specification_counts(files, tasks, name, edited, counts):
    """For a sample of wrong code its hosts count, too."""
    assert (ROOT / edited).is_file()
    before, after = files.keys().apart(tasks[name]), files.keys(edited).apart(tasks[name])
    assert before is not None
    assert after is not None
    assert (before.digest != after.digest) is counts
    assert ((ROOT / edited) in before.files) is counts


def test_all_places_and_samples_with_endless_hosts_ask_nothing_that_is_noted(files, tasks):
    keys, task = files.keys(), tasks[PLACES]
    assert keys.apart(task) is None
    endless = next(one.entry.name for one in tasks.values() if getattr(one.entry, "live", ()))
    assert isinstance(task.entry, ImplementationMutants)
    for more, asks in ((), True), ((endless,), False):
        sample = task.entry.model_copy(
            update={"hosts": (*task.entry.hosts, *more), "sample": 4, "distributed": False}
        )
        assert (keys.apart(replace(task, entry=sample)) is not None) is asks


def test_a_table_of_actions_counts_for_the_verdict_itself(files: Files, tasks: dict[str, Task]) -> None:
    before = files.keys().key(tasks[PROGRAM])
    assert (
        before.digest != files.keys("models/protocols/flush/manifest/actions.toml").key(tasks[PROGRAM]).digest
    )


def test_entry_and_seed_count(files: Files, tasks: dict[str, Task]) -> None:
    task, keys = tasks[PROGRAM], files.keys()
    other = replace(task, entry=task.entry.model_copy(update={"limit": 7}))
    seeded = Keys(files.sources, judges=modules(registry()), seed=1, options={})
    found = [keys.apart(task), keys.apart(other), seeded.apart(task)]
    assert len({one.digest for one in found if one is not None}) == 3


def test_other_judges_ask_nothing_that_is_noted(files: Files, tasks: dict[str, Task]) -> None:
    keys = files.keys()
    one_of_each = {task.judge: task for task in tasks.values()}
    found = {judge for judge, task in one_of_each.items() if keys.apart(task) is not None}
    assert found <= {"interleave", "conform", "mutate"}
    assert keys.apart(tasks[PROOF]) is None
    spread = tasks[PROGRAM].entry.model_copy(update={"distributed": True})
    assert keys.apart(replace(tasks[PROGRAM], entry=spread)) is None
    assert keys.apart(tasks[MUTANT]) is not None


class Runs:
    """Runs of one task of the repository, whose explorations are counted."""

    def __init__(self, task: Task, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.task, self.explored = task, 0
        self.reuse = Reuse(
            folder=folder, code="code", files=frozenset(), begun=float("inf"), read=True, run="one"
        )
        judge = registry()[task.judge]
        _ = judge.kinds
        name = f"tidemark.checks.{task.judge}.judge.taken_over"
        monkeypatch.setattr(name, self._counted)

    def _counted(self, reuse: Reuse | None, name: str, explore: Callable[[], list[Verdict]]) -> list[Verdict]:
        def once() -> list[Verdict]:
            self.explored += 1
            return explore()

        return asking.taken_over(reuse, name, once)

    def __call__(self, **changes: object) -> list[Verdict]:
        reuse = replace(self.reuse, **changes)  # type: ignore[arg-type]
        context = Context(manifest=self.task.manifest, reuse=reuse)
        return registry()[self.task.judge].run(self.task.entry, context)

    @property
    def path(self) -> Path:
        return self.reuse.folder / f"queries.{self.task.entry.name}.json"


@pytest.fixture(name="runs")
def _runs(tasks: dict[str, Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(tasks[PROGRAM], tmp_path, monkeypatch)


def facts(found: list[Verdict]) -> list[object]:
    """What is compared of verdicts, without the note that they are taken over."""
    return [
        (one.subject, one.outcome, one.counts, one.bounds, one.reason, one.seconds, one.replay)
        for one in found
    ]


def test_the_same_replies_need_no_exploration(runs: Runs) -> None:
    first, second = runs(), runs()
    assert runs.explored == 1
    assert facts(first) == facts(second)
    assert all(asking.NOTE in one.notes[-1] for one in second)
    assert not any(asking.NOTE in note for one in first for note in one.notes)


def edit(monkeypatch: pytest.MonkeyPatch, action: str, *, guard: str) -> None:
    """Another text of one action, in place of the present one."""
    original = vars(Flush)[action] if action in vars(Flush) else getattr(Flush, action)

    def changed(s: Any) -> None:
        require(s.alive if guard == "alive" else ~s.alive)
        original(s)

    fresh = type("Flush", (Flush,), {action: changed, "__module__": Flush.__module__})
    monkeypatch.setattr("tidemark.spec.flush.Flush", fresh)


def test_a_changed_action_that_replies_alike(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    first = runs()
    edit(monkeypatch, "consume", guard="alive")
    assert facts(runs()) == facts(first)
    assert runs.explored == 1


def test_a_changed_action_that_does_not(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    runs()
    edit(monkeypatch, "consume", guard="dead")
    runs()
    assert runs.explored == 2


def test_examples_that_would_be_the_same_are_not_run_again(tasks, tmp_path, monkeypatch):
    few = tasks[DRIVER].entry.model_copy(update={"examples": 2})
    runs = Runs(replace(tasks[DRIVER], entry=few), tmp_path, monkeypatch)
    first = runs()
    assert facts(runs()) == facts(first)
    assert runs.explored == 1
    edit(monkeypatch, "consume", guard="dead")
    runs()
    assert runs.explored == 2


def test_trials_of_wrong_code_are_taken_over_while_the_replies_are_the_same(tasks, tmp_path, monkeypatch):
    task = tasks[COORDINATOR]
    few = task.entry.model_copy(update={"hosts": ("tiny-merged",), "tests": (), "sample": 8})
    reuse = Reuse(folder=tmp_path, code="code", files=frozenset(), begun=float("inf"), read=True, run="one")
    context = Context(manifest=task.manifest, reuse=reuse)
    begun: list[Sequence[Order]] = []
    trials = Farm.trials

    def counted(farm: Farm, orders: Sequence[Order]) -> Iterator[Trial]:
        begun.append(orders)
        return trials(farm, orders)

    monkeypatch.setattr(Farm, "trials", counted)

    def run() -> list[Verdict]:
        return registry()["mutate"].run(few, context)

    first = run()
    assert "refuted" in [one.outcome.value for one in first]
    edit(monkeypatch, "consume", guard="alive")
    assert facts(run()) == facts(first)
    assert len(begun) == 1
    edit(monkeypatch, "consume", guard="dead")
    run()
    assert len(begun) == 2


def test_trials_that_end_without_a_word_leave_nothing_to_take_over(tasks, tmp_path, monkeypatch):
    task = tasks[COORDINATOR]
    few = task.entry.model_copy(update={"hosts": ("tiny-merged",), "tests": (), "sample": 1})
    reuse = Reuse(folder=tmp_path, code="code", files=frozenset(), begun=float("inf"), read=True, run="one")
    monkeypatch.setattr(
        Farm, "trials", lambda _farm, orders: (Trial(id=name, fate=Fate.ENDLESS) for name, _ in orders)
    )
    registry()["mutate"].run(few, Context(manifest=task.manifest, reuse=reuse))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("other", [{"code": "other"}, {"read": False, "run": "two"}])
def test_other_code_or_a_fresh_run_explores(runs: Runs, other: dict[str, object]) -> None:
    runs()
    runs(**other)
    assert runs.explored == 2


@pytest.mark.parametrize("damage", ["[1, 2", '{"format": 1, "checksum": ""}\n{}\n'])
def test_a_damaged_file_explores(runs: Runs, damage: str) -> None:
    runs()
    runs.path.write_text(damage, encoding="utf-8")
    runs()
    assert runs.explored == 2
    runs()
    assert runs.explored == 2


def test_files_that_changed_meanwhile_keep_nothing(runs: Runs) -> None:
    runs(files=frozenset({ROOT / "models" / "refinement" / "step.py"}), begun=0.0)
    assert not runs.path.exists()


def test_nothing_undecided_is_kept(runs: Runs, tasks: dict[str, Task]) -> None:
    task = tasks[PROGRAM]
    manifest: Manifest = task.manifest
    subject = Context(manifest=manifest).subject(task.entry, "interleave", "flush.stored_once")
    found = asking.taken_over(
        runs.reuse, task.entry.name, lambda: [inconclusive(subject, reason="a time-out", replay="none")]
    )
    assert len(found) == 1
    assert not runs.path.exists()
