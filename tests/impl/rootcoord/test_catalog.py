"""The catalogue of the root coordinator: when a change takes its time, and what follows if an edge fails."""

import asyncio
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.impl.parts import run, settle
from tidemark.impl.errors import CollectionError, FollowedError, RpcError, StoreError, UnknownSessionError
from tidemark.impl.proxy.meta_cache import MetaCache, NoMetadata
from tidemark.impl.rootcoord import catalog as catalogue
from tidemark.impl.rootcoord.catalog import Catalog
from tidemark.impl.rootcoord.collection_meta import CollectionMeta, no_pause, until_done
from tidemark.impl.rootcoord.ddl_scheduler import DdlScheduler
from tidemark.impl.rootcoord.direct import DirectMetaSource, DirectProxyCaches, DirectRootCoordClient
from tidemark.impl.rootcoord.round_queue import RoundQueue
from tidemark.impl.rootcoord.time_tick_sync import TimeTickSync
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.impl.values.report import DDL_SOURCE, TimeTickReport

CHANNELS = ("p_", "q_")


async def is_alone():
    return True


class World:
    """Oracle, store, logs and proxies. ``fails``: by edge how many of its next calls fail."""

    def __init__(self, **fails):
        self.fails = fails
        self.given = 10
        self.stored = {}
        self.saved = []
        self.free = 7
        self.logged = []
        self.proxies = ["1"]
        self.told: Counter[Any] = Counter()
        self.happens = {}
        self.story = []
        self.asked = asyncio.Event()
        self.holds = asyncio.Event()
        self.holds.set()

    async def _try(self, edge, error):
        self.story.append(edge)
        await asyncio.sleep(0)
        if self.fails.get(edge, 0):
            self.fails[edge] -= 1
            raise error(f"{edge} fails")

    async def alloc(self, count):
        await self._try("oracle", RpcError)
        self.given += count
        self.asked.set()
        return self.given

    async def load(self):
        return tuple(self.stored.values())

    async def save(self, record):
        await self._try("save", StoreError)
        self.stored[record.name] = record
        self.saved.append((record.name, record.version, bool(record.changed)))

    async def reserve(self, count):
        first, self.free = self.free, self.free + count
        return first

    async def announce(self, channel, ts, text):
        await self.holds.wait()
        await self._try(f"log {channel}", RpcError)
        self.logged.append((channel, ts, text))

    def listed(self):
        return self.proxies

    async def invalidate(self, proxy, name, version):
        self.story.append(f"tell {proxy}")
        self.told[proxy, name, version] += 1
        await asyncio.sleep(0)
        self.proxies = self.happens.pop(proxy, self.proxies)

    async def catalog(self):
        catalog = Catalog(
            store=self,
            scheduler=DdlScheduler(oracle=self, preemption=NoPreemption()),
            announce=self.announce,
            place=lambda number, shards: tuple(f"{channel}{number}" for channel in CHANNELS[:shards]),
            proxies=self,
            preemption=NoPreemption(),
        )
        await catalog.load()
        await catalog.finish_changes()
        return catalog


@pytest.fixture
def world():
    return World()


async def test_a_proxy_hears_of_a_collection_when_its_creation_is_in_the_logs(world):
    """Earlier it would write before the creation, or say that there is no collection after it."""
    catalog = await world.catalog()
    world.holds.clear()
    creating = asyncio.create_task(catalog.create("c", shards=2))
    await world.asked.wait()
    asking = asyncio.create_task(DirectMetaSource(catalog.meta).describe("c"))
    other = await DirectMetaSource(catalog.meta).describe("another")
    assert not other.exists
    await asyncio.sleep(0)
    assert not asking.done()
    world.holds.set()
    assert await asking == await creating
    assert len(world.logged) == 2


@pytest.mark.parametrize("edge", ["oracle", "save", "log q_7"])
@pytest.mark.parametrize("method", ["create", "alter", "drop"])
async def test_a_change_that_an_edge_refuses_is_carried_to_its_end(world, method, edge):
    """Its caller hears of success: nothing is stored and served of which he was told that it has failed."""
    catalog = await world.catalog()
    if method != "create":
        await catalog.create("c", shards=2)
    world.logged.clear()
    world.fails[edge] = 3
    record = await call(catalog, method, "c")
    assert world.fails[edge] == 0
    assert record.changed
    assert world.stored["c"] == catalog.meta.describe("c") == record
    assert {(channel, record.changed, method) for channel in record.channels} <= set(world.logged)
    assert max(ts for _, ts, _ in world.logged) == record.changed


