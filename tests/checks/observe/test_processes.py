"""Processes end with whoever started them: after the block, after an error, when the parent is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ends
from tidemark.checks.observe.processes import Processes

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
# It starts a child of its own, and says its number.
_PARENT = """
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE).pid)
time.sleep(600)
"""
PARENT = [sys.executable, "-u", "-c", _PARENT]
ECHO = [sys.executable, "-u", "-c", "import sys\nfor line in sys.stdin: print(line, end='')"]


def test_all_are_ended_with_the_block_and_their_children_too(tmp_path: Path) -> None:
    with Processes() as processes:
        first = processes.start("first", SLEEP, log=tmp_path / "first")
        second = processes.start("second", PARENT, log=tmp_path / "second", talks=True)
        grandchild = int(second.line())
        assert first.running()
        assert second.running()
    assert ends(first.pid)
    assert ends(second.pid)
    assert ends(grandchild)


def test_an_error_inside_the_block_ends_them_too(tmp_path: Path) -> None:
    started = []

    def fail() -> None:
        with Processes() as processes:
            started.append(processes.start("child", SLEEP, log=tmp_path / "log"))
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        fail()
    assert ends(started[0].pid)


def test_a_paused_process_is_ended(tmp_path: Path) -> None:
    with Processes() as processes:
        child = processes.start("child", SLEEP, log=tmp_path / "log")
        child.signal(signal.SIGSTOP)
    assert ends(child.pid)


def test_they_die_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import time\nfrom pathlib import Path\nfrom tidemark.checks.observe.processes import Processes\n"
        f"child = Processes().start('child', {SLEEP!r}, log=Path({str(tmp_path / 'log')!r}))\n"
        "print(child.pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert ends(child)


def test_questions_are_answered_and_an_end_is_told_with_the_log(tmp_path: Path) -> None:
    with Processes() as processes:
        child = processes.start("echo", ECHO, log=tmp_path / "log", talks=True)
        assert child.ask(do="this", count=3) == {"do": "this", "count": 3}
        broken = processes.start("broken", [sys.executable, "-c", "raise SystemExit('no luck')"],
                                 log=tmp_path / "broken", talks=True)  # fmt: skip
        with pytest.raises(EOFError, match=r"broken ended; its log ends with: no luck"):
            broken.line()


def test_settings_of_other_servers_and_proxies_do_not_reach_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ETCD_NAME", "MILVUSCONF", "https_proxy", "PYTHONPATH"):
        monkeypatch.setenv(name, "astray")
    show = [sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]
    with Processes() as processes:
        child = processes.start("show", show, log=tmp_path / "log", environment={"OWN": "1"}, talks=True)
        found = child.line()
    assert "astray" not in found
    assert '"OWN": "1"' in found
