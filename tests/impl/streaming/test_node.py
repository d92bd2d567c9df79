"""The streaming node on real files: terms, unknown outcomes, readers, recovery, ticks of an idle channel."""

import asyncio
import contextlib

import pytest

from tests.impl.parts import run
from tidemark.impl.broker.messages import InsertMessage, Tick
from tidemark.impl.errors import (
    LogCutError,
    MessageTooLargeError,
    StoreError,
    TermEndedError,
    UnknownOutcomeError,
)
from tidemark.impl.runtime import AsyncioClock
from tidemark.impl.storage.fenced_log import FencedLog
from tidemark.impl.storage.files import SystemFiles
from tidemark.impl.storage.sqlite_streaming import SqliteStreamingStore
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.node import StreamingNode
from tidemark.impl.streaming.ports import StreamingPorts, Summary
from tidemark.impl.streaming.reader import reader
from tidemark.impl.streaming.recovery_storage import RecoveryStorage
from tidemark.impl.streaming.values import Append, Record
from tidemark.impl.types import Row

CHANNEL = "dml_0_1v0"
QUICK = StreamingConfig(tick_seconds=0.002, idle_rounds=3, persist_seconds=0.002, retry_seconds=0.002)


class Counter:
    """An oracle."""

    def __init__(self):
        self.given = 0

    async def alloc(self, count):
        self.given += count
        return self.given


class FailingFiles(SystemFiles):
    """Fails to force a file when told: what was written is there."""

    def __init__(self):
        self.fail = False

    async def sync(self, path):
        if self.fail and path.name != "terms.jsonl":
            self.fail = False
            raise OSError("told to fail")
        await super().sync(path)


def rows(key, text=""):
    return Append(CHANNEL, ((key % 2, key, text),))


@contextlib.asynccontextmanager
async def running(root, oracle, *, files=None, config=QUICK, log=None):
    """A node over the files of a directory, once its log is open; it is stopped like a process that dies."""
    log = log or FencedLog(root / "log", files=files or SystemFiles(), per_file=4, most_bytes=2000)
    store = SqliteStreamingStore(root / "stored.sqlite")
    opened = asyncio.Event()
    node = StreamingNode(
        ports=StreamingPorts(oracle=oracle, log=log, messages=store, checkpoints=store, clock=AsyncioClock()),
        config=config,
        opened=lambda term: opened.set(),
    )
    task = asyncio.create_task(node.run())
    await opened.wait()
    try:
        yield node, log, store, opened
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await store.close()


async def until(condition):
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  # nothing tells when it holds
            await asyncio.sleep(0.001)


def test_what_is_appended_is_stored_once_over_many_lives_and_the_log_is_cut(tmp_path):
    async def scenario():
        oracle, places = Counter(), {}
        for life in range(4):
            async with running(tmp_path, oracle) as (node, log, store, _):
                for key in range(5):
                    number = 5 * life + key
                    places[number] = await node.append(rows(number))
        async with running(tmp_path, oracle) as (node, log, store, _):
            await until(lambda: node.term.flusher.reading >= max(places.values()))
            await until(lambda: not node.term.flusher.buffered and log.cut > 4)
            stored = await store.messages()
            assert {n: stored[p].rows[0].key for n, p in places.items()} == {n: n for n in range(20)}
            assert len(stored) == 20
            await until(lambda: node.term.recovery.saved.recovery >= max(places.values()))
            _, summary = await store.load()
            assert summary.rows == {0: 10, 1: 10}  # counted once, read again or not
            assert log.term == 5
            with pytest.raises(LogCutError, match="1 is in object storage"):
                await log.read(1)

    run(scenario())


def test_an_append_of_unknown_outcome_ends_the_term_and_is_found_in_the_next_one(tmp_path):
    async def scenario():
        files = FailingFiles()
        async with running(tmp_path, Counter(), files=files) as (node, log, _, opened):
            await node.append(rows(1))
            await until(lambda: not node.term.operator.to_write)
            opened.clear()
            lost = rows(2)
            files.fail = True
            with pytest.raises(UnknownOutcomeError, match="may be in the log"):
                await node.append(lost)
            await opened.wait()
            await until(lambda: not node.term.operator.to_write)
            found = [r for r in log.records if r.message.ts == lost.ts]
            first = next(r for r in log.records if r.term == 2)
            assert [r.term for r in found] == [1]
            assert isinstance(first.message, Tick)
            assert first.message.ts > lost.ts
            assert await node.append(rows(3)) == log.end

    run(scenario())


