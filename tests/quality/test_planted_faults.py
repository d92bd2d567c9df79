"""The gate on a copy of the sources with one fault planted: it must be red, with the right exit status."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.warm import OTHERS, Run, warm
from tidemark.checks.verdicts.exit_codes import ExitCode

ROOT = Path(__file__).parents[2]
COMPUTED = Path("build/cache/computed.json")
CLAIMS, STEPS = Path("spec/flush/claims.py"), Path("spec/flush/actions.py")
PROTOCOLS = Path("models/protocols")
MANIFEST = PROTOCOLS / "flush/manifest.toml"

MOVES = """a channel that moves."
bounds = { Segment = 1, Position = 1, Copies = 2, """

FAULTS = {
    "a property inverted": (
        CLAIMS,
        "        return s.safe(s.stored)\n",
        "        return ~s.safe(s.stored)\n",
        "explore/tiny",
        ExitCode.UNEXPECTED_REFUTATION,
        "checkpoint_before_earliest_unsynced is refuted by explore on tiny",
    ),
    "a guard weakened": (
        STEPS,
        "        require(s.is_open(ts) & (s.stored >= ts))\n",
        "        require(s.is_open(ts))\n",
        "explore/tiny",
        ExitCode.UNEXPECTED_REFUTATION,
        "confirmed_means_durable is refuted by explore on tiny",
    ),
    "an action deleted": (
        STEPS,
        '    @action(fairness="weak", source="seed 000, updateCheckpoints")\n    def ack(s) -> None:',
        "    def ack(s) -> None:",
        "explore/tiny",
        ExitCode.UNEXPECTED_REFUTATION,
        "flush_completes",
    ),
    "an instance shrunk": (
        MANIFEST,
        MOVES + "Faults = 2 }",
        MOVES + "Faults = 1 }",
        "explore/moves",
        ExitCode.VACUOUS_OR_UNPINNED,
        "distinct: pinned 34504, seen",
    ),
    "a property renamed": (
        CLAIMS,
        "    def stored_once(s) -> Bool:",
        "    def stored_but_once(s) -> Bool:",
        "explore/tiny",
        ExitCode.VACUOUS_OR_UNPINNED,
        "renamed to 'flush.stored_but_once'?",
    ),
}


JUDGES = {
    "the interpreter sees no broken state": (
        "models/interpreted/search.py",
        "for prop in self._states:",
        "for prop in ():",
        "interpreted/retries-tiny-refuted",
        ExitCode.MISSING_REFUTATION,
    ),
    "a run need not be the shortest": (
        "models/interpreted/search.py",
        "if prop.id not in reached.found and not self._interpreter.holds(prop, state):",
        "if not self._interpreter.holds(prop, state):",
        "interpreted/store-tiny-refuted",
        ExitCode.VACUOUS_OR_UNPINNED,
    ),
    "the search sees no broken state": (
        "models/native/search/breadth_first.py",
        "for claim, state in broken:",
        "for claim, state in ():",
        "explore/meta-takes-up-what-is-stored",
        ExitCode.MISSING_REFUTATION,
    ),
    "the search takes a new state for a visited one": (
        "models/native/search/table.py",
        "        at = 0\n        while True:",
        "        at = int(count > 1)\n        while True:",
        "explore/retries-small",
        ExitCode.INTERNAL_ERROR,
    ),
    "no run is a lasso": (
        "models/native/lasso.py",
        "while allowed.any():",
        "while allowed.all():",
        "explore/timetick-one-minimum",
        ExitCode.MISSING_REFUTATION,
    ),
    "the search on Spark sees no broken state": (
        "checks/spark/search/verdicts.py",
        "found = self.result.violations.get(prop.id)",
        "found = None",
        "distribute/retries-tiny-refuted",
        ExitCode.MISSING_REFUTATION,
    ),
    "each step is a step of the specification": (
        "models/refinement/program.py",
        "return _words(answer)",
        "return None",
        "mutate/ids-impl-ids-are-made-up",
        ExitCode.MISSING_REFUTATION,
    ),
    "a step may be any action that fits": (
        "models/refinement/program.py",
        "return self.abstraction.mislabelled(self.table, old, new, event, self)",
        "return None",
        "mutate/timetick-impl-sent-tick-counts-as-failed",
        ExitCode.MISSING_REFUTATION,
    ),
    "work need not be done": (
        "models/refinement/program.py",
        "if left is not None:",
        "if left == '':",
        "mutate/ids-impl-who-waits-is-not-told",
        ExitCode.MISSING_REFUTATION,
    ),
    "all states of an implementation are the specified ones": (
        "checks/conform/walks.py",
        "if record.violation is not None:",
        "if record.violation == 0:",
        "mutate/sessions-driven-the-list-misses-one",
        ExitCode.MISSING_REFUTATION,
    ),
    "every assumption is needed": (
        "checks/argument/judge.py",
        "yield self._reliance(one, entry, context)",
        "yield holds(context.subject(entry, self.name, one.claim), counts={'pins': 1}, bounds='all')",
        "argue/tso-argument-must-fail",
        ExitCode.MISSING_REFUTATION,
    ),
    "everything follows": (
        "checks/argument/judge.py",
        "yield self._step(step, entry, context)",
        "yield holds(context.subject(entry, self.name, step.claim), counts={'pins': 1}, bounds='all')",
        "argue/retries-argument-must-fail",
        ExitCode.MISSING_REFUTATION,
    ),
    "a new state of an interleaving counts as met": (
        "checks/interleave/strategies/states.py",
        "if state in self.here or state in self.elsewhere:",
        "if self.here or state in self.elsewhere:",
        "mutate/ids-impl-ids-are-made-up",
        ExitCode.INCONCLUSIVE,
    ),
    "no run of a program is a lasso": (
        "checks/interleave/executions/lasso.py",
        "if way is not None:",
        "if way == ():",
        "mutate/streaming-impl-a-silent-oracle-ends-the-ticks",
        ExitCode.MISSING_REFUTATION,
    ),
    "what a task on Spark finds is lost": (
        "checks/interleave/spark.py",
        "part.remaining, part.left = (), 0.0  #",
        "part.remaining, part.left, part.violations = (), 0.0, {}  #",
        "mutate/impl-flush-ts-is-never-reset",
        ExitCode.INCONCLUSIVE,
    ),
    "all steps commute": (
        "checks/interleave/audits/audit.py",
        "if different is None:",
        "if different != '':",
        "mutate/impl-node-and-coordinator-share-an-object",
        ExitCode.MISSING_REFUTATION,
    ),
    "no steps are run in both orders": (
        "checks/interleave/audits/audit.py",
        "if options.reduction in BY_FOOTPRINTS and not",
        "if options.audit < 0 and not",
        "interleave/tiny-footprints",
        ExitCode.INCONCLUSIVE,
    ),
    "every mutant of a specification is killed": (
        "checks/mutation/assess.py",
        "            if action not in fired:",
        "            if action in fired:",
        "mutate/timetick-every-place-sample",
        ExitCode.UNEXPECTED_REFUTATION,
    ),
    "no example is counted": (
        "checks/conform/walks.py",
        "self.made += 1",
        "self.made += 0",
        "conform/sessions-driven",
        ExitCode.INTERNAL_ERROR,
    ),
}
"""A judge that says yes: file, text, its replacement, a check in which it must refute, the exit status."""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with warm(os.environ, tmp_path_factory.mktemp("warm"), OTHERS) as run:
        yield run


def gate(python: Run, folder: Path, only: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a check of the gate on the sources of a folder."""
    protocol = only.partition("/")[2].partition("-")[0]
    manifest = PROTOCOLS / (protocol if (folder / PROTOCOLS / protocol).is_dir() else "flush") / MANIFEST.name
    # Before what is installed: the copy is the package that runs.
    words = ["-m", "tidemark.checks", "verify", "--manifest", str(manifest), "--only", only]
    return python(words, folder, PYTHONPATH=str(folder.parent), **more)


@pytest.fixture(scope="module")
def base(
    tmp_path_factory: pytest.TempPathFactory, python: Run
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The sources without a fault, and a run of the gate on them."""
    folder = tmp_path_factory.mktemp("base") / "tidemark"
    # With what is compiled: Python and numba know by size and time of a file whether it still counts.
    for name in ("spec", "models", "checks", "impl"):
        shutil.copytree(ROOT / name, folder / name)
    return folder, gate(python, folder, "explore/tiny")


@pytest.fixture
def sources(tmp_path: Path, base: tuple[Path, subprocess.CompletedProcess[str]]) -> Path:
    """Links to its files, with what that run has found out about them: what each imports, by its digest."""
    folder = tmp_path / "tidemark"
    shutil.copytree(base[0], folder, ignore=shutil.ignore_patterns("build"), copy_function=os.link)
    (folder / COMPUTED).parent.mkdir(parents=True)
    shutil.copy(base[0] / COMPUTED, folder / COMPUTED)
    return folder


def plant(sources: Path, file: Path, old: str, new: str) -> None:
    text = (sources / file).read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file} has {text.count(old)} places like the one to change"
    (sources / file).unlink()  # the base has the same file
    (sources / file).write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_red(fault: str, sources: Path, python: Run) -> None:
    file, old, new, only, code, message = FAULTS[fault]
    plant(sources, file, old, new)
    run = gate(python, sources, only)
    assert run.returncode == code, run.stdout + run.stderr
    assert message in run.stdout + run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("fault", JUDGES)
def test_a_judge_that_says_yes_is_red(fault: str, sources: Path, python: Run) -> None:
    file, old, new, only, code = JUDGES[fault]
    plant(sources, Path(file), old, new)
    run = gate(python, sources, only)
    assert run.returncode == code, run.stdout + run.stderr


def test_without_any_java_the_distributed_search_is_a_missing_tool(sources: Path, python: Run) -> None:
    run = gate(
        python, sources, "distribute/tiny", PATH="/nowhere", JAVA_HOME="", TIDEMARK_NO_BUNDLED_JAVA="1"
    )
    assert run.returncode == ExitCode.MISSING_TOOL, run.stdout + run.stderr
    assert "Java" in run.stdout + run.stderr


def test_the_copy_itself_is_green(base: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    run = base[1]
    assert run.returncode == ExitCode.AS_EXPECTED, run.stdout + run.stderr
