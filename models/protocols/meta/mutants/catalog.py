"""Mutants of the catalogue, each one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.meta.catalog:catalogues``, or as
``real_catalog:catalogues_in_sqlite``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tidemark.impl.proxy.meta_cache import CollectionVersion
from tidemark.impl.rootcoord.catalog import BATCH, Catalog
from tidemark.impl.rootcoord.collection_meta import CollectionMeta, Edit
from tidemark.impl.storage.sqlite_catalog import SqliteCatalogStore
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.meta.catalog import CatalogProgram, catalogues
from tidemark.models.protocols.meta.life.program import CatalogLife, life
from tidemark.models.protocols.meta.real_catalog import catalogues_in_sqlite

CALLS = "meta-impl-catalog"
CRASH = "meta-impl-catalog-crash"
STORE = "meta-catalog-over-sqlite-crash"


class _TakesItsTimeFirst(Catalog):
    async def _change(self, name: str, edit: Edit) -> CollectionVersion:
        async def change(ts: Timestamp) -> None:
            await self.meta.apply(name, edit)
            await self._append_change(self.meta.describe(name), ts)

        return await self.meta.note_time(name, await self._scheduler.run_task(change))


@mutant(killer="a_row_is_of_the_collection_of_its_time", source="seed 002, DDL", instance=CALLS)
def a_change_takes_its_time_first(**scenario: Any) -> CatalogProgram:
    """A change takes its timestamp before the proxies are told: rows follow the drop in the logs."""
    return catalogues(catalog=_TakesItsTimeFirst, **scenario)


class CreatesAtOnce(Catalog):
    """Takes the timestamp of a creation first, and tells the proxies after."""

    async def create(self, name: str, *, shards: int, schema: str = "") -> CollectionVersion:
        """See Catalog."""
        self._check_is_free(name)
        number = self.take_number()
        channels = self._place(number, shards)

        async def append(ts: Timestamp) -> None:
            await self._announce_all(channels, ts, "create")
            made = CollectionVersion(
                name, 0, schema, number=number, created=ts, channels=channels, changed=ts
            )
            await self.meta.apply(name, lambda old: replace(made, version=old.version))

        await self._scheduler.run_task(append)
        return self.get(name)


@mutant(killer="a_row_is_of_the_collection_of_its_time", source="seed 002, DDL", instance=CALLS)
def a_creation_takes_its_time_first(**scenario: Any) -> CatalogProgram:
    """A creation takes its timestamp before the proxies know: a later request hears that there is nothing."""
    return catalogues(catalog=CreatesAtOnce, **scenario)


class _AnswersWhatIsStored(CollectionMeta):
    async def answer(self, name: str) -> CollectionVersion:
        return self.describe(name)


class _TellsTooEarly(Catalog):
    async def load(self) -> None:
        self.meta.__class__ = _AnswersWhatIsStored
        await super().load()


@mutant(killer="a_row_is_of_the_collection_of_its_time", source="seed 002, DDL", instance=CALLS)
def a_collection_is_told_of_before_its_time(**scenario: Any) -> CatalogProgram:
    """Proxies hear of a collection when it is stored: rows precede its creation in the logs."""
    return catalogues(catalog=_TellsTooEarly, **scenario)


class _ReservesNothing(Catalog):
    async def load(self) -> None:
        self.meta.load(await self._store.load())
        self._next, self._end = 2, 2 + BATCH


@mutant(killer="two_collections_have_two_numbers", source="seed 002, DDL", instance=CRASH)
def numbers_begin_again(**scenario: Any) -> CatalogProgram:
    """A coordinator that starts again gives the numbers again that it gave before."""
    return catalogues(catalog=_ReservesNothing, **scenario)


class _StoresBeforeItAppends(Catalog):
    async def create(self, name: str, *, shards: int, schema: str = "") -> CollectionVersion:
        number = self.take_number()
        channels = self._place(number, shards)

        async def append(ts: Timestamp) -> None:
            made = CollectionVersion(
                name, 0, schema, number=number, created=ts, channels=channels, changed=ts
            )
            await self.meta.apply(name, lambda old: replace(made, version=old.version))
            for channel in channels:
                await self._announce(channel, ts, "create")

        await self._scheduler.run_task(append)
        return self.get(name)


@mutant(killer="a_collection_is_stored_after_its_messages", source="seed 002, DDL", instance=CRASH)
def a_collection_is_stored_first(**scenario: Any) -> CatalogProgram:
    """A collection is there before its channels know of it."""
    return catalogues(catalog=_StoresBeforeItAppends, **scenario)


class _LeavesAppendsBehind(Catalog):
    async def _announce_all(self, channels: Sequence[ChannelName], ts: Timestamp, text: str) -> None:
        await asyncio.gather(*(self._announce(channel, ts, text) for channel in channels))


@mutant(
    killer="nothing_follows_the_end_of_a_task",
    source="seed 002, coordinator: no tick before everybody has reported",
    instance="meta-impl-life",
)
def a_failed_change_leaves_appends_behind() -> CatalogLife:
    """If one append of a change fails, its timestamp counts as finished while the others are under way."""
    return life(catalog=_LeavesAppendsBehind)


class _TellsOneChannel(Catalog):
    async def _append_change(self, record: CollectionVersion, ts: Timestamp) -> None:
        await super()._append_change(replace(record, channels=record.channels[:1]), ts)


@mutant(killer="what_is_answered_is_in_the_logs", source="seed 002, DDL", instance=CRASH)
def one_channel_learns_of_a_drop(**scenario: Any) -> CatalogProgram:
    """A change has its place in the first channel of a collection only."""
    return catalogues(catalog=_TellsOneChannel, **scenario)


class _LeavesChangesOpen(Catalog):
    async def finish_changes(self) -> None:
        return


@mutant(
    killer="a_change_that_is_stored_is_finished", source="seed 002, DDL", instance="meta-impl-catalog-drop"
)
def a_change_stays_open(**scenario: Any) -> CatalogProgram:
    """A drop that was stored before a crash never has a place in the logs."""
    return catalogues(catalog=_LeavesChangesOpen, **scenario)


class _InTwoTransactions(SqliteCatalogStore):
    async def save(self, record: CollectionVersion) -> None:
        async with self._transactions.begin() as database:
            await database.execute("DELETE FROM collections WHERE name = ?", (record.name,))
        await super().save(record)


@mutant(killer="what_is_stored_is_kept", source="facts 10.1", instance=STORE)
def a_version_is_replaced_in_two_transactions(**scenario: Any) -> CatalogProgram:
    """The version before is deleted in one transaction, the new one is stored in the next."""
    return catalogues_in_sqlite(adapter=_InTwoTransactions, **scenario)


class _ReadsAndReserves(SqliteCatalogStore):
    async def reserve(self, count: int) -> int:
        async with self._transactions.begin() as database:
            [(first,)] = await database.execute("SELECT next FROM numbers")
        return int(first)


@mutant(killer="two_collections_have_two_numbers", source="seed 002, DDL", instance=STORE)
def numbers_are_read_and_not_reserved(**scenario: Any) -> CatalogProgram:
    """The numbers that a coordinator takes are not stored: the next one takes them, too."""
    return catalogues_in_sqlite(adapter=_ReadsAndReserves, **scenario)
