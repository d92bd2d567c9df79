"""The stores in SQLite: every field comes back, and a call is done as a whole or not at all."""

import asyncio
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.impl.storage.faults import DAMAGE, FAIL, LOSE
from tests.impl.storage.parts import AtOnce, Connector, Steady, cancelled, each, every_step, play, says
from tidemark.impl.cluster.releases import SqliteReleases
from tidemark.impl.errors import CorruptDataError, StoreError
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.storage.sqlite_catalog import SqliteCatalogStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.storage.sqlite_streaming import SqliteStreamingStore
from tidemark.impl.streaming.ports import Summary
from tidemark.impl.streaming.values import Checkpoints
from tidemark.impl.tso.ports import NEVER_SAVED, Leadership
from tidemark.impl.types import (
    BinlogRecord,
    ChannelRecord,
    Compaction,
    EndPosition,
    FlushRequest,
    MetaSnapshot,
    Row,
    SegmentRecord,
    StartPosition,
)
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.impl.values.messages import InsertMessage

LOOP = AtOnce
CHANNEL = ChannelRecord(
    "a",
    5,
    assigned_to="n1",
    last_owner="n2",
    term=3,
    session=4,
    flush_requests=(FlushRequest(7, (1, 2)), FlushRequest(8)),
    begins=2,
)
DROPPED = ChannelRecord("b", 6, dropped=True)
COLLECTED = ChannelRecord("a", 9, term=5, dropped=True, collected=True)


def _segment(number: int, binlogs: int, **more: Any) -> SegmentRecord:
    logs = tuple(BinlogRecord(f"s{number}/{place}", (place, place + 1)) for place in range(binlogs))
    return SegmentRecord(number, "a", EndPosition(10 + binlogs), binlogs=logs, **more)


GROWING, FLUSHED = _segment(1, 2, begins=StartPosition(4)), _segment(1, 3, flushed=True)
EMPTY, FULL = _segment(2, 0, dropped=True), _segment(3, 3)
COMPACTED = _segment(
    3, 2, compaction=Compaction(("l0/4", "l0/5"), (BinlogRecord("d1", (6, 7)), BinlogRecord("d2", ())), 9)
)
FIRST = CollectionVersion("one", 4, "x: int", number=2, created=11, channels=("x_1v0", "y_1v1"), changed=12)
SECOND = CollectionVersion("two", 5, "", number=1, created=13, alias_of="one")
CHANGED = replace(FIRST, version=6, schema="y: int", channels=("x_3v0",), gone=True)
INSERT = InsertMessage(3, "c", (Row(3, 1, 2, "v"),))
NONE = Summary(0, {}, 0)
SUMMARY = Summary(2, {1: 4, 2: 5}, 1)

MEMORY = Path("/dev/shm")

Calls = list[tuple[Any, ...]]
"""The name of each call, its arguments, and what it answers."""


def _loaded(channels: tuple[ChannelRecord, ...], *segments: SegmentRecord) -> tuple[Any, ...]:
    return ("load", MetaSnapshot(channels, segments))


