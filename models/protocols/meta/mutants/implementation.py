"""Mutants of caches and coordinator, each one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.meta.program:meta``. Each is compared with the variant of the specification that
makes the same mistake, where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidemark.impl.client.client import Client
from tidemark.impl.client.schemas import SchemaCache
from tidemark.impl.errors import RpcError
from tidemark.impl.proxy.gateway import Gateway
from tidemark.impl.proxy.meta_cache import CollectionVersion, Flight, MetaCache
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.writes import WriteTask
from tidemark.impl.rootcoord.collection_meta import Change, CollectionMeta
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.meta.alias_client import AliasClientProgram, alias_clients
from tidemark.models.protocols.meta.clients import ClientProgram, clients
from tidemark.models.protocols.meta.mutants.catalog import CreatesAtOnce
from tidemark.models.protocols.meta.program import MetaProgram, meta

_VARIANTS = "tidemark.models.protocols.meta.mutants"
TWO = "meta-impl-two-requests"
FAILURES = "meta-impl-failures"
CLIENT = "meta-impl-client"


class TakesAnything(MetaCache):
    """Looks at no version."""

    def insert(self, answer: CollectionVersion) -> None:
        """Keep the answer."""
        self.entries[answer.name] = answer


@mutant(killer="meta.caches_are_not_behind", source="facts 12; hazard 36", instance=TWO)
def an_answer_is_always_taken(**scenario: Any) -> MetaProgram:
    """An answer fills the cache although a newer version is known."""
    return meta(cache=TakesAnything, protocol=f"{_VARIANTS}.pairs:InvalidationWithoutVersion", **scenario)


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


class TellsNobody(CollectionMeta):
    """Waits for no answer of a proxy, and asks for none."""

    async def _tell_all(self, change: Change, version: int) -> None:
        await self._preemption.point("meta.acknowledge")


@mutant(killer="meta.caches_are_not_behind", source="facts 12", instance=TWO)
def acknowledged_before_all_answer(**scenario: Any) -> MetaProgram:
    """A change is acknowledged when it is stored."""
    return meta(
        coordinator=TellsNobody, protocol=f"{_VARIANTS}.specification:AcknowledgesWithoutAnswers", **scenario
    )


class _StaysOpen(MetaCache):
    def close(self) -> None:
        self.shared.clear()


@mutant(killer="refinement", source="seed 004, 6.6.4", instance=TWO)
def a_proxy_serves_after_its_session(**scenario: Any) -> MetaProgram:
    """A proxy whose session has ended goes on."""
    return meta(cache=_StaysOpen, **scenario)


class _FailsForAll(MetaCache):
    async def _wait_for(self, flight: Flight) -> None:
        await super()._wait_for(flight)
        if flight.answer is None:
            raise RpcError("the question has failed")


@mutant(killer="refinement", source="B42", instance=FAILURES)
def a_failure_is_that_of_all(**scenario: Any) -> MetaProgram:
    """All who wait for a question fail with it, as when the one who has asked it leaves."""
    return meta(cache=_FailsForAll, **scenario)


class _LeavesTheFlight(MetaCache):
    async def _ask(self, name: str) -> CollectionVersion:
        try:
            return await super()._ask(name)
        except RpcError:
            self.shared[name] = Flight("request 0", [])
            raise


@mutant(killer="refinement", source="B42", instance=FAILURES)
def a_failed_question_is_joined(**scenario: Any) -> MetaProgram:
    """A question that has failed stays: whoever joins it waits for ever."""
    return meta(cache=_LeavesTheFlight, **scenario)


@mutant(killer="refinement", source="seed 002, DDL", instance=TWO)
def a_creation_is_stamped_before_the_proxies_know(**scenario: Any) -> MetaProgram:
    """A creation takes its timestamp, and then the proxies are told."""
    return meta(catalog=CreatesAtOnce, **scenario)


# ---- the client's cache of schemas, and its retry ----


class _GoesOnIfAnother(SchemaCache):
    def _goes_on(self, version: int, refused: int) -> bool:
        return version != refused


class _NeverGoesOn(SchemaCache):
    def _goes_on(self, version: int, refused: int) -> bool:
        del version, refused
        return False


class _KeepsTheVersion(SchemaCache):
    def evict(self, collection: str) -> None:
        del collection


def _client_with(schemas: type[SchemaCache]) -> type[Client]:
    class Changed(Client):
        schema_cache = schemas

    return Changed


@mutant(killer="a_retry_ends", source="seed 002, DDL: retryIfSchemaError", instance=CLIENT)
def it_goes_on_unless_the_last_was_the_same(**scenario: Any) -> ClientProgram:
    """The rule of Milvus' client: between two proxies of different age it goes back and forth."""
    return clients(client=_client_with(_GoesOnIfAnother), **scenario)


@mutant(
    killer="a_retry_succeeds_when_the_schema_is_settled",
    source="seed 002, DDL: retryIfSchemaError",
    instance=CLIENT,
)
def no_request_is_made_again(**scenario: Any) -> ClientProgram:
    """The client hears of each change of the schema that it has missed."""
    return clients(client=_client_with(_NeverGoesOn), **scenario)


@mutant(
    killer="a_retry_succeeds_when_the_schema_is_settled",
    source="seed 002, DDL: retryIfSchemaError",
    instance=CLIENT,
)
def the_old_version_is_not_forgotten(**scenario: Any) -> ClientProgram:
    """The request is made again with the version that was refused."""
    return clients(client=_client_with(_KeepsTheVersion), **scenario)


class _ChecksBeforeOnly(Gateway):
    def _check_again(self, task: WriteTask, known: CollectionVersion, proxy: Proxy) -> None:
        del task, known, proxy


@mutant(killer="a_row_is_made_for_the_schema_of_its_time", source="seed 002, DDL", instance=CLIENT)
def the_schema_is_checked_before_the_timestamp(**scenario: Any) -> ClientProgram:
    """A write is checked when it comes, and takes its timestamp later."""
    return clients(gateway=_ChecksBeforeOnly, **scenario)


class _IgnoresTheVersion(Gateway):
    async def insert(
        self, collection: str, rows: Sequence[tuple[int, str]], *, version: int | None = None
    ) -> Timestamp:
        del version
        return await super().insert(collection, rows)


@mutant(killer="a_row_is_made_for_the_schema_of_its_time", source="seed 002, DDL", instance=CLIENT)
def the_version_of_a_write_is_ignored(**scenario: Any) -> ClientProgram:
    """A proxy takes rows for whatever schema they were made."""
    return clients(gateway=_IgnoresTheVersion, **scenario)


class _KeepsWhatAnAliasWas(Client):
    async def _change_alias(self, method: str, *, alias: str, **arguments: str) -> Timestamp:
        return self._known((await self.connection.call(method, alias=alias, **arguments))["ts"])


@mutant(
    killer="a_client_knows_what_it_has_changed",
    source="seed 002, DDL: retryIfSchemaError",
    instance="meta-impl-client-alias",
)
def a_client_keeps_what_an_alias_was(**scenario: Any) -> AliasClientProgram:
    """A client that has changed an alias goes on with the version that it knew of it."""
    return alias_clients(client=_KeepsWhatAnAliasWas, **scenario)
