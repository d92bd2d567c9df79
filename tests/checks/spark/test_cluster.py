"""A real cluster with two executors, one of which is killed while a round runs: the counts stay exact."""

from __future__ import annotations

import json
import time

import psutil
import pytest

from tests.checks.spark.cluster import cluster, driver, executors, wait_for
from tests.checks.spark.opponents import SIX_MANAGERS, native_summary

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_an_executor_killed_in_the_middle_of_a_round_changes_nothing(tmp_path):
    with cluster(tmp_path) as (master, workers):
        lines, killed = [], []  # type: ignore[var-annotated]
        with driver(master, str(tmp_path)) as process:
            for line in process.stdout:  # type: ignore[union-attr]
                lines.append(line.split())
                if lines[-1][:1] == ["round"] and lines[-1][2] == "spark" and not killed:
                    killed = kill_one_at_work(workers)
        assert process.returncode == 0
        assert killed, lines
        assert wait_for(lambda: not psutil.pid_exists(killed[0]))
    assert lines[-1][0] == "result"
    found = json.loads(" ".join(lines[-1][1:]))
    expected = native_summary(SIX_MANAGERS)
    assert found == {**expected, "events": sorted(expected["events"])}
    rounds = [line for line in lines if line[0] == "round"]
    assert sum(line[2] == "spark" for line in rounds) >= 5


def kill_one_at_work(workers) -> list[int]:
    """Kill an executor shortly after the next round has begun."""
    time.sleep(0.15)
    both = wait_for(lambda: found if len(found := executors(workers)) == 2 else None)
    both[0].kill()
    return [both[0].pid]
