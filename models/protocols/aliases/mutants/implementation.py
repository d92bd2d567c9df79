"""Mutants of the catalogue and of a proxy's cache, each one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.aliases.program:aliases``.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.proxy.meta_cache import CollectionVersion, MetaCache
from tidemark.impl.rootcoord.catalog import Catalog
from tidemark.impl.rootcoord.collection_meta import Edit
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.aliases.program import AliasProgram, aliases

MOVED = "aliases-impl-altered-and-created-again"
COPIED = "aliases-impl-schema-changes"
NAMES = "aliases-impl-names"
CRASH = "aliases-impl-crash"


class _LooksUpByNameAlone(MetaCache):
    def _is_meant(self, alias: CollectionVersion, found: CollectionVersion) -> bool:
        del alias
        return found.exists


@mutant(killer="a_name_brings_what_it_has_meant", source="B65", instance=MOVED)
def a_collection_is_looked_up_by_name_alone(**scenario: Any) -> AliasProgram:
    """Whatever has the name that the alias has named is served."""
    return aliases(cache=_LooksUpByNameAlone, **scenario)


class _KeepsTheAlias(MetaCache):
    def invalidate(self, name: str, version: int) -> None:
        entry = self.entries.get(name)
        if entry is None or not entry.is_alias:
            super().invalidate(name, version)


@mutant(killer="a_row_goes_where_its_alias_points", source="B66", instance=MOVED)
def the_entry_of_an_alias_stays(**scenario: Any) -> AliasProgram:
    """A change of an alias leaves what proxies keep of it."""
    return aliases(cache=_KeepsTheAlias, **scenario)


class _KeepsACopy(MetaCache):
    async def resolve(self, name: str) -> CollectionVersion:
        found = await super().resolve(name)
        self.entries[name] = found
        return found


@mutant(killer="a_row_is_of_the_collection_of_its_time", source="B67", instance=COPIED)
def an_alias_holds_a_copy(**scenario: Any) -> AliasProgram:
    """What a proxy keeps under an alias is the collection's metadata."""
    return aliases(cache=_KeepsACopy, **scenario)


class _DropsAnyway(Catalog):
    def _check_has_no_alias(self, name: str) -> None:
        del name


@mutant(killer="an_alias_points_to_a_collection", source="B64", instance=NAMES)
def a_collection_with_an_alias_is_dropped(**scenario: Any) -> AliasProgram:
    """A collection is dropped, and its alias stays."""
    return aliases(catalog=_DropsAnyway, **scenario)


class _LooksAtCollectionsOnly(Catalog):
    def _check_is_free(self, name: str) -> None:
        if name not in self.aliases:
            super()._check_is_free(name)


@mutant(killer="a_name_is_given_once", source="B64", instance=NAMES)
def a_collection_takes_the_name_of_an_alias(**scenario: Any) -> AliasProgram:
    """A collection is created under the name of an alias."""
    return aliases(catalog=_LooksAtCollectionsOnly, **scenario)


class _TakesItsTimeFirst(Catalog):
    async def _change(self, name: str, edit: Edit) -> CollectionVersion:
        async def change(ts: Timestamp) -> None:
            await self.meta.apply(name, edit)
            await self._append_change(self.meta.describe(name), ts)

        return await self.meta.note_time(name, await self._scheduler.run_task(change))


@mutant(killer="a_row_goes_where_its_alias_points", source="seed 002, DDL", instance=MOVED)
def a_change_of_an_alias_takes_its_time_first(**scenario: Any) -> AliasProgram:
    """A change takes its timestamp before the proxies are told: later rows go where the alias has pointed."""
    return aliases(catalog=_TakesItsTimeFirst, **scenario)


class _LeavesChangesOpen(Catalog):
    async def finish_changes(self) -> None:
        return


@mutant(killer="a_change_that_is_stored_is_finished", source="seed 002, DDL", instance=CRASH)
def a_change_of_an_alias_stays_open(**scenario: Any) -> AliasProgram:
    """A change that was stored before a crash never has a timestamp."""
    return aliases(catalog=_LeavesChangesOpen, **scenario)
