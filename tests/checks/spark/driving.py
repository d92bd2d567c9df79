"""A driver of a search as a process of its own."""

import subprocess
import sys

from tidemark.models.rooms import ROOT


def driver(master: str, *arguments: str) -> subprocess.Popen:  # type: ignore[type-arg]
    """The search in a process of its own, for this one may have a session with another master."""
    command = [sys.executable, "-m", "tests.checks.spark.cluster_driver", master, *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
