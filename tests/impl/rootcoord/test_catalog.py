"""The catalogue of the root coordinator: when a change takes its time, and what follows if an edge fails."""

import asyncio

import pytest

from tidemark.impl.errors import CollectionError, RpcError, StoreError
from tidemark.impl.rootcoord.catalog import Catalog
from tidemark.impl.rootcoord.ddl_scheduler import DdlScheduler
from tidemark.impl.rootcoord.direct import DirectMetaSource
from tidemark.impl.runtime import NoPreemption

CHANNELS = ("p_7v0", "q_7v1")


class World:
    """Oracle, store, logs and proxies. ``fails``: by edge how many of its next calls fail."""

    def __init__(self, **fails):
        self.fails = fails
        self.given = 10
        self.stored = {}
        self.logged = []
        self.proxies = ["1"]
        self.story = []
        self.asked = asyncio.Event()
        self.holds = asyncio.Event()
        self.holds.set()

    def _try(self, edge, error):
        self.story.append(edge)
        if self.fails.get(edge, 0):
            self.fails[edge] -= 1
            raise error(f"{edge} fails")

    async def alloc(self, count):
        self._try("oracle", RpcError)
        self.given += count
        self.asked.set()
        return self.given

    async def load(self):
        return tuple(self.stored.values())

    async def save(self, record):
        self._try("save", StoreError)
        self.stored[record.name] = record

    async def reserve(self, count):
        return 7

    async def announce(self, channel, ts, text):
        await self.holds.wait()
        self._try(f"log {channel}", RpcError)
        self.logged.append((channel, ts, text))

    def listed(self):
        return self.proxies

    async def invalidate(self, proxy, name, version):
        self.story.append(f"tell {proxy}")

    async def catalog(self):
        catalog = Catalog(
            store=self,
            scheduler=DdlScheduler(oracle=self, preemption=NoPreemption()),
            announce=self.announce,
            place=lambda number, shards: CHANNELS[:shards],
            proxies=self,
            preemption=NoPreemption(),
        )
        await catalog.load()
        await catalog.finish_changes()
        return catalog


def play(scenario, **fails):
    async def limited():
        async with asyncio.timeout(10):
            await scenario(World(**fails))

    asyncio.run(limited())


def test_a_creation_takes_its_timestamp_when_the_proxies_know_of_it():
    async def scenario(world):
        catalog = await world.catalog()
        made = await catalog.create("c", shards=1)
        assert world.story == ["save", "tell 1", "oracle", "log p_7v0", "save"]
        assert made.created == made.changed == 11
        assert world.logged == [("p_7v0", 11, "create")]
        assert world.stored["c"] == made

    play(scenario)


def test_a_proxy_hears_of_a_collection_when_its_creation_is_in_the_logs():
    """Earlier it would write before the creation, or say that there is no collection after it."""

    async def scenario(world):
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

    play(scenario)


@pytest.mark.parametrize("edge", ["oracle", "save", "log q_7v1"])
@pytest.mark.parametrize("call", ["create", "alter", "drop"])
def test_a_change_that_an_edge_refuses_is_carried_to_its_end(call, edge):
    """Its caller hears of success: nothing is stored and served of which he was told that it has failed."""

    async def scenario(world):
        catalog = await world.catalog()
        if call != "create":
            await catalog.create("c", shards=2)
        world.logged.clear()
        world.fails[edge] = 3
        calls = {
            "create": lambda: catalog.create("c", shards=2),
            "alter": lambda: catalog.alter("c", schema="new"),
            "drop": lambda: catalog.drop("c"),
        }
        record = await calls[call]()
        assert world.fails[edge] == 0
        assert record.changed
        assert world.stored["c"] == catalog.meta.describe("c") == record
        assert {(channel, record.changed, call) for channel in CHANNELS} <= set(world.logged)
        assert max(ts for _, ts, _ in world.logged) == record.changed

    play(scenario)


def test_a_call_that_makes_no_sense_does_nothing():
    async def scenario(world):
        catalog = await world.catalog()
        with pytest.raises(CollectionError, match="no collection 'c'"):
            await catalog.alter("c", schema="new")
        assert world.story == []

    play(scenario)


def test_a_creation_that_was_stored_is_finished_by_the_next_coordinator():
    async def scenario(world):
        catalog = await world.catalog()
        world.holds.clear()
        creating = asyncio.create_task(catalog.create("c", shards=1))
        await world.asked.wait()
        creating.cancel()
        await asyncio.gather(creating, return_exceptions=True)
        assert world.stored["c"].is_being_created
        world.holds.set()
        following = await world.catalog()
        record = await DirectMetaSource(following.meta).describe("c")
        assert world.logged == [("p_7v0", record.created, "create")]
        assert record.exists

    play(scenario)
