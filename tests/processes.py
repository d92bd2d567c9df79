"""Processes that a test starts, or that what it tests has started: what they say, and whether they end."""

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil


def finished(
    command: Sequence[str],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: float = 300,
) -> subprocess.CompletedProcess[str]:
    """A command that has ended, whatever its status, with what it has printed."""
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=seconds, check=False
    )


WITHOUT = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""
"""The beginning of a program for which packages, a set of names, are not installed."""


def lives(pid: int) -> bool:
    """False once the process has ended, even if nobody has asked for its status: where the first process of a
    machine does not collect orphans, they stay as zombies.
    """
    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


def ends(*pids: int, seconds: float = 30.0) -> bool:
    """Whether all end within that time: a process that was killed still runs for a moment."""
    until = time.monotonic() + seconds
    while any(lives(pid) for pid in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