METADATA: Calls = [
    _loaded(()),
    ("save_channels", (DROPPED, CHANNEL), None),
    ("save_segment", EMPTY, None),
    ("save_segment", GROWING, None),
    _loaded((CHANNEL, DROPPED), GROWING, EMPTY),
    ("save_segment", FLUSHED, None),
    ("save_segment", FULL, None),
    _loaded((CHANNEL, DROPPED), FLUSHED, EMPTY, FULL),
    ("replace_segment", COMPACTED, None),
    _loaded((CHANNEL, DROPPED), FLUSHED, EMPTY, COMPACTED),
    ("collect", COLLECTED, (1, 2), None),
    _loaded((COLLECTED, DROPPED), COMPACTED),
    ("collect", COLLECTED, (3,), None),
    _loaded((COLLECTED, DROPPED)),
]
CATALOGUE: Calls = [
    ("load", ()),
    ("reserve", 10, 1),
    *(("save", one, None) for one in (FIRST, SECOND)),
    ("load", (SECOND, FIRST)),
    ("save", CHANGED, None),
    ("load", (SECOND, CHANGED)),
    ("reserve", 3, 11),
    ("reserve", 1, 14),
]
STREAMING: Calls = [
    ("load", (Checkpoints(), NONE)),
    ("put", 3, (INSERT,), None),
    ("put", 5, (InsertMessage(4, "c", ()), INSERT), None),
    ("put", 3, (), None),
    ("places", 2, {3, 5}),
    ("places", 3, {5}),
    ("messages", {3: (INSERT,), 5: (InsertMessage(4, "c", ()), INSERT)}),
    ("save_flusher", 3, None),
    ("save_recovery", SUMMARY, None),
    ("load", (Checkpoints(flusher=3, recovery=1), SUMMARY)),
]
RELEASES: Calls = [
    ("load", ()),
    *(("add", number, None) for number in (12, 3, 12, 7)),
    ("load", (3, 7, 12)),
    ("discard", 3, None),
    ("discard", 5, None),
    ("load", (7, 12)),
]
LEADER = Leadership(server="a", term=1, lease=10.0)
WINDOW: Calls = [
    ("load", NEVER_SAVED),
    (partial(SqliteOracleStore.campaign, lease=10.0), "a", LEADER),
    ("save", 100, LEADER, None),
    ("save", 90, LEADER, None),
    ("load", 100),
    ("renew", LEADER, None),
    ("resign", LEADER, None),
]
STORES: dict[Callable[..., Any], Calls] = {
    SqliteMetaStore: METADATA,
    SqliteCatalogStore: CATALOGUE,
    SqliteStreamingStore: STREAMING,
    SqliteReleases: RELEASES,
    partial(SqliteOracleStore, steady=Steady()): WINDOW,
}
WORDS: dict[Any, list[str]] = {
    (StoreError, FAIL): ["disk I/O error; check"],
    (StoreError, LOSE): ["disk I/O error; check"],
    (CorruptDataError, DAMAGE): ["malformed; restore it"],
}
"""What the error of a call says, by its class and the fault."""
every_store = pytest.mark.parametrize(
    "kind", STORES, ids=["meta", "catalog", "streaming", "releases", "oracle"]
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory, if the machine has such: to wait for the disk is most of the time."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name)


async def _answers(store: Any, calls: Calls) -> None:
    for name, *arguments, answer in calls:
        call = partial(name, store) if callable(name) else getattr(store, name)
        assert await call(*arguments) == answer, name


@every_store
async def test_what_was_saved_comes_back_in_another_process_too(kind: Any, folder: Path) -> None:
    for number in range(1, len(STORES[kind])):
        first, second = (kind(folder / f"{number}") for _ in range(2))
        await _answers(first, STORES[kind][:number])
        await _answers(second, STORES[kind][number:])
        await first.close()
        await second.close()


async def test_metadata_in_memory_are_records_by_name() -> None:
    store = MemoryMetaStore()
    for name, *arguments, answer in METADATA:
        found = await getattr(store, name)(*arguments)
        if answer is None:
            assert found is None
        else:
            assert (set(found.channels), set(found.segments)) == (set(answer.channels), set(answer.segments))


def _held(file: Path) -> list[str]:
    """Everything that is committed."""
    with sqlite3.connect(file) as connection:
        found = list(connection.iterdump())
    connection.close()
    return found


@every_store
def test_a_call_that_fails_is_done_or_not_and_the_store_works(kind: Any, folder: Path) -> None:
    calls, states = STORES[kind], [_held(folder / "none")]

    async def faultless() -> None:
        store = kind(folder / "faultless")
        for call in calls:
            await _answers(store, [call])
            states.append(_held(folder / "faultless"))
        await store.close()

    play(faultless())
    for number, faults in enumerate(each(FAIL, LOSE, DAMAGE)):
        file, connector = folder / f"{number}", Connector(faults)
        store = kind(file, database=connector.database(file))

        async def scenario(store: Any = store, file: Path = file, connector: Connector = connector) -> None:
            for done, call in enumerate(calls):
                try:
                    await _answers(store, [call])
                except (StoreError, CorruptDataError) as failure:
                    says(failure, *WORDS[type(failure), connector.faults.kind])
                    assert not connector.open
                    assert _held(file) in states[done : done + 2]
                    await store.load()
                    break
                assert (len(connector.open), connector.faults.happened) == (1, 0)
                assert not any(one.in_transaction for one in connector.open)
            await store.close()
            assert not connector.open

        play(scenario())


@every_store
async def test_another_process_may_make_the_same_file_meanwhile(kind: Any, folder: Path) -> None:
    file, connector, other = folder / "file", Connector(), kind(folder / "other")
    await other.load()
    await other.close()

    def made() -> None:
        with sqlite3.connect(folder / "other") as source, sqlite3.connect(file) as target:
            source.backup(target)
        source.close()
        target.close()

    connector.meanwhile = made
    store = kind(file, database=connector.database(file))
    await _answers(store, STORES[kind])
    await store.close()


@every_store
def test_a_call_that_is_cancelled_is_done_or_not_and_the_store_works(kind: Any, folder: Path) -> None:
    async def scenario(steps: int, again: int) -> bool:
        file, connector = folder / f"{steps}-{again}", Connector()
        store = kind(file, database=connector.database(file))
        first, second = STORES[kind][:2]
        await _answers(store, [first])
        before = _held(file)
        cut_short = await cancelled(_answers(store, [second]), steps, again=again)
        assert cut_short or _held(file) != before
        assert not any(one.in_transaction for one in connector.open)
        await store.load()
        await cancelled(store.close(), steps)
        await store.load()
        await store.close()
        return cut_short

    for again in range(4):
        every_step(partial(scenario, again=again))


async def test_a_close_waits_for_the_transaction(folder: Path) -> None:
    connector = Connector()
    store = SqliteCatalogStore(folder / "file", database=connector.database(folder / "file"))
    for steps in range(20):
        reserving = asyncio.create_task(store.reserve(1))
        for _ in range(steps):
            await asyncio.sleep(0)
        await store.close()
        assert await reserving == 1 + steps
    await store.close()


async def test_sqlite_is_asked_for_durability_and_waits_for_other_processes(folder: Path) -> None:
    connector = Connector()
    database = connector.database(folder / "file")
    store = SqliteMetaStore(folder / "file", database=database)
    await store.load()
    for setting, value in (("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)):
        assert await database.execute(f"PRAGMA {setting}") == [(value,)]
    [opened], asked = connector.open, list[str]()
    opened.set_trace_callback(asked.append)
    await store.load()
    assert not [one for one in asked if "journal_mode" in one], "the file is prepared once"
    assert connector.options == {"isolation_level": None, "check_same_thread": False, "timeout": 5.0}
    await store.close()
    await store.close()


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        (SqliteMetaStore, 6),
        (SqliteCatalogStore, 3),
        (SqliteStreamingStore, 2),
        (SqliteReleases, 1),
        (SqliteOracleStore, 1),
    ],
)
async def test_a_file_of_another_version_is_refused(kind: Any, version: int, folder: Path) -> None:
    for other in (version - 1 or 9, version + 1):
        with sqlite3.connect(folder / f"{other}") as connection:
            connection.execute(f"PRAGMA user_version = {other}")
        connection.close()
        store = kind(folder / f"{other}")
        for _ in range(2):
            with pytest.raises(
                CorruptDataError, match=f"{other} has version {other}, this program reads {version}; "
            ):
                await store.load()
        await store.close()


async def test_messages_that_have_no_rows_are_damage(folder: Path) -> None:
    store = SqliteStreamingStore(folder / "file")
    await store.put(1, (INSERT,))
    with sqlite3.connect(folder / "file") as connection:
        connection.execute("""UPDATE messages SET messages = '[["tick",5]]'""")
    connection.close()
    with pytest.raises(CorruptDataError, match=r"stores \['tick', 5\], which has no rows; restore it"):
        await store.messages()
    await store.close()
