"""Subtrees on a real cluster with two executors, one of which is killed while it searches."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from tests.checks.interleave.cluster_driver import OPTIONS, PROGRAM, facts
from tests.processes import ends
from tidemark.checks.interleave import explore
from tidemark.checks.spark.session import executors, wait_for
from tidemark.models.rooms import ROOT


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("cluster")
def test_an_executor_killed_in_the_middle_of_a_round_changes_nothing(standalone, tmp_path):
    master, workers = standalone
    killed, rounds, result = None, 0, ""
    command = [sys.executable, "-m", "tests.checks.interleave.cluster_driver", master, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            rounds += line.startswith("round")
            result = line if line.startswith("result") else result
            if rounds == 3 and killed is None:
                time.sleep(0.1)
                both = wait_for(lambda: found if len(found := executors(workers)) == 2 else None)
                killed = both[0].pid
                both[0].kill()
    assert process.returncode == 0
    assert killed is not None
    assert ends(killed)
    assert rounds > 5, "the killed executor was missed by several rounds"
    assert result.strip() == f"result exhausted {facts(explore(PROGRAM, OPTIONS))}"