async def test_a_creation_that_was_stored_is_finished_by_the_next_coordinator(world):
    catalog = await world.catalog()
    world.holds.clear()
    creating = asyncio.create_task(catalog.create("c", shards=1))
    await world.asked.wait()
    creating.cancel()
    await asyncio.gather(creating, return_exceptions=True)
    assert world.stored["c"].is_being_created
    world.holds.set()
    world.story.clear()
    following = await world.catalog()
    assert world.story == ["tell 1", "oracle", "log p_7", "save"]
    record = await DirectMetaSource(following.meta).describe("c")
    assert world.logged == [("p_7", record.created, "create")]
    assert record.exists
    assert world.told["1", "c", 1] == 2, "the proxies are told again: they outlive the coordinator"
    assert following.meta.acknowledged == {"c": 1}
    await world.catalog()
    assert world.told["1", "c", 1] == 2, "a change that has its timestamp was acknowledged"


async def test_a_coordinator_that_starts_counts_what_has_its_timestamp_as_acknowledged(world):
    catalog = await world.catalog()
    await catalog.create("c", shards=1)
    await catalog.create_alias("other", "c")
    world.stored["c"] = replace(world.stored["c"], version=3, changed=0)
    following = Catalog(
        store=world, scheduler=cast("Any", None), announce=world.announce, place=cast("Any", None),
        proxies=world, preemption=NoPreemption(),
    )  # fmt: skip
    await following.load()
    assert following.meta.acknowledged == {"other": 2}
    assert following.meta.last == 3


NAMES = st.sampled_from("abc")
CALLS = st.one_of(
    st.tuples(st.sampled_from(["create", "alter", "drop", "drop_alias"]), NAMES),
    st.tuples(st.sampled_from(["create_alias", "alter_alias"]), NAMES, NAMES),
)
ARGUMENTS: dict[str, dict[str, Any]] = {
    "create": {"shards": 2, "schema": "first"},
    "alter": {"schema": "next"},
}


async def call(catalog, method, *names):
    return await getattr(catalog, method)(*names, **ARGUMENTS.get(method, {}))


def is_right(there, method, name, collection=None):
    """Whether a call makes sense. ``there``: by name the collection of an alias, "" of a collection."""
    known = there.get(name)
    right = {
        "create": known is None,
        "create_alias": known is None,
        "alter": known == "",
        "drop": known == "" and name not in there.values(),
    }
    return right.get(method, bool(known)) and (collection is None or there.get(collection) == "")


@given(st.lists(CALLS, max_size=12), st.integers(0, 12))
def test_the_catalogue_is_a_table_of_names(calls, restart):
    run(_is_a_table_of_names(World(), calls, restart))


async def _is_a_table_of_names(world, calls, restart):
    there: dict[str, str] = {}
    catalog, logged = await world.catalog(), []
    for number, (method, *names) in enumerate(calls):
        if number == restart:
            catalog = await world.catalog()
        version, now, before = catalog.meta.last, world.given, dict(world.stored)
        if not is_right(there, method, *names):
            with pytest.raises(CollectionError):
                await call(catalog, method, *names)
            assert (world.stored, world.given) == (before, now)
            continue
        record = await call(catalog, method, *names)
        assert (record.version, record.changed) == (version + 1, now + 1)
        assert world.stored[names[0]] == record == catalog.meta.describe(names[0])
        assert world.told["1", names[0], version + 1] == 1
        assert catalog.meta.acknowledged[names[0]] == version + 1
        if "alias" not in method:
            logged += [(channel, record.changed, method) for channel in record.channels]
            assert len(record.channels) == 2
            schemas = {"create": "first", "alter": "next"}
            assert record.schema == (schemas.get(method) or before[names[0]].schema)
            assert (method == "create") == (record.created == record.changed)
        else:
            assert record.number == (world.stored[names[1]].number if len(names) > 1 else record.number)
        there.pop(names[0], None)
        if not method.startswith("drop"):
            there[names[0]] = names[1] if len(names) > 1 else ""
        assert catalog.aliases == {name: to for name, to in there.items() if to}
        assert set(catalog.collections) == {name for name, to in there.items() if not to}
    assert world.logged == logged
    made = [record for record in world.stored.values() if record.channels]
    assert len({record.number for record in made}) == len(made)