def test_a_log_refuses_earlier_terms_large_messages_and_appends_after_a_failure(tmp_path):
    async def scenario():
        files = FailingFiles()
        log = FencedLog(tmp_path, files=files, most_bytes=200)
        old = await log.begin_term()
        new = await log.begin_term()
        assert (old.term, new.term, new.end) == (1, 2, 0)
        with pytest.raises(TermEndedError, match="refuses term 1: the last one is 2"):
            await log.append(1, 0, Tick(5))
        with pytest.raises(MessageTooLargeError, match="at most 200"):
            await log.append(2, 0, InsertMessage(6, "c" * 300, ()))
        assert await log.append(2, 0, Tick(7)) == 1
        files.fail = True
        with pytest.raises(StoreError):
            await log.append(2, 0, Tick(8))
        with pytest.raises(StoreError, match="lost track"):
            await log.append(2, 0, Tick(9))
        again = FencedLog(tmp_path)
        opening = await again.begin_term()
        assert (opening.term, opening.end) == (3, 2)
        assert [record.message.ts for record in again.records] == [7, 8]

    run(scenario())


def test_readers_that_go_on_from_any_record_miss_nothing_later(tmp_path):
    async def scenario():
        config = StreamingConfig(tick_seconds=0.002, persist_seconds=60)
        async with running(tmp_path, Counter(), config=config) as (node, log, _, _):
            for _ in range(6):
                await asyncio.gather(*(node.append(rows(key)) for key in range(4)))
            await until(lambda: log.records and log.records[-1].message.ts == node.term.acks.passed)
            await until(lambda: not node.term.operator.to_write)
            everything = [r for r in log.records if isinstance(r.message, InsertMessage)]
            last = max(r.message.ts for r in everything)
            assert len(everything) == 24
            assert any(r.since > 0 for r in everything)
            for record in log.records:
                later = {r.message.ts for r in everything if r.message.ts > record.message.ts}
                consumer = reader(log, "dml_0", record)
                seen: set[int] = set()
                while max(seen, default=0) < last and later:
                    pack = await asyncio.wait_for(consumer.next_pack(), 5)
                    seen |= {message.ts for message in pack.messages}
                assert seen == later

    run(scenario())


def test_a_caller_that_is_cancelled_does_not_cancel_its_append(tmp_path):
    async def scenario():
        async with running(tmp_path, Counter()) as (node, log, _, _):
            caller = asyncio.create_task(node.append(rows(1)))
            await asyncio.sleep(0)
            caller.cancel()
            await asyncio.gather(caller, return_exceptions=True)
            await until(lambda: any(isinstance(r.message, InsertMessage) for r in log.records))
            await until(lambda: not node.term.acks.waiting and node.term.acks.is_quiet)

    run(scenario())


def test_the_ticks_of_an_idle_channel_are_held_back_and_come_at_last(tmp_path):
    async def scenario():
        config = StreamingConfig(tick_seconds=0.002, idle_rounds=10**6, persist_seconds=1, retry_seconds=0.1)
        async with running(tmp_path, Counter(), config=config) as (node, log, _, _):
            append = rows(1)
            await node.append(append)
            await until(lambda: log.records[-1].message == Tick(node.term.acks.passed) != Tick(1))
            await until(lambda: not node.term.operator.to_write)
            assert log.records[-1].message.ts > append.ts
            end = log.end
            await until(lambda: node.term.operator.held_back > 5)
            assert log.end == end
        async with running(tmp_path, Counter()) as (node, log, _, _):
            await until(lambda: log.end > end + 4)  # every fourth round

    run(scenario())


def test_rows_that_are_read_again_are_counted_once(tmp_path):
    async def scenario():
        store = SqliteStreamingStore(tmp_path / "stored.sqlite")
        await store.save_recovery(Summary(2, {0: 2}))
        recovery = RecoveryStorage(store=store, log=FencedLog(tmp_path / "log"))
        await recovery.load()
        assert recovery.start() == 0  # the flusher has stored nothing
        for place in (1, 2, 3):
            recovery.observe(Record(place, 1, 0, InsertMessage(place, CHANNEL, (Row(place, 0, place),))))
        assert (recovery.rows, recovery.observed) == ({0: 3}, 3)
        await store.close()

    run(scenario())
