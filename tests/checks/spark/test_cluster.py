"""A real cluster with two executors. Whatever is killed, hangs or runs twice: the counts stay exact."""

from __future__ import annotations

import json
import time

import psutil
import pytest

from tests.checks.spark.driving import driver
from tests.checks.spark.opponents import SIX_MANAGERS, native_summary
from tidemark.checks.spark.standalone import cluster, executors, host, wait_for

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("cluster")]


@pytest.fixture(scope="module")
def standalone(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


def test_an_executor_killed_in_the_middle_of_a_round_changes_nothing(standalone, tmp_path):
    master, workers = standalone
    lines, killed = [], []  # type: ignore[var-annotated]
    with driver(master, str(tmp_path)) as process:
        for line in process.stdout:  # type: ignore[union-attr]
            lines.append(line.split())
            if is_on_spark(lines[-1]) and not killed:
                killed = kill_one_at_work(workers)
    assert process.returncode == 0
    assert killed, lines
    assert wait_for(lambda: not psutil.pid_exists(killed[0]))
    assert_exact(lines)
    assert sum(is_on_spark(line) for line in lines) >= 5


def test_a_driver_killed_in_the_middle_of_a_round_is_resumed(standalone, tmp_path):
    master, _ = standalone
    before = []
    with driver(master, str(tmp_path)) as process:
        for line in process.stdout:  # type: ignore[union-attr]
            before.append(line.split())
            if sum(map(is_on_spark, before)) == 2:
                time.sleep(0.1)
                process.kill()
                break
    assert process.wait() != 0
    after = lines_of(driver(master, str(tmp_path), "--resume"))
    done = [int(line[1]) for line in before if line[0] == "round"]
    rest = [int(line[1]) for line in after if line[0] == "round"]
    # The round that was under way is done again, or was just complete.
    assert rest[0] in (done[-1] + 1, done[-1] + 2)
    assert_exact(after)


@pytest.mark.skipif(host(1) == host(0), reason="Spark speculates only across hosts, and there is one address")
def test_a_task_that_hangs_runs_twice_and_counts_once(standalone, tmp_path):
    master, _ = standalone
    lines = lines_of(driver(master, str(tmp_path), "--speculate"))
    assert_exact(lines)
    assert int(next(line[1] for line in lines if line[0] == "twice")) >= 1


def is_on_spark(line) -> bool:
    return bool(line[:1] == ["round"] and line[2] == "spark")


def lines_of(process) -> list[list[str]]:
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return [line.split() for line in output.splitlines()]


def assert_exact(lines) -> None:
    assert lines[-1][0] == "result"
    expected = native_summary(SIX_MANAGERS)
    assert json.loads(" ".join(lines[-1][1:])) == {**expected, "events": sorted(expected["events"])}


def kill_one_at_work(workers) -> list[int]:
    """Kill an executor shortly after the next round has begun."""
    time.sleep(0.15)
    both = wait_for(lambda: found if len(found := executors(workers)) == 2 else None)
    both[0].kill()
    return [both[0].pid]
