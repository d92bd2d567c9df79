"""The script that fetches an etcd server: it never fails where there is none to be had, and says why."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tidemark.models.rooms import ROOT

SCRIPT = "checks/environment/etcd.sh"
NEEDED = ["sh", "dirname", "rm", "mv", "chmod", "mktemp", "tail", "head", "id", "mkdir", "cat"]
ETCD = "#!/bin/sh\necho etcd Version: 0.0\n"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The script, an environment with an interpreter, and a PATH of nothing but the usual tools."""
    for folder in ("checks/environment", ".venv/bin", "tools"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / SCRIPT, tmp_path / SCRIPT)
    program(tmp_path / ".venv/bin/python", "#!/bin/sh\n")
    for tool in NEEDED:
        (tmp_path / "tools" / tool).symlink_to(shutil.which(tool) or f"no {tool} on this machine")
    return tmp_path


def program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def fetch(folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        ["sh", SCRIPT], cwd=folder, env={"PATH": str(folder / "tools")},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


def packages(folder: Path, *, apt: str) -> None:
    """Tools that pretend to be apt-get and dpkg-deb."""
    program(folder / "tools/apt-get", f"#!/bin/sh\n{apt}\n")
    unpack = f'mkdir -p "$3/usr/bin"; printf {ETCD!r} > "$3/usr/bin/etcd"; chmod 755 "$3/usr/bin/etcd"'
    program(folder / "tools/dpkg-deb", f"#!/bin/sh\n{unpack}\n")


def test_without_apt_it_says_so_and_succeeds(clone: Path) -> None:
    status, said = fetch(clone)
    assert status == 0
    assert "no etcd: this machine has no apt-get; the tests with a real one will be skipped" in said
    assert not (clone / ".venv/bin/etcd").exists()


def test_a_package_that_cannot_be_had_is_no_failure(clone: Path) -> None:
    packages(clone, apt='echo "E: Unable to locate package etcd-server"; exit 100')
    status, said = fetch(clone)
    assert status == 0
    assert "apt-get cannot download etcd-server: E: Unable to locate package" in said


def test_the_program_of_the_package_is_kept_and_fetched_once(clone: Path) -> None:
    packages(clone, apt='[ "$2" = download ] && : > etcd-server_1_all.deb')
    status, said = fetch(clone)
    assert (status, (clone / ".venv/bin/etcd").read_text()) == (0, ETCD)
    assert "etcd is ready: etcd Version: 0.0" in said
    packages(clone, apt="exit 99")
    assert fetch(clone) == (0, "")


def test_an_etcd_of_the_machine_is_enough(clone: Path) -> None:
    program(clone / "tools/etcd", ETCD)
    assert fetch(clone) == (0, "")
