"""A real server, where ``make milvus`` could fetch one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from tidemark.checks.observe.launch import observe
from tidemark.checks.observe.package import find_package
from tidemark.checks.observe.scenarios import find_scenario
from tidemark.checks.observe.stage import read_record
from tidemark.checks.verdicts.errors import MissingToolError

try:
    find_package()
    WHY_NOT = ""
except MissingToolError as error:
    WHY_NOT = f"{error.message}: {error.remedy}"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_everything_that_was_started_is_ended(number: signal.Signals, tmp_path: Path) -> None:
    said = tmp_path / "said"
    # A shell in the background ignores SIGINT, and its children inherit that.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from tidemark.checks.cli.app import run; sys.exit(run(sys.argv[1:]))"
    )
    command = [sys.executable, "-u", "-c", code, "observe", "clean", "--out", str(tmp_path / "run")]
    with said.open("w") as file:
        run = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)
    until = time.monotonic() + 60
    while "the clients work" not in said.read_text() and time.monotonic() < until and run.poll() is None:
        time.sleep(0.1)
    mine = psutil.Process(run.pid).children(recursive=True)
    assert any("milvus run standalone" in " ".join(each.cmdline()) for each in mine), said.read_text()
    os.kill(run.pid, number)
    status = run.wait(30)
    _, alive = psutil.wait_procs(mine, timeout=10)
    assert alive == []
    assert status == (7 if number == signal.SIGINT else -number)


def test_a_delete_is_not_seen_by_the_session_that_made_it(tmp_path: Path) -> None:
    """The answer of a delete has no timestamp in this version: the next Session read asks for less."""
    observe(find_scenario("session-delete"), seed=1, folder=tmp_path / "run")
    history = [json.loads(line) for line in (tmp_path / "run/history-s0.ndjson").read_text().splitlines()]
    rounds = read_record(tmp_path / "run")["facts"]["rounds"]
    reads = [after for op, after in pairwise(history) if op["op"] == "delete"]
    assert len(reads) == rounds
    assert all(read["seen"] for read in reads)
    assert all(op["ts"] == 0 for op in history if op["op"] == "delete")
