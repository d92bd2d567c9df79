"""The log of a channel while appends, settlements, fences and coordinators come in every order."""

import asyncio
from pathlib import Path

import pytest

from tests.impl.parts import Script
from tidemark.impl.broker.channel_log import ChannelLog
from tidemark.impl.errors import RpcError, StoreError
from tidemark.impl.values.messages import Tick
from tidemark.models.protocols.common.memory_files import MemoryFiles

ROOT, CHANNEL = Path("log"), "dml_0"


def keys(log):
    return [(entry.source, entry.message.ts) for entry in log.entries]


def fail():
    raise OSError("the disk fails")


def concerned(log, call, *what):
    """The entries that must not become more after the call."""
    found = keys(log)
    if call == "settle":
        return [key for key in found if key == what]
    if call == "fence":
        return [key for key in found if key[0] in what]
    return [key for key in found if 0 > key[0] > what[0]]


@pytest.mark.every_order
@pytest.mark.parametrize(
    ("appends", "calls"),
    [
        ([(1, 10), (1, 20)], [("settle", 1, 20)]),
        ([(1, 10), (1, 20)], [("fence", 1)]),
        ([(1, 10), (2, 20)], [("fence", 1)]),
        ([(-1, 10), (-1, 20)], [("follow", -2)]),
        ([(-1, 10)], [("follow", -2), ("follow", -1)]),
    ],
)
async def test_nothing_comes_after_its_end_and_answers_say_what_is_there(appends, calls):
    files = MemoryFiles(Script())
    log = ChannelLog(ROOT, CHANNEL, files=files)
    await log.follow(-1)
    running = asyncio.create_task(log.run())
    ends = []

    async def call(name, *what):
        answer = await getattr(log, name)(*what)
        ends.append((name, what, concerned(log, name, *what)))
        assert name != "settle" or answer == bool(ends[-1][-1])

    outcomes = await asyncio.gather(
        *(log.append(source, Tick(ts)) for source, ts in appends),
        *(call(*one) for one in calls),
        return_exceptions=True,
    )
    assert not any(outcomes[len(appends) :])
    assert not log.waiting
    for key, place in zip(appends, outcomes, strict=False):
        assert isinstance(place, RpcError) or keys(log)[int(str(place)) - 1] == key
        assert isinstance(place, RpcError) != (key in keys(log))
    for name, what, before in ends:
        if what != (-1,):
            assert concerned(log, name, *what) == before
    running.cancel()
    again = ChannelLog(ROOT, CHANNEL, files=files)
    await again.load()
    assert again.entries == log.entries


@pytest.mark.every_order
async def test_a_disk_that_fails_leaves_the_outcome_unknown():
    """The line is in the file: the next incarnation has it, so that nobody may hear of a refusal."""
    files = MemoryFiles(Script({"log.sync": fail}))
    log = ChannelLog(ROOT, CHANNEL, files=files)
    appends = [asyncio.create_task(log.append(1, Tick(ts))) for ts in (10, 20)]
    with pytest.raises(StoreError):
        await log.run()
    assert not any(append.done() for append in appends)
    for append in appends:
        append.cancel()
    await asyncio.gather(*appends, return_exceptions=True)
    again = ChannelLog(ROOT, CHANNEL, files=files)
    await again.load()
    assert keys(again)[0] in ((1, 10), (1, 20))


@pytest.mark.every_order
async def test_a_cancelled_append_disturbs_no_other():
    files = MemoryFiles(Script())
    log = ChannelLog(ROOT, CHANNEL, files=files)
    running = asyncio.create_task(log.run())
    places = [1, 2, 2, 1]
    appends = [asyncio.create_task(log.append(source, Tick(10 * (n + 1)))) for n, source in enumerate(places)]
    fence = asyncio.create_task(log.fence(2))
    await asyncio.sleep(0)
    for cancelled in appends[:2]:
        cancelled.cancel()
    await fence
    fenced = concerned(log, "fence", 2)
    assert await appends[3] == keys(log).index((1, 40)) + 1
    await asyncio.gather(*appends, return_exceptions=True)
    assert concerned(log, "fence", 2) == fenced
    assert not running.done()
    running.cancel()
