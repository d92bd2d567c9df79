"""The statistics of unfinished tasks: by a heap and by a scan, the same answers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.impl.proxy.statistics import HeapStatistics, ScanStatistics, Span

CHANNELS = ("a", "b", "c")
BOTH = [HeapStatistics, ScanStatistics]


@pytest.mark.parametrize("kind", BOTH)
def test_a_channel_is_there_as_long_as_it_has_unfinished_tasks(kind):
    statistics = kind()
    statistics.commit(("a", "b"), 5, 5)
    statistics.commit(("a",), 7, 7)
    assert statistics.snapshot() == {"a": Span(5, 7), "b": Span(5, 5)}
    statistics.pop(("a", "b"), 5)
    assert statistics.snapshot() == {"a": Span(7, 7)}
    statistics.pop(("a",), 7)
    assert statistics.snapshot() == {}


@pytest.mark.parametrize("kind", BOTH)
def test_a_later_task_that_is_over_first_leaves_the_minimum_alone(kind):
    statistics = kind()
    statistics.commit(("a",), 5, 5)
    statistics.commit(("a",), 7, 9)
    statistics.pop(("a",), 7)
    assert statistics.snapshot() == {"a": Span(5, 9)}


@pytest.mark.parametrize("kind", BOTH)
def test_a_pop_of_what_is_not_there_changes_nothing(kind):
    statistics = kind()
    statistics.commit(("a",), 5, 5)
    statistics.pop(("a", "b"), 6)
    assert statistics.snapshot() == {"a": Span(5, 5)}


def test_the_heap_does_not_grow_with_tasks_that_are_over():
    statistics = HeapStatistics()
    for ts in range(1, 1_001):
        statistics.commit(("a",), ts, ts)
        if ts > 1:
            statistics.pop(("a",), ts - 1)
        statistics.snapshot()
    assert len(statistics.channels["a"].heap) == 1


# A step: a new task of these channels, so long, if its timestamp is new; else the end of the one that has it.
STEPS = st.lists(
    st.tuples(st.integers(1, 8), st.sampled_from([("a",), ("b",), ("a", "b"), CHANNELS]), st.integers(0, 3)),
    max_size=30,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(STEPS)
def test_heap_and_scan_give_the_same_answers(steps):
    heap, scan = HeapStatistics(), ScanStatistics()
    running: dict[int, tuple[str, ...]] = {}
    for ts, channels, length in steps:
        over = running.pop(ts, None)
        if over is None:
            running[ts] = channels
        for statistics in (heap, scan):
            if over is None:
                statistics.commit(channels, ts, ts + length)
            else:
                statistics.pop(over, ts)
        assert heap.snapshot() == scan.snapshot()
        least = {c: min(ts for ts, on in running.items() if c in on) for on in running.values() for c in on}
        assert {name: span.min_ts for name, span in heap.snapshot().items()} == least


class _Stale(HeapStatistics):
    """A heap that is never cleaned."""

    def least(self, tracked):
        return tracked.heap[0]


def test_a_heap_that_is_not_cleaned_is_told_apart():
    stale, scan = _Stale(), ScanStatistics()
    for statistics in (stale, scan):
        statistics.commit(("a",), 5, 5)
        statistics.commit(("a",), 7, 7)
        statistics.pop(("a",), 5)
    assert stale.snapshot() != scan.snapshot()
