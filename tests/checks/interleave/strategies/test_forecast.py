"""How much is left of a tree that is searched in parts."""

from tidemark.checks.interleave import Options, Reduction, explore, explore_subtree, split
from tidemark.checks.interleave.spark import Forecast, Round, Searched, deal
from tidemark.checks.interleave.trees.work import WorkItem
from tidemark.models.simulation import ProgramRef


def test_nothing_is_known_before_anything_was_searched():
    assert Forecast().of([3, 4]) is None
    assert Forecast().of([]) == 0


def test_sizes_are_means_by_depth_and_powers_in_between():
    forecast = Forecast()
    forecast.learn([Searched(2, 80), Searched(2, 120), Searched(6, 1)])
    assert forecast.of([2]) == 100
    assert forecast.of([6, 6]) == 2
    assert forecast.of([4]) == 10 or abs((forecast.of([4]) or 0) - 10) < 1e-9
    assert forecast.of([1]) == 100, "above the highest known root it is a lower bound"


def test_an_unfinished_part_counts_with_what_is_left_of_it():
    forecast = Forecast()
    forecast.learn([Searched(1, 50, left=(5, 5)), Searched(5, 10)])
    assert forecast.of([1]) == 70


def test_the_forecast_is_of_the_right_size_when_a_third_is_done():
    """A known tree of 920 executions, cut into parts of which every third is searched."""
    options = Options(reduction=Reduction.NONE, audit=0, check_every=0)
    small = ProgramRef.of("tidemark.checks.crosscheck.peers.shared_memory:shared", kind="lastzero", size=3)
    whole = explore(small, options).statistics.executions
    done, items = split(small, 60, options=options)
    forecast, searched = Forecast(), set(items[::3])
    spent = done.statistics.executions
    for item in searched:
        part = explore_subtree(small, item, budget=10_000, options=options)
        spent += part.done
        forecast.learn([Searched(len(item.picks), part.done)])
    left = forecast.of([len(item.picks) for item in items if item not in searched])
    assert left is not None
    assert (whole - spent) / 2 < left < (whole - spent) * 2


def test_hands_are_dealt_with_the_large_parts_apart():
    items = [WorkItem((0,) * depth, ()) for depth in (5, 1, 3, 2, 4)]
    hands = deal(items, 2)
    assert [[len(item.picks) for item in hand] for hand in hands] == [[1, 3, 5], [2, 4]]
    assert deal(items[:1], 4) == [[items[0]]]


def test_the_overhead_is_what_the_cores_did_not_search():
    done = Round(number=3, left=2, forecast=41.0, workers=2, wall=10.0, busy=19.0)
    assert abs(done.overhead - 0.05) < 1e-9
    assert done.text() == "round 3, 2 parts left with about 41 executions"
