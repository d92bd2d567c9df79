"""What a snapshot remembers of tasks that have not run is what it would find if it looked again."""

from __future__ import annotations

import pytest

from tidemark.checks.interleave import Options, Reduction, explore
from tidemark.models.simulation import ProgramRef, snapshot
from tidemark.models.simulation.loop.lane import Lane, LaneTask

SMALL = ProgramRef.of(
    "tidemark.models.protocols.flush.programs:flush", rows=(1,), sync_each_row=True, crashes=1
)


def test_what_is_remembered_is_what_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real, remembered = snapshot._lane_state, []

    def twice(lane: Lane, *, timed: bool) -> snapshot.Key:
        kept = lane.positions, [getattr(task, "position", None) for task in lane.tasks]
        remembered.append(any(kept[1]))
        found = real(lane, timed=timed)
        lane.positions = None
        for task in lane.tasks:
            assert isinstance(task, LaneTask)
            task.position = None
        assert real(lane, timed=timed) == found
        return found

    monkeypatch.setattr(snapshot, "_lane_state", twice)
    result = explore(SMALL, Options(reduction=Reduction.STATES, audit=5))
    assert result.status.value == "exhausted"
    assert sum(remembered) > 100
