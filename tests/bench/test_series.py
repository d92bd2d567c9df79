"""Ratios, spreads, goals and differing counts, on sides that only pretend to run."""

import itertools
import math
from functools import partial

import pytest

from tidemark.bench.sample import BrokenRun, NotMeasured, Sample, Side, count, cpu_rate, rate, seconds
from tidemark.bench.series import Goal, Status, alternate, judge


def fake(name, times, *, distinct=100, **options):
    """A side that takes the given seconds, one after the other."""
    left = iter(times)

    def run():
        return Sample(seconds=next(left), counts={"distinct": distinct})

    return Side(name, run, **options)


def raising(name, error):
    def run():
        raise error

    return Side(name, run)


def series(*sides, repeat=3):
    return alternate(sides, measure="fake", size="small", repeat=repeat)


def test_the_ratio_is_the_median_of_the_ratios_of_one_repetition():
    """The machine grows four times slower; the ratio of the repetitions stays."""
    found = series(fake("slow", [2.0, 4.0, 8.0]), fake("quick", [1.0, 2.0, 4.0]))
    row = found.row("quick", "rate", rate("distinct"), unit="/s", against="slow", goal=Goal(at_least=2))
    assert row.ratios == (2.0, 2.0, 2.0)
    assert row.samples == (100.0, 50.0, 25.0)
    assert row.median == 50.0
    assert row.spread == pytest.approx(1.5)
    assert row.status is Status.MET


def test_a_ratio_of_times_is_turned_round():
    found = series(fake("slow", [6.0, 6.0, 9.0]), fake("quick", [2.0, 3.0, 3.0]))
    row = found.row("quick", "time", seconds, unit="s", against="slow", inverse=True)
    assert row.ratio == 3.0
    assert row.ratios == (3.0, 2.0, 3.0)
    assert row.status is Status.NO_GOAL


def test_sides_run_in_turn_and_the_order_changes():
    order = []

    def side(name):
        def run():
            order.append(name)
            return Sample(seconds=1.0)

        return Side(name, run)

    series(side("a"), side("b"))
    assert order == ["a", "b", "b", "a", "a", "b"]


@pytest.mark.parametrize(
    ("times", "repeat", "judged", "status"),
    [
        ([1.0, 1.5, 1.5], 3, True, Status.NOT_MET),
        ([0.2] * 3, 3, True, Status.MET),
        ([0.2] * 3, 3, False, Status.NOT_JUDGED),
        ([0.2] * 3, 2, True, Status.NOT_JUDGED),
        ([0.2] * 3, 1, True, Status.NOT_JUDGED),
    ],
)
def test_a_goal_is_judged_from_three_repetitions_on_where_it_applies(times, repeat, judged, status):
    found = series(fake("slow", [2.0] * 3), fake("quick", times), repeat=repeat)
    found.judged = judged
    row = found.row("quick", "rate", rate("distinct"), unit="/s", against="slow", goal=Goal(at_least=2))
    assert row.status is status
    assert row.ratio == pytest.approx(2.0 / sorted(times)[1])


def test_a_goal_on_a_value_of_its_own():
    found = series(fake("one", [1.0, 1.0, 1.0]))
    met = found.row("one", "states", count("distinct"), unit="", goal=Goal(at_most=100, unit=""))
    missed = found.row("one", "states", count("distinct"), unit="", goal=Goal(at_most=99, unit=""))
    assert (met.status, missed.status) == (Status.MET, Status.NOT_MET)


def test_different_counts_are_told_in_every_line():
    found = series(fake("one", [1.0] * 3, distinct=7), fake("two", [1.0] * 3, distinct=8))
    row = found.row("two", "rate", rate("distinct"), unit="/s", against="one", goal=Goal(at_least=0.1))
    assert row.status is Status.DIFFERENT
    assert row.reason == "distinct: one 7, two 8"
    assert found.row("one", "rate", rate("distinct"), unit="/s").status is Status.DIFFERENT


def test_counts_that_change_from_repetition_to_repetition_are_different():
    numbers = itertools.count(5)
    side = Side("one", lambda: Sample(seconds=1.0, counts={"distinct": next(numbers)}))
    assert series(side).different == "distinct: one 5, one 6; distinct: one 5, one 7"


def test_counts_are_compared_with_what_is_expected():
    side = fake("one", [1.0] * 3, distinct=7, expected={"distinct": 8, "depth": 3})
    assert series(side).different == "distinct: expected 8, one 7"


def test_texts_are_compared_too():
    def sample(name):
        return Sample(seconds=1.0, texts={"digest": name})

    sides = [Side(name, partial(sample, name)) for name in "ab"]
    assert series(*sides).different == "digest: a a, b b"


def test_sides_of_different_subjects_may_differ():
    one = fake("one", [1.0] * 3, distinct=7, subject="few")
    two = fake("two", [1.0] * 3, distinct=8, subject="many")
    assert series(one, two).different == ""


def test_what_is_not_measured_is_never_met():
    found = series(raising("Spin", NotMeasured("spin is missing; install it")), fake("ours", [1.0] * 3))
    goal = Goal(at_least=2)
    theirs = found.row("Spin", "rate", rate("distinct"), unit="/s")
    ours = found.row("ours", "rate", rate("distinct"), unit="/s", against="Spin", goal=goal)
    assert (theirs.status, theirs.reason) == (Status.NOT_MEASURED, "spin is missing; install it")
    assert (ours.status, ours.reason) == (Status.NOT_MEASURED, "Spin: spin is missing; install it")
    assert ours.median == 100.0
    assert ours.ratio is None


def test_a_side_that_crashes_is_broken_and_the_others_go_on():
    found = series(raising("theirs", BrokenRun("it crashed")), fake("ours", [1.0] * 3))
    assert found.row("theirs", "rate", rate("distinct"), unit="/s").status is Status.BROKEN
    ours = found.row("ours", "rate", rate("distinct"), unit="/s", against="theirs", goal=Goal(at_least=2))
    assert ours.status is Status.NOT_MEASURED
    assert len(ours.samples) == 3


def test_a_side_that_fails_later_is_left_out_whole():
    times = iter([1.0])

    def run():
        for second in times:
            return Sample(seconds=second, counts={"distinct": 1})
        raise NotMeasured("took too long")

    found = series(Side("one", run))
    row = found.row("one", "rate", rate("distinct"), unit="/s", goal=Goal(at_least=0))
    assert row.status is Status.NOT_MEASURED


def test_unknown_processor_time_meets_nothing():
    found = series(fake("one", [1.0] * 3))
    row = found.row("one", "rate", cpu_rate("distinct"), unit="/s", goal=Goal(at_least=0, unit="/s"))
    assert row.median is not None
    assert math.isnan(row.median)
    assert row.status is Status.NOT_MET


def test_the_goal_speaks_of_the_median():
    assert judge(Goal(at_least=2), [1.0, 2.5, 9.0]) == (Status.MET, "")
    assert judge(Goal(at_least=2), [1.0, 1.5, 9.0]) == (Status.NOT_MET, "")
    assert judge(Goal(at_most=2), [1.0, 2.5, 9.0]) == (Status.NOT_MET, "")
    assert str(Goal(at_most=24, unit="bytes")) == "<= 24 bytes"