OPEN = CollectionVersion("c", 4, "new", number=1, created=3, channels=("p_1", "q_1"))


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        (OPEN, "alter"),
        (replace(OPEN, gone=True), "drop"),
        (replace(OPEN, created=0), "create"),
        (CollectionVersion("c", 4, "", number=1, alias_of="b"), ""),
        (replace(OPEN, changed=5), None),
    ],
)
async def test_a_change_that_was_stored_gets_its_timestamp(world, stored, text):
    world.stored["c"] = stored
    catalog = await world.catalog()
    changed = stored.changed if text is None else 11
    created = stored.created or (11 if text else 0)
    assert (
        world.stored["c"] == catalog.meta.describe("c") == replace(stored, changed=changed, created=created)
    )
    assert world.logged == [(channel, 11, text) for channel in stored.channels if text]


async def left_alone(world, *change):
    """A catalogue of two collections and an alias, and a change whose caller leaves before its timestamp."""
    catalog = await world.catalog()
    for made in (("create", "a"), ("create", "b"), ("create_alias", "also", "a")):
        await call(catalog, *made)
    world.saved.clear()
    world.fails["oracle"] = 1000
    left = asyncio.create_task(call(catalog, *change))
    await settle()
    left.cancel()
    await asyncio.gather(left, return_exceptions=True)
    world.fails.clear()
    return catalog


@pytest.mark.parametrize(
    ("following", "right"),
    [
        (("create", "b"), False),
        (("alter", "b"), True),
        (("drop", "b"), True),
        (("create_alias", "also", "a"), False),
        (("alter_alias", "also", "a"), True),
        (("drop_alias", "also"), True),
    ],
)
async def test_the_next_call_finishes_a_change_whose_caller_has_left(world, following, right):
    name = following[1]
    catalog = await left_alone(world, *(("alter", "b") if name == "b" else ("alter_alias", "also", "b")))
    with nullcontext() if right else pytest.raises(CollectionError):
        await call(catalog, *following)
    finished = [(name, 4, False), (name, 4, True)]
    assert world.saved == finished + [(name, 5, False), (name, 5, True)] * right


@pytest.mark.parametrize(
    "refused", [("alter", "b"), ("drop", "b"), ("alter_alias", "also", "a"), ("drop_alias", "also")]
)
async def test_a_call_that_is_refused_finishes_the_drop_whose_caller_has_left(world, refused):
    name = refused[1]
    catalog = await left_alone(world, "drop" if name == "b" else "drop_alias", name)
    assert (catalog.meta.describe(name).gone, catalog.meta.describe(name).changed) == (True, 0)
    with pytest.raises(CollectionError, match="there is no"):
        await call(catalog, *refused)
    assert catalog.meta.describe(name).changed


async def test_a_name_that_is_taken_uses_up_no_number(world):
    catalog = await world.catalog()
    await catalog.create("c", shards=1)
    with pytest.raises(CollectionError, match="there is a collection 'c' already"):
        await catalog.create("c", shards=1)
    assert (await catalog.create("d", shards=1)).number == 8


async def test_an_announcement_that_fails_waits_for_the_others(world):
    catalog = await world.catalog()
    announced, held = [], asyncio.Event()

    async def announce(channel, ts, text):
        if channel == "p":
            raise RpcError("p fails")
        await held.wait()
        announced.append(channel)

    catalog._announce = announce
    failing = asyncio.create_task(catalog._announce_all(("p", "q"), 1, "create"))
    await settle()
    assert not failing.done()
    held.set()
    with pytest.raises(RpcError, match="p fails"):
        await failing
    assert announced == ["q"]


async def test_a_step_is_repeated_after_a_pause_and_only_for_errors_of_the_edges():
    happened, errors = [], [RpcError("a"), StoreError("b"), ValueError("c")]

    async def step():
        raise errors.pop(0)

    async def pause():
        happened.append(type(errors[0]))

    with pytest.raises(ValueError, match="c"):
        await until_done(step, pause)
    assert happened == [StoreError, ValueError]
    loop, ran = asyncio.get_running_loop(), asyncio.Event()
    loop.call_soon(ran.set)
    begun = loop.time()
    await no_pause()
    assert ran.is_set()
    assert loop.time() - begun < 0.5


class Saves:
    """A store and proxies of which the first save takes until it is released."""

    def __init__(self):
        self.released, self.saved = asyncio.Event(), []

    async def save(self, record):
        first = not self.saved
        self.saved.append(record)
        if first:
            await self.released.wait()

    def listed(self):
        return ()


