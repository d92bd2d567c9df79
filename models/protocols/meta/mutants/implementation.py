"""Mutants of caches and coordinator, each one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.meta.program:meta``. Each is compared with the variant of the specification that
makes the same mistake, where there is one.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.proxy.meta_cache import CollectionVersion, MetaCache
from tidemark.impl.rootcoord.collection_meta import Change, CollectionMeta
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.meta.program import MetaProgram, meta

_VARIANTS = "tidemark.models.protocols.meta.mutants"
TWO = "meta-impl-two-requests"


class _TakesAnything(MetaCache):
    def insert(self, answer: CollectionVersion) -> None:
        self.entries[answer.name] = answer


@mutant(killer="meta.caches_are_not_behind", source="facts 12; hazard 36", instance=TWO)
def an_answer_is_always_taken(**scenario: Any) -> MetaProgram:
    """An answer fills the cache although a newer version is known."""
    return meta(cache=_TakesAnything, protocol=f"{_VARIANTS}.pairs:InvalidationWithoutVersion", **scenario)


class _KeepsFlights(MetaCache):
    def invalidate(self, name: str, version: int) -> None:
        shared = dict(self.shared)
        super().invalidate(name, version)
        self.shared = shared


@mutant(killer="meta.what_was_replaced_is_not_served", source="B42", instance=TWO)
def flights_are_not_forgotten(**scenario: Any) -> MetaProgram:
    """A request joins a question that was answered before the change."""
    return meta(cache=_KeepsFlights, protocol=f"{_VARIANTS}.specification:FlightIsNotForgotten", **scenario)


class _KeepsEntry(MetaCache):
    def invalidate(self, name: str, version: int) -> None:
        entries = dict(self.entries)
        super().invalidate(name, version)
        self.entries = entries


@mutant(killer="meta.caches_are_not_behind", source="facts 12", instance=TWO)
def the_entry_stays(**scenario: Any) -> MetaProgram:
    """An invalidation records the version, and leaves the entry where it is."""
    return meta(cache=_KeepsEntry, protocol=f"{_VARIANTS}.specification:KeepsTheCache", **scenario)


class _TellsNobody(CollectionMeta):
    async def _tell_all(self, change: Change, version: int) -> None:
        await self._preemption.point("meta.acknowledge")


@mutant(killer="meta.caches_are_not_behind", source="facts 12", instance=TWO)
def acknowledged_before_all_answer(**scenario: Any) -> MetaProgram:
    """A change is acknowledged when it is stored."""
    return meta(
        coordinator=_TellsNobody, protocol=f"{_VARIANTS}.specification:AcknowledgesWithoutAnswers", **scenario
    )


class _StaysOpen(MetaCache):
    def close(self) -> None:
        self.shared.clear()


@mutant(killer="refinement", source="seed 004, 6.6.4", instance=TWO)
def a_proxy_serves_after_its_session(**scenario: Any) -> MetaProgram:
    """A proxy whose session has ended goes on."""
    return meta(cache=_StaysOpen, **scenario)
