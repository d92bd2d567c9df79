"""Packs of one channel: what goes into which, what stays buffered, what a seek skips."""

import pytest

from tests.impl.parts import run
from tests.impl.read_parts import ListLog, delete, insert, packs, tick
from tidemark.impl.stream.packs import EARLIEST, StreamPosition


def test_a_pack_holds_what_lies_between_two_ticks_and_later_messages_stay_buffered():
    async def scenario():
        log = ListLog(insert(2, 10), insert(7, 11), insert(3, 12), tick(5), delete(6, 10), tick(8))
        first, second = await packs(log, 2)
        assert [m.ts for m in first.messages] == [2, 3]
        assert (first.begin, first.end, first.start) == (0, 5, EARLIEST)
        assert first.finish == StreamPosition(2, 5)  # the place of the message at 7
        assert [m.ts for m in second.messages] == [7, 6]
        assert (second.begin, second.end, second.finish) == (5, 8, StreamPosition(6, 8))

    run(scenario())


def test_regressed_ticks_end_no_pack_and_lose_no_message():
    async def scenario():
        log = ListLog(insert(1, 1), tick(5), tick(3), insert(6, 2), tick(5), tick(7))
        first, second = await packs(log, 2)
        assert ([m.ts for m in first.messages], first.end) == ([1], 5)
        assert ([m.ts for m in second.messages], second.begin, second.end) == ([6], 5, 7)

    run(scenario())


def test_a_copy_of_a_message_is_left_out():
    async def scenario():
        log = ListLog(insert(1, 1), insert(1, 2), insert(1, 1), tick(5))
        (only,) = await packs(log, 1)
        assert [m.rows[0].key for m in only.inserts] == [1, 2]

    run(scenario())


@pytest.mark.parametrize("done", [1, 2, 3])
@pytest.mark.parametrize("place_is_known", [True, False])
def test_a_consumer_that_seeks_gets_the_rest_and_nothing_twice(done, place_is_known):
    async def scenario():
        log = ListLog(
            *(insert(2, 1), insert(9, 2), tick(4), insert(5, 3), insert(13, 4), tick(10), tick(6)),
            *(insert(12, 5), tick(14), insert(15, 6), tick(16)),
        )
        all_of_them = await packs(log, 4)
        position = all_of_them[done - 1].finish
        if not place_is_known:
            position = StreamPosition(0, position.ts)
        rest = await packs(log, 4 - done, position)
        assert [p.messages for p in rest] == [p.messages for p in all_of_them[done:]]
        assert [(p.begin, p.end) for p in rest] == [(p.begin, p.end) for p in all_of_them[done:]]

    run(scenario())


def test_a_late_message_comes_once_and_a_seek_loses_it_only_if_its_position_claims_more_than_was_read():
    """Facts 5.1, hazard 31: a promise of a tick is broken."""

    async def scenario():
        log = ListLog(tick(5), insert(3, 1), tick(8), tick(9))
        first, second, third = await packs(log, 3)
        assert [len(p.messages) for p in (first, second, third)] == [0, 1, 0]
        after_seek = await packs(log, 2, first.finish)
        assert [p.messages for p in after_seek] == [second.messages, third.messages]
        behind = StreamPosition(first.finish.place, 6)  # a position that counts everything up to 6 as done
        assert [p.messages for p in await packs(log, 1, behind)] == [()]

    run(scenario())


def test_each_virtual_channel_gets_its_own_messages_and_every_tick():
    async def scenario():
        log = ListLog(insert(1, 1), insert(2, 2, channel="log_2v0"), tick(3))
        (pack,) = await packs(log, 1)
        assert [m.ts for m in pack.of("log_1v0").messages] == [1]
        assert [m.ts for m in pack.of("log_2v0").messages] == [2]
        assert (pack.of("log_3v0").messages, pack.of("log_3v0").end) == ((), 3)

    run(scenario())
