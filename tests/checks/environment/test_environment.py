"""The jobs of the Makefile and the bootstrap of the environment, as far as they go without the network."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tidemark.models.rooms import ROOT

JOBS = ["verify", "test", "bench", "report", "check", "clean", "help"]
NEEDED = ["make", "sh", "cat", "rm", "mkdir", "touch", "tail", "dirname", "awk"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files that the first job reads, with a PATH of nothing but the usual tools in ``tools/``."""
    for name in ("Makefile", "pyproject.toml", "checks/environment/bootstrap.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    (tmp_path / "tools").mkdir()
    for tool in NEEDED:
        (tmp_path / "tools" / tool).symlink_to(shutil.which(tool) or f"no {tool} on this machine")
    return tmp_path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env={"PATH": str(folder / "tools")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def fake_python(folder: Path, name: str, *, new_enough: bool, then: str = "exit 1") -> Path:
    """An interpreter that answers the two questions about its version, and runs ``then`` for all else."""
    path = folder / "tools" / name
    path.write_text(
        '#!/bin/sh\ncase "$*" in\n'
        f"*version_info*) exit {0 if new_enough else 1};;\n"
        f"*python_version*) echo {'3.12.1' if new_enough else '3.8.10'};;\n"
        f"*) {then};;\nesac\n"
    )
    path.chmod(0o755)
    return path


def test_help_is_the_default_and_builds_nothing(clone: Path) -> None:
    answer = make(clone)
    assert answer.returncode == 0
    listed = re.findall(r"^  make (\w+) +\S", answer.stdout, flags=re.MULTILINE)
    assert set(JOBS) <= set(listed)
    assert not (clone / ".venv").exists()


def test_every_job_is_phony_and_explained() -> None:
    text = (ROOT / "Makefile").read_text()
    (declared,) = re.findall(r"^\.PHONY: (.*)$", text, flags=re.MULTILINE)
    phony = set(declared.split()) - {"FORCE"}
    explained = set(re.findall(r"^([\w-]+):.*## \S", text, flags=re.MULTILINE))
    assert phony == explained


@pytest.mark.parametrize("job", ["verify", "test", "check"])
def test_a_python_that_is_too_old_is_named(clone: Path, job: str) -> None:
    fake_python(clone, "python3", new_enough=False)
    answer = make(clone, job)
    assert answer.returncode != 0
    assert "needs Python 3.11 or newer; python3 is 3.8.10" in answer.stderr
    assert not (clone / ".venv").exists()


def test_no_python_at_all(clone: Path) -> None:
    answer = make(clone, "verify")
    assert answer.returncode != 0
    assert "make PYTHON=/path/to/python3.11" in answer.stderr


def test_the_named_python_is_taken(clone: Path) -> None:
    fake_python(clone, "python3", new_enough=False)
    python = fake_python(clone, "mine", new_enough=True)
    answer = make(clone, "verify", f"PYTHON={python}")
    assert f"{python} can make no environment" in answer.stderr
    assert "apt-get install python3-venv" in answer.stderr


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        (".building", "was cut off: starting afresh"),
        ("bin/nothing", "is gone or older than 3.11: starting afresh"),
    ],
)
def test_a_broken_environment_is_thrown_away(clone: Path, mark: str, told: str) -> None:
    (clone / ".venv" / mark).parent.mkdir(parents=True)
    (clone / ".venv" / mark).write_text("")
    (clone / ".venv" / "leftover").write_text("")
    answer = make(clone, "test")
    assert told in answer.stderr
    assert not (clone / ".venv" / "leftover").exists()


def test_an_environment_that_was_moved_is_built_again(clone: Path) -> None:
    python = clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(fake_python(clone, "fake", new_enough=True))
    (clone / ".venv" / ".ready").write_text("/somewhere/else")
    assert ".venv was made in /somewhere/else: starting afresh" in make(clone, "test").stderr
    assert not python.exists()


MILVUS = sorted(path.name for path in (ROOT / "requirements").glob("milvus*.lock"))


def test_no_lock_names_a_host_or_lacks_a_hash() -> None:
    locks = sorted((ROOT / "requirements").glob("*.lock"))
    assert [lock.name for lock in locks] == [
        "build.lock", "check.lock", *MILVUS, "run.lock",
    ]  # fmt: skip
    for lock in locks:
        text = lock.read_text()
        assert not re.search(r"://|--(extra-)?index-url|--find-links|--trusted-host", text), lock.name
        for block in re.split(r"^(?=[A-Za-z])", text, flags=re.MULTILINE)[1:]:
            assert "--hash=sha256:" in block, f"{lock.name}: {block.splitlines()[0]}"
