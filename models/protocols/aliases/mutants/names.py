"""Mutants of the catalogue, a proxy's cache and the store, on the programs that are compared step by step,
and over SQLite. The functions return the program with the fault in it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tidemark.impl.proxy.meta_cache import CollectionVersion, MetaCache
from tidemark.impl.rootcoord.catalog import Catalog
from tidemark.impl.storage.sqlite_catalog import SqliteCatalogStore
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.aliases.names import NamesProgram, names
from tidemark.models.protocols.aliases.real_catalog import RealAliasProgram, aliases_in_sqlite

ALTERED = "aliases-names-altered"
COMES = "aliases-names-come-and-go"
CRASH = "aliases-names-crash"
MOVED = "aliases-names-moved"
STORED = "aliases-over-sqlite-crash"


class _LooksUpByNameAlone(MetaCache):
    def _is_meant(self, alias: CollectionVersion, found: CollectionVersion) -> bool:
        del alias
        return found.exists


@mutant(killer="refinement", source="B65", instance=MOVED, tier="full")
def a_request_is_served_by_name_alone(**scenario: Any) -> NamesProgram:
    """A request is served whatever has the name that its alias has named."""
    return names(cache=_LooksUpByNameAlone, **scenario)


class KeepsTheAlias(MetaCache):
    """An invalidation leaves what is kept of an alias."""

    def invalidate(self, name: str, version: int) -> None:
        """See MetaCache."""
        entry = self.entries.get(name)
        super().invalidate(name, version)
        if entry is not None and entry.is_alias:
            self.entries[name] = entry


@mutant(killer="refinement", source="B66", instance=ALTERED)
def an_alias_is_not_forgotten(**scenario: Any) -> NamesProgram:
    """An invalidation leaves what is kept of an alias."""
    return names(cache=KeepsTheAlias, **scenario)


class _KeepsThatThereIsNone(MetaCache):
    def invalidate(self, name: str, version: int) -> None:
        entry = self.entries.get(name)
        super().invalidate(name, version)
        if entry is not None and not (entry.exists or entry.is_alias):
            self.entries[name] = entry


@mutant(killer="refinement", source="facts 12", instance=COMES)
def that_there_is_none_is_not_forgotten(**scenario: Any) -> NamesProgram:
    """An invalidation leaves what is kept of a name that means nothing."""
    return names(cache=_KeepsThatThereIsNone, **scenario)


class _TakesAnything(MetaCache):
    def insert(self, answer: CollectionVersion) -> None:
        self.entries[answer.name] = answer


@mutant(killer="aliases.caches_are_not_behind", source="facts 12; B66", instance=ALTERED)
def an_old_answer_is_kept(**scenario: Any) -> NamesProgram:
    """An answer is kept although a newer change of its name is known."""
    return names(cache=_TakesAnything, **scenario)


class _DropsAnyway(Catalog):
    def _check_has_no_alias(self, name: str) -> None:
        del name


@mutant(killer="aliases.an_alias_points_to_a_collection", source="B64", instance=COMES)
def what_has_an_alias_is_dropped(**scenario: Any) -> NamesProgram:
    """A collection is dropped, and its alias stays."""
    return names(catalog=_DropsAnyway, **scenario)


class _CountsFromNothing(Catalog):
    async def load(self) -> None:
        await super().load()
        self.meta.last = 0


@mutant(killer="refinement", source="B66", instance=CRASH)
def versions_begin_again(**scenario: Any) -> NamesProgram:
    """The numbers of versions begin again after a crash."""
    return names(catalog=_CountsFromNothing, **scenario)


class _ForgetsTheAlias(SqliteCatalogStore):
    async def save(self, record: CollectionVersion) -> None:
        await super().save(replace(record, alias_of="") if record.number > 1 else record)


@mutant(killer="what_is_stored_is_kept", source="B64", instance=STORED, tier="full")
def the_store_forgets_what_an_alias_is_of(**scenario: Any) -> RealAliasProgram:
    """What is stored of an alias that was altered does not say of which collection it is."""
    return aliases_in_sqlite(adapter=_ForgetsTheAlias, **scenario)
