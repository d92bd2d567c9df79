"""Judges that a worker process can load by name, some of them with planted faults."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.checks.gate.toy import Fake, expected_verdicts, fakes
from tidemark.checks.verdicts.errors import MissingToolError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Verdict
from tidemark.models.manifest import AnyEntry

STARTED = "started"
"""File with the number of a process that a judge has started."""


def _answer(entry: AnyEntry, context: Context) -> list[Verdict]:
    return expected_verdicts(fakes()["explore"], entry, context)


def kills_itself(entry: AnyEntry, context: Context) -> list[Verdict]:
    """As the system does when memory runs out, in one of two checks."""
    if entry.name == "two-lamps":
        os.kill(os.getpid(), signal.SIGKILL)
    return _answer(entry, context)


def crashes(entry: AnyEntry, context: Context) -> list[Verdict]:
    """As compiled code does that writes where it may not."""
    if entry.name == "two-lamps":
        os.kill(os.getpid(), signal.SIGSEGV)
    return _answer(entry, context)


def leaves(entry: AnyEntry, context: Context) -> list[Verdict]:
    if entry.name == "two-lamps":
        os._exit(9)
    return _answer(entry, context)


def breaks(entry: AnyEntry, context: Context) -> list[Verdict]:
    """An exception of each class: bad tools, and a fault of ours."""
    if entry.name == "two-lamps":
        raise MissingToolError("no Java", remedy="install one")
    raise RuntimeError("boom")


def hangs(entry: AnyEntry, context: Context) -> list[Verdict]:
    """Starts another program, and never answers."""
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (context.build / f"{STARTED}-{entry.name}").write_text(f"{os.getpid()} {other.pid}", encoding="utf-8")
    time.sleep(600)
    return _answer(entry, context)


def hangs_deaf(entry: AnyEntry, context: Context) -> list[Verdict]:
    """The same, and does not listen to an interrupt."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return hangs(entry, context)


def says_its_threads(entry: AnyEntry, context: Context) -> list[Verdict]:
    path: Path = context.build / f"use-{entry.name}"
    path.write_text(f"{context.workers} {context.memory is not None}", encoding="utf-8")
    return _answer(entry, context)


def registry(**answers: str) -> dict[str, Fake]:
    """Fake judges; ``answers``: names of functions of this module by judge."""
    return fakes(**{judge: globals()[name] for judge, name in answers.items()})
