"""The sync policies at their boundaries."""

import pytest

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datanode.policies import (
    DroppedSegment,
    FlushTimestamp,
    FullBuffer,
    SealedSegment,
    SegmentView,
    StaleBuffer,
    default_policies,
)
from tidemark.impl.types import EndPosition, SegmentPhase, StartPosition


def view(*, phase=SegmentPhase.GROWING, start=4, size=50, consumed=10, flush_ts=0, has_task_here=False):
    return SegmentView(
        segment_id=1,
        phase=phase,
        start=None if start is None else StartPosition(start),
        memory_bytes=0 if start is None else size,
        consumed=EndPosition(consumed),
        flush_ts=flush_ts,
        has_task_here=has_task_here,
    )


@pytest.mark.parametrize(("size", "picked"), [(49, False), (50, True), (51, True)])
def test_full_includes_the_limit(size, picked):
    assert FullBuffer(limit_bytes=50).picks(view(size=size)) is picked


@pytest.mark.parametrize(("consumed", "picked"), [(9, False), (10, False), (11, True)])
def test_stale_excludes_the_limit(consumed, picked):
    assert StaleBuffer(after=6).picks(view(consumed=consumed)) is picked


@pytest.mark.parametrize(
    ("flush_ts", "consumed", "start", "picked"),
    [
        (0, 10, 4, False),
        (10, 10, 4, True),
        (11, 10, 4, False),
        (5, 10, 4, True),
        (4, 10, 4, False),
        (5, 10, None, False),
    ],
)
def test_flush_timestamp_needs_the_end_beyond_it_and_the_start_before_it(flush_ts, consumed, start, picked):
    assert FlushTimestamp().picks(view(flush_ts=flush_ts, consumed=consumed, start=start)) is picked


@pytest.mark.parametrize("phase", list(SegmentPhase))
def test_sealed_and_dropped_go_by_the_phase(phase):
    assert SealedSegment().picks(view(phase=phase)) is (phase is SegmentPhase.SEALED)
    assert DroppedSegment().picks(view(phase=phase)) is (phase is SegmentPhase.DROPPED)


def test_sealed_needs_no_rows_and_dropped_does():
    assert SealedSegment().picks(view(phase=SegmentPhase.SEALED, start=None))
    assert not DroppedSegment().picks(view(phase=SegmentPhase.DROPPED, start=None))


def test_only_the_sealed_policy_ends_segments():
    policies = default_policies(DataNodeConfig())
    assert [policy.name for policy in policies] == ["full", "stale", "sealed", "dropped", "flush_ts"]
    assert [policy.name for policy in policies if policy.flushes] == ["sealed"]
