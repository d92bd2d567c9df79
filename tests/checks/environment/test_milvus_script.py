"""The script that fetches a real server: it never fails where there is none to be had, and says why."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tidemark.models.rooms import ROOT

SCRIPT = "checks/environment/milvus.sh"
NEEDED = ["sh", "dirname", "sed", "tr", "ls", "mkdir", "cmp", "rm", "tail", "head", "grep", "cp"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The script, two locks, an interpreter that does nothing, and a PATH of nothing but the usual tools."""
    for folder in ("checks/environment", ".venv/bin", "tools", "requirements"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / SCRIPT, tmp_path / SCRIPT)
    for name in ("milvus", "milvus-2.3.5", "milvus-2.3.0"):
        (tmp_path / f"requirements/{name}.lock").write_text(name)
    for tool in NEEDED:
        (tmp_path / "tools" / tool).symlink_to(shutil.which(tool) or f"no {tool} on this machine")
    program(tmp_path / "tools/uname", 'case "$1" in -s) echo Linux;; *) echo x86_64;; esac')
    return tmp_path


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def fetch(folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        ["sh", SCRIPT, *arguments], cwd=folder, env={"PATH": str(folder / "tools")},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


def test_a_version_that_is_not_pinned_is_refused_with_the_list(clone: Path) -> None:
    status, said = fetch(clone, "9.9")
    assert status == 5
    assert "no version 9.9 is pinned; there are: 2.3.0 2.3.5" in said


def test_another_machine_is_told_and_is_no_failure(clone: Path) -> None:
    program(clone / "tools/uname", 'case "$1" in -s) echo Plan9;; *) echo mips;; esac')
    status, said = fetch(clone)
    assert status == 0
    assert (
        "the package is for Linux on x86_64, this is Plan9 on mips; what needs a real server will be skipped"
        in said
    )


def test_without_an_environment_it_says_what_to_run(clone: Path) -> None:
    assert "there is no .venv yet, run  make doctor  first" in fetch(clone)[1]


def test_a_python_that_is_too_new_is_told(clone: Path) -> None:
    program(clone / ".venv/bin/python", "exit 1")
    status, said = fetch(clone)
    assert status == 0
    assert "its client needs Python 3.11 or 3.12" in said


def test_a_package_that_cannot_be_had_leaves_no_stamp(clone: Path) -> None:
    """The interpreter fits, makes an environment, and its pip finds nothing."""
    pip = "clients/bin/python"
    program(
        clone / ".venv/bin/python",
        f'case "$*" in -c*) exit 0;; esac\nmkdir -p "$3/bin"; cp "{clone}/nothing" "$3/bin/python"',
    )
    program(clone / "nothing", 'echo "ERROR: No matching distribution" >&2; exit 1')
    status, said = fetch(clone)
    assert status == 0
    assert "no Milvus 2.3.5: its clients cannot be had: ERROR: No matching distribution" in said
    assert (clone / ".venv/milvus" / pip).exists()
    assert not (clone / ".venv/milvus/clients/.ready").exists()
