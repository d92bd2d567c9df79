"""The logs on files, over a simulated disk: beside a list of what was appended."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.impl.parts import pack
from tests.impl.storage.faults import FAIL, TEAR, Faults
from tests.impl.storage.parts import AtOnce, Disk, cancelled, each, every_step, play, says
from tidemark.impl.errors import (
    CorruptDataError,
    LogCutError,
    MessageTooLargeError,
    StoreError,
    TermEndedError,
)
from tidemark.impl.storage.fenced_log import FencedLog
from tidemark.impl.storage.file_log import FileLogWriter, checked, read_log
from tidemark.impl.storage.memory import MemoryLog
from tidemark.impl.streaming.values import Opening, Record
from tidemark.impl.types import EndPosition, Pack
from tidemark.impl.values.messages import DdlMessage, Tick

LOOP = AtOnce
PACKS = (pack(1, (1, 1)), pack(2, (1, 2), (3, 4), close=True), pack(3), pack(4, (1, 5), drop=True))
LONGEST = len('00000000 [1,1,0,["ddl",1,"c","xxx"]]')


def test_a_pack_that_was_answered_is_read_and_one_that_was_not_is_there_or_not() -> None:
    for faults in each(FAIL, TEAR):
        play(_packs(Disk(faults)))


async def _packs(disk: Disk) -> None:
    writer, held = FileLogWriter(disk.root, "c", files=disk.files), list[Pack]()

    async def read(disk: Disk) -> list[Pack]:
        return list(await _twice(disk, lambda: read_log(disk.root, "c", files=disk.files)))

    for one in PACKS:
        happened = disk.faults.happened
        try:
            await writer.append(one)
            held.append(one)
            assert disk.faults.happened == happened
        except StoreError as failure:
            says(failure, disk.faults.words)
            assert not disk.open_files
            for left in disk.after_power():
                found = await read(left)
                assert found in (held, [*held, one])
                await FileLogWriter(left.root, "c", files=left.files).append(PACKS[-1])
                assert await read(left) == [*found, PACKS[-1]]
            held = held if (found := await read(disk)) == held else [*held, one]
            assert found == held
            for left in disk.after_power(now=True):
                assert await read(left) == held, "what was read is durable"
        assert await read(disk) == held
    assert await _twice(disk, lambda: read_log(disk.root, "d", files=disk.files)) == ()
    assert not disk.open_files


async def _twice(disk: Disk, call):
    """The answer of a call that fails only if the disk does, once."""
    try:
        return await call()
    except StoreError as failure:
        says(failure, disk.faults.words or "no fault")
        return await call()


def test_appends_of_one_writer_follow_each_other() -> None:
    async def scenario(disk: Disk) -> None:
        writer = FileLogWriter(disk.root, "c", files=disk.files)
        done = await asyncio.gather(*map(writer.append, PACKS), return_exceptions=True)
        answered = [one for one, failure in zip(PACKS, done, strict=True) if failure is None]
        assert len(answered) >= len(PACKS) - 1
        found = [one for one in await read_log(disk.root, "c", files=disk.files) if one in answered]
        assert found == answered

    for faults in each(TEAR):
        play(scenario(Disk(faults)))


async def test_a_log_in_memory_wakes_its_readers_and_takes_packs_in_order() -> None:
    log = MemoryLog()
    places = [("c", 0), ("c", 1), ("d", 0), ("c", 1)]
    waiting = [asyncio.create_task(log.next_pack(name, EndPosition(at))) for name, at in places]
    await asyncio.sleep(0)
    await log.append("c", PACKS[0])
    await log.append("d", PACKS[0])
    with pytest.raises(ValueError, match="pack starts at 2 but 'c' ends at 1"):
        await log.append("c", PACKS[2])
    for one in PACKS[1:3]:
        await log.append("c", one)
    assert await asyncio.gather(*waiting) == [PACKS[0], PACKS[1], PACKS[0], PACKS[1]]
    assert await log.next_pack("c", EndPosition(0)) == PACKS[0]


def _log(disk: Disk) -> FencedLog:
    return FencedLog(disk.root, files=disk.files, per_file=2, most_bytes=LONGEST)


def _files(disk: Disk) -> dict[str, int]:
    """How many lines each file of the log has, if it has some."""
    names = [name for name in disk.system.names() if name.endswith(".jsonl")]
    held = {Path(name).stem.lstrip("0"): disk.system.content_of(name) for name in names}
    return {name: content.count(b"\n") for name, content in held.items() if content}


async def test_places_terms_and_cuts() -> None:
    disk = Disk()
    log = _log(disk)
    with pytest.raises(StoreError, match="begin a new term"):
        await log.append(0, 0, Tick(3))
    assert await log.begin_term() == Opening(1, 0)
    await log.truncate(9)
    with pytest.raises(MessageTooLargeError, match=f"message 1 has {LONGEST + 1} bytes of at most"):
        await log.append(1, 0, DdlMessage(1, "c", "xxxx"))
    records = [
        Record(1, 1, 0, DdlMessage(1, "c", "xxx")),
        *(Record(n, 1, n - 1, Tick(n)) for n in range(2, 8)),
    ]
    for one in records:
        assert await log.append(1, one.since, one.message) == one.place
    for term in (0, 2):
        with pytest.raises(TermEndedError, match=f"refuses term {term}: the last one is 1"):
            await log.append(term, 0, Tick(4))
    assert await log.read(7) == records[6:]
    for above in (0, 3, 9):
        assert await log.scan(above) == records[above:]
    assert _files(disk) == {"terms": 1, "": 2, "1": 2, "2": 2, "3": 1}
    for upto, cut, notes in ((1, 0, 1), (3, 2, 2), (2, 2, 2), (5, 4, 3), (90, 6, 4)):
        await log.truncate(upto)
        assert await log.scan(0) == records[cut:]
        assert await log.scan(cut + 1) == records[cut + 1 :]
        with pytest.raises(LogCutError, match=f"cut behind place {cut}: {cut} is"):
            await log.read(cut)
        assert await log.read(cut + 1) == records[cut:]
        files = {"": 2, "1": 2, "2": 2, "3": 1}
        kept = {name: lines for name, lines in files.items() if int(name or 0) >= cut // 2}
        assert _files(disk) == {"terms": notes, **kept}
    again = _log(disk)
    for term, log in ((2, again), (3, again), (4, _log(disk))):
        assert await log.begin_term() == Opening(term, 7)
        assert await log.scan(0) == records[6:]
    assert await log.append(4, 7, Tick(8)) == 8
    assert await log.append(4, 7, Tick(9)) == 9


CALLS: tuple[tuple[Any, ...], ...] = (
    ("begin_term",),
    *(("append", 1, 0, Tick(place)) for place in range(1, 4)),
    ("truncate", 2),
    ("append", 1, 1, Tick(4)),
    ("begin_term",),
    ("append", 2, 2, Tick(5)),
    ("truncate", 4),
)


def test_a_log_with_terms_keeps_what_it_has_answered_and_says_when_it_does_not_know() -> None:
    states: list[list[Record]] = [[]]

    async def faultless() -> None:
        log = _log(Disk())
        for name, *arguments in CALLS:
            await getattr(log, name)(*arguments)
            states.append(list(await log.scan(0)))

    play(faultless())
    for faults in each(FAIL, TEAR):
        play(_terms(Disk(faults), states))


async def _terms(disk: Disk, states: list[list[Record]]) -> None:
    log = _log(disk)
    for done, (name, *arguments) in enumerate(CALLS):
        try:
            await getattr(log, name)(*arguments)
        except StoreError as failure:
            says(failure, disk.faults.words)
            assert not disk.open_files
            for left in disk.after_power():
                await _goes_on(left, _log(left), states[done : done + 2], log.term)
            if name == "append":
                for _ in range(2):
                    with pytest.raises(StoreError, match="begin a new term"):
                        await log.append(log.term, 0, Tick(9))
                assert await log.scan(0) == states[done]
            await _goes_on(disk, log, states[done : done + 2], log.term)
            await _goes_on(disk, _log(disk), [list(await log.scan(0))], log.term)
            return
    assert not disk.faults.happened


async def _goes_on(disk: Disk, log: FencedLog, states: list[list[Record]], above: int) -> None:
    """A new term finds what was there, and appends and cuts."""
    opening = await log.begin_term()
    assert opening.term > above
    found = list(await log.scan(0))
    assert found in states
    assert opening.end == (found[-1].place if found else opening.end)
    for place in range(opening.end + 1, opening.end + 4):
        assert await log.append(opening.term, place, Tick(place)) == place
        found.append(Record(place, opening.term, place, Tick(place)))
    cut = (opening.end + 2) // 2 * 2
    await log.truncate(opening.end + 2)
    assert await log.scan(0) == [one for one in found if one.place > cut]
    assert min(int(name or 0) for name in _files(disk) if name != "terms") == cut // 2


def test_an_append_or_a_term_that_is_cancelled_leaves_the_log_in_doubt_or_done() -> None:
    async def scenario(steps: int, name: str) -> bool:
        disk = Disk()
        log = _log(disk)
        await log.begin_term()
        await log.append(1, 0, Tick(1))
        call = log.append(1, 0, Tick(2)) if name == "append" else log.begin_term()
        cut_short = await cancelled(call, steps)
        ended = [] if name == "term" else [Record(2, 1, 0, Tick(2))]
        if name == "append" and not log.broken:
            assert [one.message for one in await log.scan(1)] == [Tick(2)] * (log.end - 1)
            assert await log.append(1, 0, Tick(3)) == log.end
            ended = list(await log.scan(1))
        first = [Record(1, 1, 0, Tick(1))]
        await _goes_on(disk, _log(disk), [first, first + ended], 1)
        return cut_short

    for name in ("append", "term"):
        every_step(partial(scenario, name=name))


def test_calls_at_once_have_an_order() -> None:
    async def scenario(disk: Disk) -> None:
        log = _log(disk)
        await log.begin_term()
        for place in (1, 2):
            await log.append(1, 0, Tick(place))
        early, later = (asyncio.create_task(log.read(place)) for place in (3, 4))
        done = await asyncio.gather(
            *(log.append(1, 0, Tick(place)) for place in (3, 4)),
            log.truncate(3),
            log.append(1, 0, Tick(5)),
            log.begin_term(),
            log.append(1, 0, Tick(6)),
            return_exceptions=True,
        )
        assert done[:3] == [3, 4, None]
        assert done[3:5] == [5, Opening(2, 5)]
        assert isinstance(done[5], TermEndedError)
        assert [one.message for one in await log.scan(0)] == [Tick(3), Tick(4), Tick(5)]
        opening, _ = await asyncio.gather(log.begin_term(), log.truncate(4))
        assert opening == Opening(3, 5)
        assert await log.append(3, 0, Tick(6)) == 6
        assert (await early)[0].message == Tick(3)
        assert (await later)[0].message == Tick(4)

    play(scenario(Disk()))


def test_a_term_looks_at_the_files_if_an_append_has_failed_while_it_waited() -> None:
    async def scenario(disk: Disk, faults: Faults) -> None:
        log = _log(disk)
        await log.begin_term()
        for place in (1, 2):
            await log.append(1, 0, Tick(place))
        disk.faults = faults
        calls = (log.truncate(2), log.append(1, 0, Tick(3)), log.begin_term())
        done: Any = await asyncio.gather(*calls, return_exceptions=True)
        assert faults.happened or done[1:] == [3, Opening(2, 3)]
        faults.kind = None
        begun = done[2] if isinstance(done[2], Opening) else await log.begin_term()
        assert await log.append(begun.term, 0, Tick(4)) == begun.end + 1
        assert [one.place for one in await log.scan(2)] == [*range(3, begun.end + 2)]

    for faults in each(FAIL):
        play(scenario(Disk(), faults))


async def test_a_read_before_the_first_term_waits() -> None:
    disk = Disk()
    log = _log(disk)
    await log.begin_term()
    await log.append(1, 0, Tick(1))
    again = _log(disk)
    reading = asyncio.create_task(again.read(1))
    await asyncio.sleep(0)
    assert not reading.done()
    await again.begin_term()
    assert await reading == await log.scan(0)


@pytest.mark.parametrize(
    ("terms", "records"),
    [
        (b"?", []),
        (b"[1,0]", [b"?"]),
        (b"[1,0]", [b'[2,1,0,["tick",5]]']),
        (b"[1,0]", [b'[1,1,0,["tick",5]]'] * 2),
    ],
)
async def test_damage_in_a_log_with_terms_is_named(terms: bytes, records: list[bytes]) -> None:
    disk = Disk()
    disk.root.mkdir(parents=True)
    for name, lines in (("terms", [terms]), ("000000000", records)):
        disk.system.change(f"{disk.root}/{name}.jsonl", 0, b"".join(checked(one) + b"\n" for one in lines))
    log = _log(disk)
    for _ in range(2):
        with pytest.raises(CorruptDataError, match=r"damaged line|has place . after .; restore it"):
            await log.begin_term()
