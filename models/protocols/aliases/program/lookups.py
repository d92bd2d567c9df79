"""What a request looks up in its proxy's cache, noted beside the real cache."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tidemark.impl.ports import Preemption
from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.models.protocols.aliases.refinement import RequestView, meaning


@dataclass(slots=True)
class Request:
    """A client's request, and what came of it.

    Attributes:
        proxy: number of its proxy.
        asks: the name that it uses.
        looking: the name that is looked up.
        alias: what the first lookup has brought, during the second.
        brought: what the last lookup has brought.
        answer: of the coordinator, on its way.
        moment: changes that were stored when it answered, or when it gave the entry that was found.
        served: number of the collection, 0 for none; None before.
        before: what was acknowledged when the request began, by name.
        meant: numbers of the collections that its name has meant since.
    """

    proxy: int
    asks: str
    begun: bool = False
    looking: str = ""
    alias: CollectionVersion | None = None
    brought: CollectionVersion | None = None
    answer: CollectionVersion | None = None
    moment: int = 0
    served: int | None = None
    before: dict[str, int] = field(default_factory=dict)
    meant: set[int] = field(default_factory=set)

    @property
    def goes_on(self) -> bool:
        """It has begun and is not over."""
        return self.begun and self.served is None

    def begin(self, acknowledged: Mapping[str, int], meant: set[int]) -> None:
        """It comes."""
        self.begun, self.before, self.meant = True, dict(acknowledged), meant

    def end(self, found: CollectionVersion | None = None) -> None:
        """It is served, or ends without an answer. Nothing happens if it has not come, or is over."""
        if self.goes_on:
            self.served = 0 if found is None else meaning(found)
            self.alias = self.brought = self.answer = None

    def view(self) -> RequestView:
        """The picture of it."""
        before = tuple(sorted(self.before.items()))
        return RequestView(
            self.begun, self.looking, self.alias, self.answer, self.moment, self.served, before,
            frozenset(self.meant),
        )  # fmt: skip


class Coordinator(Protocol):
    """The program as the lookups of a proxy see it."""

    requests: list[Request]
    moments: list[dict[str, int]]

    async def answer(self, request: Request, name: str) -> CollectionVersion:
        """The answer to a request, on its way."""


class Lookups:
    """The lookups of one proxy's requests, one after another."""

    def __init__(self, program: Coordinator, preemption: Preemption, proxy: int) -> None:
        self.preemption = preemption
        self._program = program
        self._proxy = proxy

    async def describe(self, name: str) -> CollectionVersion:
        """See MetaSource."""
        return await self._program.answer(self._request(), name)

    async def look(self, name: str) -> None:
        """A name is looked up; anything may happen before. A name that was not asked for is that of the
        collection that the alias has named.
        """
        request = self._request()
        request.looking = name
        request.alias = None if name == request.asks else request.brought
        await self.preemption.point("request.look")

    def found(self, name: str, record: CollectionVersion) -> None:
        """A lookup has brought this, from the cache or with an answer."""
        request = self._request()
        if request.answer is None:
            request.moment = self._program.moments[self._proxy].get(name, 0)
        request.answer, request.brought = None, record

    def _request(self) -> Request:
        return next(one for one in self._program.requests if one.proxy == self._proxy and one.goes_on)


class _Watched(MetaCache):
    """A cache whose lookups are noted."""

    lookups: Lookups

    async def get(self, name: str) -> CollectionVersion:
        """See MetaCache."""
        await self.lookups.look(name)
        found = await super().get(name)
        self.lookups.found(name, found)
        return found


def watched(lookups: Lookups) -> MetaCache:
    """A cache. Its lookups are noted, and anything may happen before each of them."""
    made = _Watched(source=lookups, preemption=lookups.preemption)
    made.lookups = lookups
    return made
