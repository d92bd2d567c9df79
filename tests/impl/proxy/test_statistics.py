"""The statistics of unfinished tasks, beside a dictionary of those that run."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.impl.proxy.statistics import ChannelStatistics, Span

CHANNELS = ("a", "b", "c")


def test_a_channel_is_there_as_long_as_it_has_unfinished_tasks():
    statistics = ChannelStatistics()
    statistics.commit(("a", "b"), 5)
    statistics.commit(("a",), 7)
    statistics.pop(("a", "c"), 6)
    assert statistics.snapshot() == {"a": Span(5, 7), "b": Span(5, 5)}
    statistics.pop(("a", "b"), 5)
    assert statistics.snapshot() == {"a": Span(7, 7)}
    statistics.pop(("a",), 7)
    assert statistics.snapshot() == {}


def test_the_heap_does_not_grow_with_tasks_that_are_over():
    statistics = ChannelStatistics()
    for ts in range(1, 1_001):
        statistics.commit(("a",), ts)
        if ts > 1:
            statistics.pop(("a",), ts - 1)
        statistics.snapshot()
    assert len(statistics.channels["a"].heap) == 1


# A step: a new task of these channels, if its timestamp is new; else the end of the one that has it.
STEPS = st.lists(
    st.tuples(st.integers(1, 8), st.sampled_from([("a",), ("b",), ("a", "b"), CHANNELS])), max_size=30
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(STEPS)
def test_the_least_is_that_of_the_tasks_that_run_and_the_greatest_stays(steps):
    statistics = ChannelStatistics()
    running: dict[int, tuple[str, ...]] = {}
    greatest: dict[str, int] = {}
    for ts, channels in steps:
        over = running.pop(ts, None)
        if over is None:
            running[ts] = channels
            statistics.commit(channels, ts)
            greatest |= {channel: max(ts, greatest.get(channel, 0)) for channel in channels}
        else:
            statistics.pop(over, ts)
        least = {c: min(ts for ts, on in running.items() if c in on) for on in running.values() for c in on}
        greatest = {channel: greatest[channel] for channel in least}
        assert statistics.snapshot() == {c: Span(least[c], greatest[c]) for c in least}
