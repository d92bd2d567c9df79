"""Packs, rows and thresholds refuse what makes no sense."""

import pytest

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.types import EndPosition, Pack, Row, StartPosition


@pytest.mark.parametrize("ts", [3, 6])
def test_a_row_outside_of_its_pack_is_refused(ts):
    with pytest.raises(ValueError, match=rf"row 7 has ts {ts}, outside \(3, 5\]"):
        Pack(StartPosition(3), EndPosition(5), (Row(ts, 1, 7),))


def test_the_end_belongs_to_the_pack_and_the_start_does_not():
    rows = (Row(4, 1, 1), Row(5, 1, 2))
    assert Pack(StartPosition(3), EndPosition(5), rows).rows == rows


def test_a_pack_without_extent_is_refused():
    with pytest.raises(ValueError, match="starts at 5 and ends at 5"):
        Pack(StartPosition(5), EndPosition(5))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("full_buffer_bytes", 0),
        ("max_parallel_rpcs", 0),
        ("checkpoint_tick_seconds", 0.0),
        ("checkpoint_interval_ts", -1),
    ],
)
def test_a_threshold_out_of_range_is_named(name, value):
    with pytest.raises(ValueError, match=f"{name} is {value}"):
        DataNodeConfig(**{name: value})
