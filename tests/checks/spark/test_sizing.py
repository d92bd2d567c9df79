"""The plan for a cluster: what is fitted, and how it grows."""

import dataclasses
import itertools
from datetime import UTC, datetime
from typing import Any

import pytest

from tidemark.checks.cli.spark.many import plan_lines
from tidemark.checks.spark.planning.history import History, Row
from tidemark.checks.spark.planning.sizing import measured, rounds_of, size
from tidemark.checks.verdicts.errors import BadInputError

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
COMMON: dict[str, Any] = {
    "run": "r",
    "protocol": "p",
    "instance": "big",
    "master": "local[2]",
    "cores": 2,
    "partitions": 2,
}
LEVELS = [10, 100, 40_000, 60_000, 90_000, 120_000, 100_000, 70_000, 30_000, 5]


def rounds(*, latency=0.3, seconds=4e-6, first=5.0):
    """A search that costs as given; the first round on Spark takes longer by ``first``."""
    found: list[dict[str, Any]] = []
    for depth, (before, now) in enumerate(itertools.pairwise(LEVELS), start=1):
        on_spark = before >= 1000
        starts = on_spark and not any(row["on_spark"] for row in found)
        found.append(
            {
                "depth": depth,
                "expanded": before,
                "frontier": now,
                "distinct": sum(LEVELS[: depth + 1]),
                "generated": 5 * before,
                "sent_bytes": 32 * before,
                "seconds": latency + seconds * before + first * starts if on_spark else 0.001,
                "on_spark": on_spark,
            }
        )
    return found


def rows(**costs):
    fixed: dict[str, Any] = {"session": "s", "words": 1, "started": NOON, "finished": NOON}
    return [Row(**COMMON, **fixed, **values) for values in rounds(**costs)]


def test_the_costs_of_a_round_and_of_a_state_are_found_again():
    found = measured(rows(latency=0.3, seconds=4e-6))
    assert found.latency == pytest.approx(0.3)
    assert found.core_seconds == pytest.approx(8e-6)
    assert found.sent_bytes == pytest.approx(32, rel=0.01)
    assert (found.rounds, found.on_spark) == (9, 7)


def test_noise_never_gives_a_free_state_or_a_free_round():
    found = measured(rows(latency=2.0, seconds=-1e-6))
    assert found.latency > 0
    assert found.core_seconds > 0


def test_a_plan_adds_up():
    found = measured(rows())
    plan = size(found, states=10**10, executors=100, cores=8, rounds=50)
    assert plan.log_bytes == 8e10
    assert plan.read_bytes == 25 * plan.log_bytes
    assert plan.sent_bytes == pytest.approx(3.2e11, rel=0.01)
    assert plan.compute_seconds == pytest.approx(10**10 * 8e-6 / 800)
    assert plan.latency_seconds >= 50 * 0.3
    assert plan.partitions % 800 == 0
    assert plan.round_bytes / plan.partitions <= 256e6
    more = size(found, states=10**10, executors=200, cores=8, rounds=50)
    assert more.compute_seconds == pytest.approx(plan.compute_seconds / 2)
    assert more.cache_bytes == pytest.approx(plan.cache_bytes / 2)
    assert more.sent_bytes == plan.sent_bytes
    wide = size(dataclasses.replace(found, words=2), states=10**10, executors=100, cores=8, rounds=50)
    assert wide.log_bytes == 2 * plan.log_bytes
    text = "\n".join(plan_lines(found, plan))
    assert "10,000,000,000 states on 100 executors with 8 cores each" in text
    assert "--conf spark.executor.cores=8" in text


def test_partitions_grow_when_a_task_would_have_too_much():
    found = measured(rows())
    few = size(found, states=10**10, executors=1, cores=2)
    assert few.partitions > 2
    assert few.round_bytes / few.partitions <= 256e6


def test_the_last_run_of_the_instance_with_enough_rounds_is_taken(tmp_path):
    with pytest.raises(BadInputError, match="no search of 'big'") as caught:
        rounds_of(tmp_path / "nothing", "big")
    assert "tidemark spark distribute" in caught.value.remedy
    first = History(tmp_path, words=1, **COMMON)
    for values in rounds():
        first.add(**values)
    small = History(tmp_path, words=1, **COMMON)
    for values in rounds()[:4]:
        small.add(**values)
    assert [row.depth for row in rounds_of(tmp_path, "big")] == list(range(1, 10))
    with pytest.raises(BadInputError):
        rounds_of(tmp_path, "other")