async def versions_after(*calls):
    """The metadata after some calls that begin at one time."""
    saves = Saves()
    meta = CollectionMeta(store=saves, proxies=cast("Any", saves), preemption=NoPreemption())
    tasks = [asyncio.create_task(call(meta)) for call in calls]
    await settle()
    saves.released.set()
    await asyncio.gather(*tasks)
    return meta.describe("c"), [record.version for record in saves.saved]


async def test_a_timestamp_is_noted_of_the_version_that_is_stored():
    calls = [lambda meta: meta.alter("c", "s"), lambda meta: meta.note_time("c", Timestamp(5))]
    for order, stored in ((calls, [1, 1]), (calls[::-1], [0, 1])):
        record, versions = await versions_after(*order)
        assert (record.schema, record.changed, versions) == ("s", 5, stored)


@pytest.mark.parametrize(
    ("listed", "happens", "told"),
    [
        (["2", "1"], {}, ["1", "2"]),
        (["1", "2", "3"], {"1": ["1", "3"]}, ["1", "3"]),
        (["1", "2"], {"2": ["1", "2", "0"]}, ["1", "2", "0"]),
        ([], {}, []),
    ],
)
async def test_every_proxy_of_the_list_is_told_also_if_it_changes_meanwhile(world, listed, happens, told):
    world.proxies, world.happens = listed, dict(happens)
    await (await world.catalog()).create("c", shards=1)
    assert list(world.told) == [(proxy, "c", 1) for proxy in told]
    assert set(world.told.values()) <= {1}


async def test_a_process_gives_each_of_its_numbers_once(world, monkeypatch):
    monkeypatch.setattr(catalogue, "BATCH", 3)

    async def fails():
        raise StoreError("nothing can be loaded")

    with monkeypatch.context() as patched:
        patched.setattr(world, "load", fails)
        with pytest.raises(StoreError):
            await world.catalog()
    assert world.free == 7  # a process that does not begin uses up no numbers
    catalog = await world.catalog()
    assert world.free == 10
    assert [(await catalog.create(name, shards=1)).number for name in "ab"] == [7, 8]
    assert catalog.take_number() == 9
    with pytest.raises(CollectionError, match="all 3 numbers"):
        await catalog.create("c", shards=1)


async def test_the_caches_of_proxies_are_told_and_end_with_their_sessions():
    sync = TimeTickSync(rounds=RoundQueue(1), is_newest=is_alone, preemption=NoPreemption())
    sync.init_sessions((1, 2))
    proxies, caches = DirectProxyCaches(sync), {}
    for source in (1, 2, 3):
        caches[source] = MetaCache(source=NoMetadata(), preemption=NoPreemption())
        proxies.add(source, caches[source])
    assert proxies.listed() == ["1", "2"]  # the third one has not reported yet
    await proxies.invalidate("2", "c", 4)
    assert [cache.floors.get("c") for cache in caches.values()] == [None, 4, None]
    del sync.entries[1]
    sync.entries[3] = None
    assert proxies.listed() == ["2", "3"]
    assert [cache.closed for cache in caches.values()] == [True, False, False]
    assert proxies.listed() == ["2", "3"]
    with pytest.raises(RpcError, match="no source of metadata"):
        await caches[2].get("c")


async def test_a_source_is_admitted_by_the_newest_coordinator_alone():
    asked, newest = [], [True]

    async def is_newest():
        asked.append(sync.entries)
        return newest[0]

    sync = TimeTickSync(rounds=RoundQueue(1), is_newest=is_newest, preemption=NoPreemption())
    sync.init_sessions((1, 2))
    for source, default in ((1, 5), (1, 6), (DDL_SOURCE, 6)):
        await sync.update(TimeTickReport(source, (), default))
    assert len(asked) == 1, "once a source, and not for the DDL source"
    newest[0] = False
    with pytest.raises(FollowedError, match="source 2 reports to a coordinator that was followed"):
        await sync.update(TimeTickReport(2, (), 7))
    assert sync.entries[2] is None
    assert 2 not in sync.accepted
    with pytest.raises(UnknownSessionError, match="source 3"):
        await sync.update(TimeTickReport(3, (), 7))
    await sync.update(TimeTickReport(1, (), 8))  # it serves: what the older one does with it is of no matter
    assert len(asked) == 2


async def test_a_report_is_handed_on():
    class RootCoord:
        async def update_channel_time_tick(self, report):
            self.report = report

    root_coord, report = cast("Any", RootCoord()), TimeTickReport(1, (), 2)
    await DirectRootCoordClient(root_coord).update_channel_time_tick(report, deadline=1)
    assert root_coord.report is report
