"""The streaming node on real files: terms, unknown outcomes, readers, recovery, ticks of an idle channel."""

import asyncio
import contextlib

import pytest

from tests.impl.parts import run
from tidemark.impl.errors import (
    CorruptDataError,
    LogCutError,
    MessageTooLargeError,
    StoreError,
    TermEndedError,
    TransactionBusyError,
    TransactionOverError,
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
from tidemark.impl.streaming.transaction_messages import Part, TransactionMessage, decode_any, encode_any
from tidemark.impl.streaming.values import Append
from tidemark.impl.types import Row
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, Tick

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
        super().__init__()
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
            assert {n: stored[p][0].rows[0].key for n, p in places.items()} == {n: n for n in range(20)}
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
        await store.save_recovery(Summary(2, {0: 2}, 2))
        recovery = RecoveryStorage(store=store, log=FencedLog(tmp_path / "log"))
        await recovery.load()
        assert recovery.start() == 0  # the flusher has stored nothing
        for place in (1, 2, 3):
            recovery.observe(place, [InsertMessage(place, CHANNEL, (Row(place, 0, place),))])
        assert (recovery.rows, recovery.observed) == ({0: 3}, 3)
        await store.close()

    run(scenario())


def begin(lasts=1000):
    return Append(CHANNEL, part=Part.BEGIN, lasts=lasts)


def body(transaction, key):
    return Append(CHANNEL, ((key % 2, key, ""),), part=Part.BODY, transaction=transaction.ts)


def end(transaction, part=Part.COMMIT):
    return Append(CHANNEL, part=part, transaction=transaction.ts)


def test_a_transaction_goes_on_after_a_restart_and_is_stored_whole(tmp_path):
    async def scenario():
        oracle, one, given_up = Counter(), begin(), begin()
        async with running(tmp_path, oracle) as (node, log, _, _):
            for append in (rows(0), one, given_up):
                await node.append(append)
            await node.append(body(one, 1))
            await node.append(body(given_up, 2))
            await until(lambda: log.records[-1].message == Tick(node.term.acks.passed))
        async with running(tmp_path, oracle) as (node, log, store, _):
            assert set(node.term.transactions.kept) == {one.ts, given_up.ts}
            await node.append(Append(CHANNEL, deletes=(1,), part=Part.BODY, transaction=one.ts))
            await node.append(end(given_up, Part.ROLLBACK))
            assert node.term.flusher.checkpoint() < one.place
            await until(lambda: node.term.flusher.reading >= log.end)
            with pytest.raises(TransactionOverError, match=f"transaction {given_up.ts} is not open"):
                await node.append(body(given_up, 3))
            commit = end(one)
            await node.append(commit)
            await until(lambda: node.term.recovery.saved.flusher > commit.place)
            stored = await store.messages()
            assert [type(message) for message in stored[commit.place]] == [InsertMessage, DeleteMessage]
            assert {message.ts for message in stored[commit.place]} == {commit.ts}
            assert len(stored) == 2
            await until(lambda: log.cut > 0)

    run(scenario())


def test_a_transaction_ends_with_its_time_and_not_with_bodies_under_way(tmp_path):
    async def scenario():
        async with running(tmp_path, Counter()) as (node, _, _, _):
            short, long = begin(lasts=1), begin()
            await node.append(short)
            await node.append(long)
            both = (node.append(body(long, 1)), node.append(end(long)))
            failure = (await asyncio.gather(*both, return_exceptions=True))[1]
            assert isinstance(failure, TransactionBusyError)
            assert "1 bodies under way" in str(failure)
            with pytest.raises(TransactionOverError):
                await node.append(end(short))
            await until(lambda: set(node.term.transactions.kept) == {long.ts})
            await node.append(end(long))
            await until(lambda: not node.term.transactions.kept)

    run(scenario())


def test_a_reader_from_any_record_gets_each_later_transaction_whole(tmp_path):
    async def scenario():
        config = StreamingConfig(tick_seconds=0.002, persist_seconds=60)
        async with running(tmp_path, Counter(), config=config) as (node, log, _, _):
            committed = {}
            for number in range(4):
                one = begin()
                await node.append(one)
                for key in (2 * number, 2 * number + 1):
                    await node.append(body(one, key))
                    await asyncio.sleep(0.004)  # ticks pass between the bodies
                commit = end(one)
                await node.append(commit)
                committed[commit.ts] = {2 * number, 2 * number + 1}
            last = max(committed)
            await until(
                lambda: any(isinstance(r.message, Tick) and r.message.ts >= last for r in log.records)
            )
            ticks = [r for r in log.records if isinstance(r.message, Tick)]
            assert any(r.since for r in ticks)
            assert len(ticks) > 4
            for record in log.records[: log.end]:
                later = {ts: keys for ts, keys in committed.items() if ts > record.message.ts}
                consumer = reader(log, "dml_0", record)
                seen: dict[int, set[int]] = {}
                while later and max(seen, default=0) < last:
                    pack = await asyncio.wait_for(consumer.next_pack(), 5)
                    for message in pack.inserts:
                        seen.setdefault(message.ts, set()).update(row.key for row in message.rows)
                assert seen == later

    run(scenario())


def test_records_that_were_saved_within_a_transaction_count_it_in_the_end(tmp_path):
    async def scenario():
        oracle, one = Counter(), begin()
        quiet = StreamingConfig(tick_seconds=0.002, idle_rounds=3, persist_seconds=60, retry_seconds=0.002)
        async with running(tmp_path, oracle, config=quiet) as (node, _, store, _):
            await node.append(rows(2))
            await node.append(one)
            await until(lambda: node.term.flusher.reading >= one.place)
            await node.term.recovery.persist()
            await node.append(body(one, 0))
            await node.append(end(one))
            last = rows(1)
            await node.append(last)
            await until(lambda: node.term.recovery.saved.flusher >= last.place)
        async with running(tmp_path, oracle) as (node, _, store, _):
            await until(lambda: node.term.recovery.saved.recovery >= last.place)
            assert (await store.load())[1].rows == {0: 2, 1: 1}

    run(scenario())


@pytest.mark.parametrize("part", list(Part))
def test_a_message_of_a_transaction_comes_back_from_the_log(part):
    append = Append(CHANNEL, deletes=(4, 5), part=part, transaction=3, lasts=7, ts=9)
    message = append.message()
    assert isinstance(message, TransactionMessage)
    assert decode_any(encode_any(message)) == message
    assert (message.until, message.number) == ((16, 9) if part is Part.BEGIN else (0, 3))


@pytest.mark.parametrize(
    "document",
    [
        ["transaction", 1, "c", "middle", 0, 0, None],
        ["transaction", 1, "c", "body", 0, 0, ["tick", 3]],
        ["x"],
    ],
)
def test_damage_is_no_message_of_a_transaction(document):
    with pytest.raises(CorruptDataError, match="restore the log"):
        decode_any(document)
