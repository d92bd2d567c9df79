"""Sweeps: results in the order of the items, errors with their item."""

import re
import time

import pytest
from py4j.protocol import Py4JError
from pyspark import RDD, SparkContext

from tests.checks.spark.opponents import GRID, LAMPS, TWO_PHASE, native_summary
from tidemark.checks.cli.spark.many import axis
from tidemark.checks.spark.shapes import grid, swarm, sweep, walk_one
from tidemark.checks.spark.sweep import SweepError, run_many
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.native.simulate import Budget
from tidemark.spec.language.references import ReferenceNotFoundError

pytestmark = pytest.mark.spark

HERE = "tests.checks.spark.test_sweep"
PROTOCOL = "tidemark.spec.meta:Meta"


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


def test_a_stop_that_ends_spark_as_well_is_still_a_stop(spark, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    def is_gone(*_):
        raise Py4JError("Cannot call methods on a stopped SparkContext.")

    monkeypatch.setattr(RDD, "collect", stopped)
    monkeypatch.setattr(SparkContext, "cancelJobGroup", is_gone)
    with pytest.raises(KeyboardInterrupt):
        run_many(spark, [2], f"{HERE}:fails_on_odd", name="stopped")


def test_nothing_to_do(spark):
    assert run_many(spark, [], f"{HERE}:late_if_first", name="nothing") == []


@pytest.mark.parametrize("function", ["nowhere:f", f"{HERE}:missing", "no-colon", f"{HERE}:HERE"])
def test_an_unknown_function_is_bad_input_before_anything_runs(spark, function):
    with pytest.raises(ReferenceNotFoundError, match=re.escape(function)):
        run_many(spark, [1], function, name="unknown")


# --- searches of many instances, swarms of random walks


def test_a_sweep_counts_what_one_search_after_the_other_counts(spark):
    items = grid(TWO_PHASE, {"Manager": [1, 2, 3]})
    found = sweep(spark, items, states=10**6)
    assert [row.setting for row in found] == ["Manager=1", "Manager=2", "Manager=3"]
    for row, (_, instance) in zip(found, items):
        expected = native_summary(instance)
        seen = (row.distinct, row.generated, row.depth)
        assert seen == tuple(expected[name] for name in ("distinct", "generated", "depth"))
        assert row.broken == ()
        assert row.why == ""


def test_a_sweep_shows_what_fails_what_is_cut_and_what_cannot_be_built(spark):
    found = sweep(spark, grid(LAMPS, {"Lamp": [2, 4, 3000]}), states=100)
    assert found[0].broken == ("lamps.one_is_dark",)
    assert found[0].why == ""
    assert "100" in found[1].why
    assert found[2].distinct == 0
    assert "words" in found[2].why


def test_an_axis_that_is_no_bound_is_bad_input():
    with pytest.raises(BadInputError, match="'Colr'") as caught:
        grid(LAMPS, {"Colr": [1]})
    assert "Colour" in caught.value.remedy
    with pytest.raises(BadInputError, match="no values"):
        grid(LAMPS, {"Lamp": []})


@pytest.mark.parametrize(
    ("text", "values"), [("A=1..3", [1, 2, 3]), ("A=4", [4]), ("A=true,false", [True, False])]
)
def test_axes_on_the_command_line(text, values):
    assert axis(text) == ("A", values)


@pytest.mark.parametrize("text", ["A=x", "A=1..", "A=[", "A", "A=2..1"])
def test_an_axis_that_cannot_be_read(text):
    with pytest.raises(BadInputError, match="axis"):
        axis(text)


def test_a_swarm_refutes_with_the_shortest_of_its_runs(spark):
    budget = Budget(visits=20_000, depth=30)
    found = {v.subject.property_id: v for v in swarm(spark, GRID, tasks=3, budget=budget, seed=0)}
    single = {v.subject.property_id: v for seed in range(3) for v in walk_one((GRID, budget, seed))}
    assert found.keys() == single.keys()
    assert found["grid.low"].outcome is Outcome.INCONCLUSIVE
    assert found["grid.jumps_from_the_top"].outcome is Outcome.HOLDS
    refuted = found["grid.not_far"]
    assert refuted.outcome is Outcome.REFUTED
    runs = [walk_one((GRID, budget, seed)) for seed in range(3)]
    lengths = [
        len(v.counterexample.steps)
        for run in runs
        for v in run
        if v.subject.property_id == "grid.not_far" and v.counterexample is not None
    ]
    assert refuted.counterexample is not None
    assert len(refuted.counterexample.steps) == min(lengths)
    assert refuted.counts["executions"] == sum(
        v.counts["executions"] for run in runs for v in run if v.subject.property_id == "grid.not_far"
    )
