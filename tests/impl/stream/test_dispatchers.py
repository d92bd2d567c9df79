"""Targets of one physical channel on a plain event loop: they come, lag, catch up and go."""

import asyncio

import pytest

from tests.impl.read_parts import ListLog, tick
from tidemark.impl.errors import TargetGoneError
from tidemark.impl.stream.config import DispatcherConfig
from tidemark.impl.stream.manager import DispatcherManager
from tidemark.impl.stream.packs import EARLIEST, StreamPosition
from tidemark.impl.types import Row
from tidemark.impl.values.messages import DdlMessage, InsertMessage


def row(ts, channel):
    return InsertMessage(ts, channel, (Row(ts, 1, ts),))


def manager(log, **options):
    config = DispatcherConfig(tolerant_seconds=0.001, **options)
    found = DispatcherManager(log=log, channel="log", config=config)
    found.start()
    return found


async def take(target, count):
    return [await asyncio.wait_for(target.next_pack(), 5) for _ in range(count)]


async def until(condition):
    for _ in range(5000):
        if condition():
            return
        await asyncio.sleep(0.001)
    pytest.fail("it did not come to this within 5 s")


def content(packs):
    return [(pack.end, [message.ts for message in pack.messages]) for pack in packs]


ENTRIES = (
    *(row(1, "log_1v0"), DdlMessage(2, "log_1v1", "drop"), row(3, "log_10v0"), tick(3)),
    *(row(5, "log_1v1"), tick(5), tick(7), row(8, "log_1v0"), tick(9)),
)


@pytest.mark.parametrize("capacity", [1, 2])
async def test_a_slow_target_is_split_off_gets_all_and_is_merged(capacity):
    log = ListLog(*ENTRIES)
    found = manager(log, capacity=capacity)
    quick, slow = (found.register(name, EARLIEST) for name in ("log_1v0", "log_1v1"))
    assert content(await take(quick, 4)) == [(3, [1, 2]), (5, []), (7, []), (9, [8])]
    await until(lambda: slow.channel in found.deputies)
    assert list(found.main.targets) == [quick.channel]
    assert content(await take(slow, 4)) == [(3, [2]), (5, [5]), (7, []), (9, [])]
    await until(lambda: not found.deputies)
    assert list(found.main.targets) == [quick.channel, slow.channel]
    found.supervisor.check()
    await found.stop()


async def test_a_target_begins_behind_its_position():
    found = manager(ListLog(*ENTRIES))
    early = found.register("log_1v0", EARLIEST)
    late = found.register("log_1v1", StreamPosition(4, 3))
    assert content(await take(late, 3)) == [(5, [5]), (7, []), (9, [])]
    assert [end for end, _ in content(await take(early, 4))] == [3, 5, 7, 9]
    later = found.register("log_10v0", StreamPosition(6, 5))
    assert content(await take(later, 2)) == [(7, []), (9, [])]
    await found.stop()


async def test_the_last_target_ends_the_main_dispatcher_and_the_next_one_begins_another():
    found = manager(ListLog(*ENTRIES))
    target = found.register("log_1v0", EARLIEST)
    (pack,) = await take(target, 1)
    with pytest.raises(ValueError, match="deregister it first"):
        found.register("log_1v0", EARLIEST)
    found.deregister("log_1v0")
    found.deregister("log_1v0")
    assert (found.main, found.channels(), found.deputies) == (None, (), {})
    with pytest.raises(TargetGoneError, match="register it again"):
        await target.next_pack()
    again = found.register("log_1v0", pack.finish)
    assert content(await take(again, 3)) == [(5, []), (7, []), (9, [8])]
    await found.stop()
