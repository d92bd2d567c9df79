"""A client that inserts by an alias, and lets it point elsewhere in between.

Its proxies know each change when it is answered. Client, gateways, caches and coordinator are real, as in
``clients``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from tidemark.impl.system.connection import RequestRefusedError
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.models.protocols.meta.clients import CHANNEL, OF_ITS_TIME, RETRY_ENDS, ClientProgram
from tidemark.models.protocols.meta.refinement import NAME
from tidemark.models.simulation.world.process import Process

ALIAS = "also"
OTHER = "others"
KNOWS = "a_client_knows_what_it_has_changed"
"""Claim id: no request of a client is refused because of what it has changed itself before: each is made
once, and succeeds if there is what it names."""


class AliasClientProgram(ClientProgram):
    """One client, two proxies, two collections, an alias of the first.

    Args:
        calls: what the client does, one after another: ``insert``, ``alter_alias`` (to the second
            collection), ``drop_alias``, ``create_alias`` (of the first).
    """

    claims = (OF_ITS_TIME, RETRY_ENDS, KNOWS)
    records = (
        CollectionVersion(NAME, 1, "", number=1, created=1, channels=(CHANNEL,), changed=1),
        CollectionVersion(OTHER, 2, "", number=2, created=1, channels=(CHANNEL,), changed=1),
        CollectionVersion(ALIAS, 3, "", number=1, changed=1, alias_of=NAME),
    )

    def __init__(self, *, calls: Sequence[str]) -> None:
        super().__init__(inserts=len(calls), changes=0)
        self.calls = tuple(calls)
        self.given = 1

    def catalogue(self) -> Any:
        """Return this program: it changes aliases."""
        return self

    async def _insert(self, process: Process) -> None:
        for place, call in enumerate(self.calls):
            await process.point("client.come")
            self.attempts = 0
            try:
                await self._call(call, place)
            except RequestRefusedError as refused:
                self.outcomes.append(refused.kind)
            else:
                self.outcomes.append("ok")
            there = self.meta.describe(ALIAS).is_alias
            due = "ok" if there or call == "drop_alias" else "CollectionError"
            if self.outcomes[-1] != due:
                self.wrong = f"{KNOWS}: call {place} ends with {self.outcomes[-1]}; due: {due}"
            if self.attempts > 1:
                self.wrong = f"{KNOWS}: call {place} is made {self.attempts} times, and nobody else changes"

    async def _call(self, call: str, key: int) -> None:
        match call:
            case "insert":
                await self.client.insert(ALIAS, {key: "row"})
            case "alter_alias":
                await self.client.alter_alias(ALIAS, OTHER)
            case "drop_alias":
                await self.client.drop_alias(ALIAS)
            case "create_alias":
                await self.client.create_alias(ALIAS, NAME)

    # The catalogue.

    async def create_alias(self, alias: str, collection: str) -> CollectionVersion:
        """See Collections."""
        number = self.meta.describe(collection).number
        return await self._store(CollectionVersion(alias, 0, "", number=number, alias_of=collection))

    async def alter_alias(self, alias: str, collection: str) -> CollectionVersion:
        """See Collections."""
        return await self.create_alias(alias, collection)

    async def drop_alias(self, alias: str) -> CollectionVersion:
        """See Collections."""
        return await self._store(replace(self.meta.describe(alias), gone=True))

    async def _store(self, record: CollectionVersion) -> CollectionVersion:
        version = await self.meta.apply(record.name, lambda old: replace(record, version=old.version))
        self.given += 1
        self.changed.append((version, self.given))
        return await self.meta.note_time(record.name, self.given)

    def covered(self) -> frozenset[str]:
        """Return what has happened."""
        return frozenset(
            f"{call} is {outcome}" for call, outcome in zip(self.calls, self.outcomes, strict=False)
        )

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        return super().declared(), tuple(sorted(self.meta.versions.items()))


def alias_clients(*, calls: Sequence[str]) -> AliasClientProgram:
    """A program by plain arguments: see ``AliasClientProgram``."""
    return AliasClientProgram(calls=calls)
