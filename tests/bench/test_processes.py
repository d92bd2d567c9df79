"""Fresh processes: their sample, their memory, and what happens when they crash or are late."""

import subprocess
import sys
import time

import pytest

from tests.processes import ends, lives
from tidemark.bench.process import in_fresh_process, run_process
from tidemark.bench.sample import BrokenRun, NotMeasured, Sample
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.rooms import ROOT

MEBIBYTE = 2**20


def takes_memory(*, mebibytes: int) -> Sample:
    held = bytearray(mebibytes * MEBIBYTE)
    held[::4096] = b"x" * len(held[::4096])
    return Sample(
        seconds=1.0, counts={"bytes": len(held)}, texts={"text": "one"}, values={"nan": float("nan")}
    )


def crashes() -> Sample:
    raise ValueError("planted")


def is_missing() -> Sample:
    raise NotMeasured("there is no such tool; install it")


def test_the_peak_memory_is_that_of_the_fresh_process():
    held = bytearray(300 * MEBIBYTE)
    held[::4096] = b"x" * len(held[::4096])
    small = in_fresh_process(takes_memory, mebibytes=1)
    large = in_fresh_process(takes_memory, mebibytes=100)
    assert small.counts == {"bytes": MEBIBYTE}
    assert small.texts == {"text": "one"}
    assert 90 * MEBIBYTE < large.peak_bytes - small.peak_bytes < 110 * MEBIBYTE
    assert small.peak_bytes < 200 * MEBIBYTE < len(held)


def test_a_crash_is_no_missing_tool():
    with pytest.raises(BrokenRun, match="planted"):
        in_fresh_process(crashes)


def test_a_missing_tool_is_no_crash():
    with pytest.raises(NotMeasured, match="there is no such tool"):
        in_fresh_process(is_missing)


def test_a_process_that_is_late_is_ended(tmp_path):
    with pytest.raises(NotMeasured, match=r"took longer than 0\.3 s"):
        run_process([sys.executable, "-c", "import time; time.sleep(60)"], cwd=tmp_path, timeout=0.3)


def test_a_program_that_is_not_there(tmp_path):
    with pytest.raises(NotMeasured, match="no-such-program is missing"):
        run_process(["no-such-program"], cwd=tmp_path, timeout=1)


FAMILY = """
import subprocess, sys, time
if len(sys.argv) == 1:
    subprocess.Popen([sys.executable, __file__, "child"])
held = bytearray(60 * 2**20)
held[::4096] = b"x" * len(held[::4096])
time.sleep(2)
"""


def test_the_memory_of_a_family_is_added_up(tmp_path):
    script = tmp_path / "family.py"
    script.write_text(FAMILY)
    done = run_process([sys.executable, str(script)], cwd=tmp_path, timeout=30, family=True)
    assert done.status == 0
    assert done.peak_bytes > 120 * MEBIBYTE


WAITING = """
import sys
from pathlib import Path
from bench import cli
from tidemark.bench.series import Measure
from tidemark.bench.process import run_process

def run(plan):
    folder = Path(sys.argv[1])
    run_process(["sh", "-c", "echo $$ > pid; exec sleep 60"], cwd=folder, timeout=60)
    return []

cli.MEASURES = (Measure("waiting", "A fake.", run),)
sys.exit(cli.run(["--build", sys.argv[1]]))
"""


def test_a_run_that_is_terminated_leaves_nothing_running(tmp_path):
    command = [sys.executable, "-c", WAITING, str(tmp_path)]
    started = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    name = tmp_path / "pid"
    wait_for(lambda: name.exists() and name.read_text().strip())
    child = int(name.read_text())
    assert lives(child)
    started.terminate()
    assert started.wait(timeout=60) == ExitCode.STOPPED.value
    assert ends(child)


def wait_for(condition, *, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
