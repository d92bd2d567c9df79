"""The distributions as a user gets them: built, and installed into an environment without Tidemark."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.processes import finished
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.rooms import ROOT

MOST = 3_000_000
"""Bytes of the wheel without the suite's own protocols."""
OF_THE_SUITE = re.compile(r"tidemark/(impl|bench|models/protocols|spec/(?!language/|library/)\w+)/")

pytestmark = pytest.mark.xdist_group("wheels")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    script = ROOT / "checks" / "environment" / "wheels.sh"
    done = finished(["sh", str(script), str(folder)], env={**os.environ, "PYTHON": sys.executable})
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the packages that are installed here, and nothing of Tidemark."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    (inner,) = folder.glob("lib/python*/site-packages")
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "tidemark" not in path.name:
            (inner / path.name).symlink_to(path)
    return folder / "bin" / "python"


def install(python: Path, *wheels: str) -> None:
    """What ``pip install`` does where every package that a wheel needs is there already."""
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index"]
    done = finished([*command, "--no-compile", *wheels])
    assert done.returncode == 0, done.stderr


def wheel(dist: Path, name: str) -> Path:
    (found,) = dist.glob(f"{name}-*.whl")
    return found


def test_the_wheel_of_a_user_is_small_and_without_the_suites_protocols(dist: Path) -> None:
    own, suite = (
        {one for one in zipfile.ZipFile(wheel(dist, name)).namelist() if one.startswith("tidemark/")}
        for name in ("tidemark", "tidemark_milvus")
    )
    assert wheel(dist, "tidemark").stat().st_size <= MOST
    assert [one for one in own if OF_THE_SUITE.match(one)] == []
    assert [one for one in suite if not OF_THE_SUITE.match(one)] == []
    code = {
        f"tidemark/{path.relative_to(ROOT)}"
        for room in ("spec", "impl", "models", "checks", "bench")
        for path in (ROOT / room).rglob("*.py")
    }
    assert code == {one for one in own | suite if one.endswith(".py")} - {"tidemark/__init__.py"}


def test_a_user_begins_judges_and_proves(dist: Path, python: Path, tmp_path: Path) -> None:
    install(python, f"{wheel(dist, 'tidemark')}[prove,explore,pytest]")

    def run(*words: str, module: str = "tidemark.checks") -> subprocess.CompletedProcess[str]:
        done = finished([str(python), "-m", module, *words], cwd=tmp_path)
        done.stdout = re.sub(r"\s+", " ", done.stdout + done.stderr)
        return done

    assert "1.0.0" in run("--version").stdout
    for words in (
        ["init"],
        ["verify", "--manifest", "lease.toml"],
        ["prove", "lease:Lease"],
        ["explore", "lease:Lease", "--bound", "Node=2"],
    ):
        done = run(*words)
        assert done.returncode == 0, done.stdout
    verdicts = json.loads((tmp_path / "build" / "verdicts.json").read_text())
    assert len(verdicts["judgements"]) > 5
    (tmp_path / "test_order.py").write_text(MARKED)
    done = run("-q", "-p", "no:cacheprovider", "test_order.py", module="pytest")
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    for words in (["show", "--manifest", "suite"], ["evidence", "--claims"]):
        done = run(*words)
        assert done.returncode in (ExitCode.BAD_INPUT, ExitCode.MISSING_TOOL), done.stdout
        assert "install the wheel tidemark_milvus" in done.stdout
    assert " sources " not in run("show", "--help").stdout
    install(python, f"{wheel(dist, 'tidemark_milvus')}")
    assert "explore/tiny" in run("show", "--manifest", "suite").stdout
    assert run("evidence", "--claims").returncode == 0


MARKED = """
import asyncio

import pytest


async def count(times):
    total = 0

    async def add():
        nonlocal total
        seen = total
        await asyncio.sleep(0)
        total = seen + 1

    await asyncio.gather(*(add() for _ in range(times)))
    return total


@pytest.mark.every_order
async def test_one_task():
    assert await count(1) == 1


@pytest.mark.every_order
async def test_two_tasks():
    assert await count(2) == 2
"""
