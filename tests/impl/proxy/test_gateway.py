"""What a gateway asks of the components behind it, and what its clients hear."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, call

import pytest

from tests.impl.parts import HandClock, settle
from tests.impl.time_tick_parts import Oracle, RootCoordStub, Streams
from tidemark.impl.cluster.server import answer
from tidemark.impl.errors import CollectionError, RpcError, SchemaMismatchError, WriteFailedError
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.proxy.gateway import Gateway, ReadReply
from tidemark.impl.proxy.pages import Page
from tidemark.impl.proxy.ports import ProxyPorts
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.reads import ReadAnswer
from tidemark.impl.timestamp import Batch
from tidemark.impl.types import Row
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.messages import decode_text
from tidemark.impl.values.nearest import Nearest

THINGS = CollectionVersion("things", 3, "s", number=1, created=1, channels=("a_1v0", "b_1v1"), changed=2)
OTHERS = replace(THINGS, name="others", version=4, number=2, channels=("a_2v0",))
CHANGED = CollectionVersion("changed", 7, "", created=200, changed=300)
STRONG, SESSION = ConsistencyLevel.STRONG, ConsistencyLevel.SESSION


class World:
    """A gateway over one proxy that serves, and the components behind it."""

    name = "p"

    def __init__(self, *, ids=True):
        self.known: dict[str, Any] = {
            "things": THINGS,
            "others": OTHERS,
            "gone": replace(THINGS, name="gone", version=5, gone=True),
            "also": CollectionVersion("also", 6, "", number=1, changed=4, alias_of="things"),
        }
        self.oracle, self.streams, self.last_id = Oracle(), Streams(), 0
        self.collections, self.flushes = AsyncMock(), AsyncMock()
        for method in ("create", "alter", "drop", "create_alias", "alter_alias", "drop_alias"):
            getattr(self.collections, method).return_value = CHANGED
        self.flushes.flush.return_value = 400
        self.reads, self.read_error = [], None
        ports = ProxyPorts(
            oracle=self.oracle, streams=self.streams, root_coord=RootCoordStub(), clock=HandClock(),
            metadata=self, ids=SimpleNamespace(allocate=self.allocate_ids) if ids else None,
        )  # fmt: skip
        self.proxy = Proxy(source=7, ports=ports, config=ProxyConfig(id_batch=2))
        self.proxy.serving.set()
        self.gateway = Gateway(
            host=self, oracle=self.oracle, collections=self.collections, segments=self, reader=self,
            flushes=self.flushes,
        )  # fmt: skip

    async def serving(self):
        return self.proxy

    async def describe(self, name):
        found = self.known.get(name, CollectionVersion(name, 0, ""))
        if isinstance(found, Exception):
            raise found
        return found

    async def allocate_ids(self, count, *, deadline):
        """No batch is next to another."""
        first, self.last_id = self.last_id + 10, self.last_id + 9 + count
        return Batch(first, self.last_id)

    def allocate(self, channel, rows, *, deletes=False):
        return -1 if deletes else 1

    async def execute(self, task):
        self.reads.append(task)
        assert task.collection
        if self.read_error is not None:
            raise self.read_error
        task.guarantee = task.client_ts + 100
        rows = ((10, "ten"), (0, "none"), (4, "four"))
        return ReadAnswer(tuple(Row(5, 1, *row) for row in rows), dict.fromkeys(task.channels, 50))

    def change(self, found=None):
        """The collection ``things`` changes: proxies are told."""
        self.known["things"] = found or replace(self.known["things"], version=13)
        self.proxy.meta.invalidate("things", 13)

    def written(self):
        """What lies in the logs: by channel the keys with their values, None for a delete."""
        found: dict[str, list[Any]] = {}
        for sent in self.streams.appended:
            message: Any = decode_text(sent.payload)
            rows = getattr(message, "rows", None)
            pairs = [(row.key, row.value) for row in rows] if rows else [(key, None) for key in message.keys]
            found.setdefault(message.channel, []).extend(pairs)
        return found


@asynccontextmanager
async def at_work(**options):
    world = World(**options)
    world.proxy.queues.start()
    try:
        yield world
    finally:
        await world.proxy.stop()


@pytest.fixture
def world():
    return at_work()


CHANGES = [
    ("create", ("new",), {"shards": 2, "schema": "s"}, call.create("new", shards=2, schema="s"), 200),
    ("create", ("new",), {}, call.create("new", shards=1, schema=""), 200),
    ("alter", ("things",), {"schema": "t"}, call.alter("things", schema="t"), 300),
    ("drop", ("things",), {}, call.drop("things"), 300),
    ("create_alias", ("a", "things"), {}, call.create_alias("a", "things"), 300),
    ("alter_alias", ("a", "things"), {}, call.alter_alias("a", "things"), 300),
    ("drop_alias", ("a",), {}, call.drop_alias("a"), 300),
    ("load", ("things",), {}, call.load("things"), None),
    ("release", ("things",), {}, call.release("things"), None),
]
"""A call of a client, what the root coordinator is asked, and the answer."""


@pytest.mark.parametrize(("method", "given", "named", "asked", "answer"), CHANGES)
async def test_a_change_is_handed_to_the_root_coordinator(world, method, given, named, asked, answer):
    assert await getattr(world.gateway, method)(*given, **named) == answer
    getattr(world.collections, method).side_effect = CollectionError("not possible")
    with pytest.raises(CollectionError, match="not possible"):
        await getattr(world.gateway, method)(*given, **named)
    assert world.collections.mock_calls == [asked, asked]


async def test_a_question_waits_for_the_changes_before_it(world):
    made = asyncio.Event()

    async def create(name, **named):
        await made.wait()
        world.known[name] = world.collections.collections[name] = replace(THINGS, name=name, version=8)
        return CHANGED

    world.collections.create.side_effect, world.collections.collections = create, {"things": THINGS}
    gateway = world.gateway
    asked = [gateway.create("new"), gateway.describe("new")]
    asked += [answer(gateway, "has", {"collection": name}) for name in ("new", "none")]
    asked.append(answer(gateway, "show", {}))
    waiting = [asyncio.create_task(one) for one in asked]
    await settle()
    assert (gateway.name, await gateway.now()) == ("p", 6)
    assert await gateway.read("things", STRONG)
    assert await gateway.delete("things", [1])
    assert not [one for one in waiting if one.done()]
    made.set()
    answers = await asyncio.gather(*waiting)
    shown = {"collections": ["new", "things"]}
    assert answers == [200, world.known["new"], {"there": True}, {"there": False}, shown]


async def test_a_description_is_of_the_collection_or_alias_that_is_there(world):
    assert await world.gateway.describe("things") == THINGS
    assert await world.gateway.describe("also") == replace(THINGS, version=6)
    for name in ("gone", "none"):
        with pytest.raises(CollectionError, match=f"no collection '{name}'"):
            await world.gateway.describe(name)


FOUND = ((0, "none"), (4, "four"), (10, "ten"))
READS = [
    # arguments; what the query nodes are asked: channels, keys, client_ts, nearest, moments; the rows
    (("things", STRONG), {}, (THINGS.channels, None, 0, None, None), FOUND),
    (("also", SESSION), {"keys": [4, 2], "client_ts": 7}, (THINGS.channels, (4, 2), 7, None, None), FOUND),
    (("others", STRONG), {"keys": []}, (OTHERS.channels, (), 0, None, None), FOUND),
    (("others", STRONG), {"nearest": Nearest(5, 3)}, (OTHERS.channels, None, 0, Nearest(5, 3), None),
     ((10, "ten"), (0, "none"), (4, "four"))),
    (("things", STRONG), {"page": (2,)}, (THINGS.channels, None, 0, None, None), FOUND[:2]),
    (("things", STRONG), {"page": (1, 0, {"a": 5})}, (THINGS.channels, None, 0, None, {"a": 5}),
     FOUND[1:2]),
]  # fmt: skip


@pytest.mark.parametrize(("given", "named", "asked", "rows"), READS)
async def test_a_read_is_handed_to_the_query_nodes(world, given, named, asked, rows):
    page = {"page": Page(*named["page"])} if "page" in named else {}
    reply = await world.gateway.read(*given, **named | page)
    (task,) = world.reads
    shown = None if task.page_of is None else task.page_of.moments
    assert (task.level, task.collection[:6]) == (given[1], given[0] if given[0] != "also" else "things")
    assert (task.channels, task.keys, task.client_ts, task.nearest, shown) == asked
    assert reply == ReadReply(task.client_ts + 100, dict.fromkeys(task.channels, 50), rows)


async def test_a_flush_is_handed_to_the_data_coordinator(world):
    assert (await world.gateway.flush("things"), await world.gateway.flush("others")) == (400, 400)
    assert world.flushes.mock_calls == [call.flush(THINGS.channels), call.flush(OTHERS.channels)]


async def test_the_error_of_a_component_is_the_clients(world):
    world.read_error = world.flushes.flush.side_effect = RpcError("down")
    for asked in (world.gateway.read("things", STRONG), world.gateway.flush("things")):
        with pytest.raises(RpcError, match=r"^down$"):
            await asked
    for asked in (world.gateway.read("gone", STRONG), world.gateway.flush("none")):
        with pytest.raises(CollectionError):
            await asked
    world.oracle.fails = 2
    for asked in (world.gateway.now(), world.gateway.insert("things", [(1, "a")])):
        with pytest.raises(RpcError, match="no answer"):
            await asked


async def test_rows_and_keys_are_written_each_to_its_shard(world):
    assert await world.gateway.insert("things", [(3, "a"), (2, "b"), (-1, "c")]) == 1
    assert await world.gateway.insert("also", [(4, "d")], version=6) == 2
    assert await world.gateway.delete("things", [3, 2]) == 3
    assert world.written() == {
        "a_1v0": [(2, "b"), (-1, "c"), (4, "d"), (2, None)], "b_1v1": [(3, "a"), (3, None)],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("method", "given", "named", "error"),
    [
        ("insert", ("things", [(1, "a")]), {"version": 2}, SchemaMismatchError),
        ("insert", ("things", [(1, "a")]), {"version": 4}, SchemaMismatchError),
        ("insert", ("things", []), {}, WriteFailedError),
        ("delete", ("things", []), {}, WriteFailedError),
        ("insert_values", ("things", []), {}, WriteFailedError),
        ("insert", ("gone", [(1, "a")]), {}, CollectionError),
        ("delete", ("none", [1]), {}, CollectionError),
    ],
)
async def test_a_write_without_sense_is_refused_and_takes_no_timestamp(world, method, given, named, error):
    with pytest.raises(error):
        await getattr(world.gateway, method)(*given, **named)
    assert (world.oracle.given, world.last_id, world.written()) == (0, 0, {})


async def test_rows_without_keys_get_ids_of_several_batches(world):
    ts, keys = await world.gateway.insert_values("others", ["a", "b", "c"])
    more = await world.gateway.insert_values("others", ["d", "e"])
    assert (ts, keys, more) == (1, (10, 11, 12), (2, (23, 33)))
    assert world.written() == {"a_2v0": list(zip((*keys, *more[1]), "abcde", strict=True))}


async def test_rows_without_keys_need_a_source_of_ids():
    async with at_work(ids=False) as world:
        with pytest.raises(WriteFailedError, match="no source of ids"):
            await world.gateway.insert_values("things", ["a"])


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"refused": {"a", "b"}}, "write 1 was refused by "),
        ({"refused": {"a"}}, "may come twice"),
        ({"late": {"a"}}, "may come twice"),
    ],
)
async def test_a_client_hears_whether_a_failed_write_may_be_in_a_log(world, fault, words):
    vars(world.streams).update(fault, gates={"b": asyncio.Event()})
    write = asyncio.create_task(world.gateway.insert("things", [(2, "a"), (3, "b")]))
    await settle()
    assert not write.done(), "an append is still under way"
    world.streams.gates["b"].set()
    with pytest.raises(WriteFailedError, match=words):
        await write


@pytest.mark.parametrize(("found", "error"), [(None, SchemaMismatchError), (RpcError("no answer"), RpcError)])
@pytest.mark.parametrize("name", ["things", "also"])
async def test_nothing_is_written_to_a_collection_that_changes_before_the_write_has_its_timestamp(
    world, name, found, error
):
    world.oracle.held = asyncio.Event()
    writes = [
        asyncio.create_task(write)
        for write in (world.gateway.insert(name, [(1, "a")]), world.gateway.delete(name, [1]))
    ]
    await settle()
    world.change(found)
    world.oracle.held.set()
    assert [type(one) for one in await asyncio.gather(*writes, return_exceptions=True)] == [error] * 2
    assert world.written() == {}
    if found is None:
        assert await world.gateway.insert(name, [(1, "a")], version=13)


async def test_reads_and_writes_pass_a_change_and_changes_go_one_by_one(world):
    may_change = asyncio.Event()

    async def alter(*_, **__):
        await may_change.wait()
        return CHANGED

    world.collections.alter.side_effect = alter
    behind = [
        asyncio.create_task(one)
        for one in (world.gateway.alter("things", schema="t"), world.gateway.flush("things"))
    ]
    await settle()
    assert await world.gateway.insert("things", [(1, "a")])
    assert (await world.gateway.read("things", STRONG)).rows
    assert not world.flushes.mock_calls
    may_change.set()
    assert await asyncio.gather(*behind) == [300, 400]
