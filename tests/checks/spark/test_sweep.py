"""Sweeps: results in the order of the items, errors with their item."""

from __future__ import annotations

import time

import pytest

from checks.errors import BadInputError
from checks.spark.sweep import SweepError, run_many

pytestmark = pytest.mark.spark

HERE = "tests.checks.spark.test_sweep"


def late_if_first(number):
    time.sleep(0.5 if number == 0 else 0.0)
    return number * number


def fails_on_odd(number):
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number


def test_results_are_in_the_order_of_the_items(spark):
    assert run_many(spark, range(12), f"{HERE}:late_if_first", name="squares") == [n * n for n in range(12)]


def test_progress_counts_finished_items(spark):
    seen = []

    def progress(done, *, total=None, unit="", note=""):
        seen.append((done, total, unit, note))

    run_many(spark, [0] * 4, f"{HERE}:late_if_first", name="slow squares", unit="numbers", progress=progress)
    assert seen
    assert all(total == 4 and unit == "numbers" and note == "slow squares" for _, total, unit, note in seen)
    assert [done for done, *_ in seen] == sorted(done for done, *_ in seen)


def test_the_first_failing_item_is_named(spark):
    with pytest.raises(SweepError, match=r"fails_on_odd failed on 3: ValueError: 3 is odd"):
        run_many(spark, [2, 4, 3, 5], f"{HERE}:fails_on_odd", name="odd")


def test_jobs_have_readable_names(spark):
    run_many(spark, [2], f"{HERE}:fails_on_odd", name="even numbers", unit="numbers")
    store = spark.sparkContext._jsc.sc().statusStore()
    jobs = store.jobsList(None)
    descriptions = [jobs.apply(n).description() for n in range(jobs.size())]
    assert any("even numbers: 1 numbers" in str(text) for text in descriptions)


def test_nothing_to_do(spark):
    assert run_many(spark, [], f"{HERE}:late_if_first", name="nothing") == []


@pytest.mark.parametrize("function", ["nowhere:f", f"{HERE}:missing", "no-colon", f"{HERE}:HERE"])
def test_an_unknown_function_is_bad_input_before_anything_runs(spark, function):
    with pytest.raises(BadInputError, match="module:function"):
        run_many(spark, [1], function, name="unknown")
