"""Packs of several channels, and packs that grow: where they end, and where a consumer goes on."""

import pytest

from tests.impl.parts import run
from tests.impl.read_parts import ListLog, insert, tick
from tidemark.impl.stream.aligned import AlignedConsumer, AlignedPosition
from tidemark.impl.stream.config import Pursuit
from tidemark.impl.values.messages import DdlMessage

BOTH = ("left", "right")


class Logs:
    """Physical channels in memory."""

    def __init__(self, **logs):
        self.logs = logs

    async def read(self, channel, place):
        """See EntryLog."""
        return await self.logs[channel].read("log", place)


def test_a_pack_ends_where_all_channels_have_the_same_tick():
    async def scenario():
        logs = Logs(
            left=ListLog(insert(1, 10), tick(3), insert(4, 11), tick(5), insert(9, 13), tick(8)),
            right=ListLog(tick(2), insert(7, 12), tick(5), tick(8)),
        )
        consumer = AlignedConsumer(log=logs, channels=BOTH)
        first, second = await consumer.next_pack(), await consumer.next_pack()
        assert ([m.ts for m in first.messages], first.finish) == ([1, 4], AlignedPosition(5, (4, 2)))
        assert ([m.ts for m in second.messages], second.finish) == ([7], AlignedPosition(8, (5, 4)))
        again = AlignedConsumer(log=logs, channels=BOTH, position=first.finish)
        assert await again.next_pack() == second

    run(scenario())


def test_a_consumer_that_is_behind_lets_its_pack_grow_up_to_a_drop():
    async def scenario():
        drop = DdlMessage(3, "log_1v0", "drop")
        log = ListLog(
            insert(1, 1), tick(1), insert(2, 2), tick(2), drop, tick(3), insert(4, 4), tick(4), tick(5)
        )
        pursuit = Pursuit(now=lambda: 5, lag=1)
        consumer = AlignedConsumer(log=log, channels=("log",), pursuit=pursuit)
        packs = [await consumer.next_pack() for _ in range(3)]
        assert [(p.finish.ts, [m.ts for m in p.messages]) for p in packs] == [
            (3, [1, 2, 3]),
            (4, [4]),
            (5, []),
        ]
        assert [p.start.ts for p in packs] == [0, 3, 4]

    run(scenario())


@pytest.mark.parametrize(("messages", "ends"), [(1, 1), (2, 2), (3, 3)])
def test_a_pursuit_ends_when_its_pack_is_large_or_no_tick_comes(messages, ends):
    async def scenario():
        log = ListLog(insert(1, 1), tick(1), insert(2, 2), tick(2), insert(3, 3), tick(3))
        pursuit = Pursuit(now=lambda: 9, lag=0, messages=messages, seconds=0.01 if messages > 2 else 60)
        consumer = AlignedConsumer(log=log, channels=("log",), pursuit=pursuit)
        assert (await consumer.next_pack()).finish.ts == ends

    run(scenario())


def test_a_pursuit_without_bounds_is_refused():
    with pytest.raises(ValueError, match="0 messages; both must be positive"):
        Pursuit(now=lambda: 0, messages=0)
