"""The proxy's cache of metadata on a plain event loop: a close, and an alias that is stale."""

import asyncio

import pytest

from tests.impl.parts import settle
from tidemark.impl.errors import SessionEndedError
from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.values.collection_version import CollectionVersion


class Silent:
    async def describe(self, name: str) -> CollectionVersion:
        raise AssertionError(f"{await asyncio.Event().wait()} about {name}")


async def test_a_close_wakes_who_waits_for_a_question() -> None:
    cache = MetaCache(source=Silent(), preemption=NoPreemption())
    asks, waits = (asyncio.create_task(cache.get("books")) for _ in range(2))
    await settle()
    cache.close()
    with pytest.raises(SessionEndedError, match="connect to another proxy"):
        await waits
    asks.cancel()


class Told:
    """A coordinator that answers; ``asked``: the names."""

    def __init__(self, *known: CollectionVersion) -> None:
        self.known = {one.name: one for one in known}
        self.asked: list[str] = []

    async def describe(self, name: str) -> CollectionVersion:
        self.asked.append(name)
        if len(self.asked) > len(self.known):
            raise AssertionError(f"asked again and again: {self.asked}")
        return self.known[name]


def _collection(name: str, number: int, version: int) -> CollectionVersion:
    return CollectionVersion(name, version, "", number=number, created=1, channels=("a",))


async def test_an_alias_whose_collection_has_another_number_is_asked_for_once() -> None:
    old = CollectionVersion("alias", 2, "", number=1, alias_of="books")
    new = CollectionVersion("alias", 4, "", number=3, alias_of="maps")
    source = Told(new, _collection("books", 2, 3), _collection("maps", 3, 4))
    cache = MetaCache(source=source, preemption=NoPreemption())
    cache.insert(old)
    for version in (9, 1):  # the second one comes late
        cache.invalidate("books", version)
    assert (await cache.resolve("alias")).number == 3
    assert source.asked == ["books", "alias", "maps"]
    assert "books" not in cache.entries
