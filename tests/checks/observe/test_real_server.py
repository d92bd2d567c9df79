"""A real server, where ``make milvus`` could fetch one."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest
from rich.console import Console

from tests.processes import ends
from tidemark.checks.observe import command
from tidemark.checks.observe.package import find_package
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
    arguments = [sys.executable, "-u", "-c", code, "observe", "clean", "--collect", "--out", str(tmp_path)]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with said.open("w") as file:
        run = subprocess.Popen(
            arguments, stdout=file, stderr=file, start_new_session=True,
            env=os.environ | {"TMPDIR": str(scratch)},
        )  # fmt: skip
    until = time.monotonic() + 60
    while "standalone-1 answers" not in said.read_text() and time.monotonic() < until and run.poll() is None:
        time.sleep(0.1)
    mine = psutil.Process(run.pid).children(recursive=True)
    assert any("milvus run standalone" in " ".join(each.cmdline()) for each in mine), said.read_text()
    os.kill(run.pid, number)
    status = run.wait(120)  # what hangs gets a signal after a while, then another
    assert ends(*(each.pid for each in mine), seconds=60)  # a machine may be slow
    assert list(scratch.iterdir()) == []
    assert status == (7 if number == signal.SIGINT else -number)


def judged(scenario: str, folder: Path, **options: Any) -> tuple[int, str]:
    """Exit status and words of a run that is judged too."""
    said = io.StringIO()
    status = command.observe(
        scenario, options=command.Options(out=folder, **options), console=Console(file=said, width=250)
    )
    return status, said.getvalue()


def test_a_delete_is_not_seen_by_the_session_that_made_it(tmp_path: Path) -> None:
    """The answer of a delete has no timestamp in this version: the next Session read asks for less."""
    status, said = judged("session-delete", tmp_path, seed=1)
    assert status == 0, said
    folder = tmp_path / "session-delete-2.3.5-1"
    history = [json.loads(line) for line in (folder / "history-s0.ndjson").read_text().splitlines()]
    reads = [after for op, after in pairwise(history) if op["op"] == "delete"]
    assert len(reads) == read_record(folder)["facts"]["rounds"]
    assert any(read["seen"] for read in reads)
    assert all(op["ts"] == 0 for op in history if op["op"] == "delete")
    session = refuted(tmp_path / "session-delete-2.3.5-1-verdicts")["history.session/client-history"]
    assert session["counts"]["breaches"] == sum(bool(read["seen"]) for read in reads)


def refuted(build: Path) -> dict[str, dict[str, Any]]:
    """The refuted verdicts of a run by ``PROPERTY/MONITOR``."""
    result = json.loads((build / "verdicts.json").read_text())
    return {
        f"{each['property_id']}/{each['instance'].rpartition(':')[2]}": each
        for each in result["judgements"]
        if each["outcome"] == "refuted"
    }


def test_a_paused_proxy_is_judged_as_pinned(tmp_path: Path) -> None:
    """Whether it loses rows is a race; either way the verdicts are the pinned ones, and the counts agree."""
    status, said = judged("paused-proxy", tmp_path, seed=2, lease=6)
    assert status == 0, said
    facts = read_record(tmp_path / "paused-proxy-2.3.5-2")["facts"]
    broken = refuted(tmp_path / "paused-proxy-2.3.5-2-verdicts")
    assert facts["rows"] > 1000
    late = broken.get("timetick.watermark_promise/broker-watermark", {"counts": {"breaches": 0}})
    assert late["counts"]["breaches"] == facts["late_messages"]
    assert ("history.kept/client-history" in broken) == (facts["lost_rows"] > 0)
