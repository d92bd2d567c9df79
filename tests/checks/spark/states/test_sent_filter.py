"""What a sender may leave out: nothing that an owner has not had."""

from __future__ import annotations

import numpy as np
import pytest

from tidemark.checks.spark.states.packed_states import owners_of
from tidemark.checks.spark.states.sent_filter import SentFilter


def block(seed, rows, words, *, top):
    return np.random.default_rng(seed).integers(0, top, size=(rows, words), dtype=np.uint64, endpoint=True)


def as_set(rows):
    return {tuple(row) for row in rows.tolist()}


def sent(remembered, states):
    return [tuple(row) for part in remembered.split(states) for row in part.tolist()]


@pytest.mark.parametrize("memory", [0, 1 << 16])
@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_it_loses_nothing_and_sends_each_state_to_its_owner(partitions, memory):
    states = block(5, 4000, 2, top=30)
    remembered = SentFilter(words=2, partitions=partitions, memory=memory)
    remembered.begin(1)
    parts = [remembered.split(states[at : at + 500]) for at in range(0, 4000, 500)]
    for owner in range(partitions):
        mine = np.concatenate([part[owner] for part in parts])
        assert (owners_of(mine, partitions) == owner).all()
        assert as_set(mine) == as_set(states[owners_of(states, partitions) == owner])
        assert len(mine) < 4000


def test_what_was_sent_in_an_earlier_round_is_not_sent_again():
    states = block(6, 50, 1, top=2**60)
    remembered = SentFilter(words=1, partitions=2)
    remembered.begin(3)
    assert len(sent(remembered, states)) == 50
    remembered.begin(4)
    assert sent(remembered, states) == []


def test_another_attempt_in_the_same_round_sends_everything_again():
    """The first one may have been lost with all that it sent."""
    states = block(7, 50, 1, top=2**60)
    remembered = SentFilter(words=1, partitions=2)
    remembered.begin(3)
    remembered.split(states[:20])
    remembered.begin(3)
    assert as_set(states) == set(sent(remembered, states))
    assert sent(remembered, states) == []


def test_a_round_that_is_done_again_forgets_the_later_ones():
    states = block(8, 50, 1, top=2**60)
    remembered = SentFilter(words=1, partitions=2)
    remembered.begin(5)
    remembered.split(states)
    remembered.begin(4)
    assert as_set(states) == set(sent(remembered, states))


def test_attempts_before_a_repeated_round_stay_trusted():
    early, late = block(9, 20, 1, top=2**60), block(10, 20, 1, top=2**60)
    remembered = SentFilter(words=1, partitions=1)
    remembered.begin(1)
    remembered.split(early)
    for _ in range(2):
        remembered.begin(2)
        assert as_set(late) == set(sent(remembered, np.concatenate([early, late])))
