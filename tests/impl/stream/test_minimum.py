"""Packs of channels with ticks of their own: where they end, and where a consumer goes on."""

import itertools

from tests.impl.parts import run
from tests.impl.read_parts import ListLog, insert, tick
from tests.impl.stream.test_aligned import BOTH, Logs
from tidemark.impl.stream.aligned import AlignedPosition
from tidemark.impl.stream.minimum import MinimumConsumer


def logs_with_ticks_of_their_own():
    return Logs(
        left=ListLog(insert(1, 10), tick(2), insert(3, 11), tick(5)),
        right=ListLog(insert(2, 12), insert(4, 13), tick(4), tick(7)),
    )


def test_a_pack_ends_at_the_smallest_tick():
    async def scenario():
        consumer = MinimumConsumer(log=logs_with_ticks_of_their_own(), channels=BOTH)
        packs = [await consumer.next_pack() for _ in range(3)]
        assert [(p.finish.ts, [m.ts for m in p.messages]) for p in packs] == [
            (2, [1, 2]),
            (4, [3, 4]),
            (5, []),
        ]
        assert packs[0].finish == AlignedPosition(2, (2, 2))
        assert [p.start.ts for p in packs] == [0, 2, 4]

    run(scenario())


def test_a_consumer_goes_on_from_the_end_of_any_pack():
    async def scenario():
        logs = logs_with_ticks_of_their_own()
        consumer = MinimumConsumer(log=logs, channels=BOTH)
        packs = [await consumer.next_pack() for _ in range(3)]
        for done, next_pack in itertools.pairwise(packs):
            again = MinimumConsumer(log=logs, channels=BOTH, position=done.finish)
            assert await again.next_pack() == next_pack

    run(scenario())
