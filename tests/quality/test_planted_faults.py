"""The gate on a copy of the sources with one fault planted: it must be red, with the right exit status."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tidemark.checks.verdicts.exit_codes import ExitCode

ROOT = Path(__file__).parents[2]
CLAIMS, STEPS = Path("spec/flush/claims.py"), Path("spec/flush/actions.py")
MANIFEST = Path("models/protocols/flush/manifest.toml")

MOVES = """a channel that moves."
protocol = "tidemark.spec.flush:Flush"
engines = ["explore"]
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
        '    @action(fairness="weak", source="seed 000, updateCheckpoints")\n    def ack(s):',
        "    def ack(s):",
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
        "    def stored_once(s):",
        "    def stored_but_once(s):",
        "explore/tiny",
        ExitCode.VACUOUS_OR_UNPINNED,
        "renamed to 'flush.stored_but_once'?",
    ),
}


def gate(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the gate on the sources of a folder."""
    return subprocess.run(
        [sys.executable, "-m", "tidemark.checks", "verify", *options],
        cwd=folder,
        # Before what is installed: the copy is the package that runs.
        env=os.environ | {"PYTHONPATH": str(folder.parent)} | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name in ("spec", "models", "checks", "impl"):
        shutil.copytree(
            ROOT / name, tmp_path / "tidemark" / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    return tmp_path / "tidemark"


def plant(sources: Path, file: Path, old: str, new: str) -> None:
    text = (sources / file).read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file} has {text.count(old)} places like the one to change"
    (sources / file).write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_red(fault: str, sources: Path) -> None:
    file, old, new, only, code, message = FAULTS[fault]
    plant(sources, file, old, new)
    run = gate(sources, "--only", only)
    assert run.returncode == code, run.stdout + run.stderr
    assert message in run.stdout + run.stderr


def test_without_any_java_the_distributed_search_is_a_missing_tool(sources: Path) -> None:
    run = gate(
        sources, "--only", "distribute/tiny", PATH="/nowhere", JAVA_HOME="", TIDEMARK_NO_BUNDLED_JAVA="1"
    )
    assert run.returncode == ExitCode.MISSING_TOOL, run.stdout + run.stderr
    assert "Java" in run.stdout + run.stderr


def test_the_copy_itself_is_green(sources: Path) -> None:
    run = gate(sources, "--only", "explore/tiny")
    assert run.returncode == ExitCode.AS_EXPECTED, run.stdout + run.stderr
