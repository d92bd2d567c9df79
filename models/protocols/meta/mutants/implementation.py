"""Mutants of the catalogue, its versions and its store, of proxies' caches, and of clients.

Where the specification has a variant that makes the same mistake, the program follows that one.
"""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.meta.ports import RealCatalogProgram
from tidemark.models.protocols.meta.program.caches import meta
from tidemark.models.protocols.meta.program.catalog import CatalogProgram
from tidemark.models.protocols.meta.program.clients import ClientProgram

TWO = Host("meta-impl-two-requests", meta)
FAILURES = Host("meta-impl-failures", meta)
CLIENT = Host("meta-impl-client", ClientProgram)
CALLS = Host("meta-impl-catalog", CatalogProgram)
CRASH = Host("meta-impl-catalog-crash", CatalogProgram)
RESTARTS = Host("meta-impl-restarts", meta)
STORE = Host("meta-catalog-over-sqlite-crash", RealCatalogProgram)

CACHE = "proxy/meta_cache.py:MetaCache."
CATALOG = "rootcoord/catalog.py:Catalog."
VERSIONS = "rootcoord/collection_meta.py:CollectionMeta."
SCHEMAS = "client/schemas.py:SchemaCache."
GATEWAY = "proxy/gateway.py:Gateway."
SQLITE = "storage/sqlite_catalog.py:SqliteCatalogStore."

DDL = "seed 002, DDL"
RETRY = "seed 002, DDL: retryIfSchemaError"
BEHIND = "meta.caches_are_not_behind"
OF_ITS_TIME = "a_row_is_of_the_collection_of_its_time"
SUCCEEDS = "a_retry_succeeds_when_the_schema_is_settled"
_VARIANTS = "tidemark.models.protocols.meta.mutants"

CHANGE = """await self.meta.apply(name, edit)
        return await self._finish(name)"""
TIME_FIRST = """async def change(ts: Timestamp) -> None:
            await self.meta.apply(name, edit)
            await self._append_change(self.meta.describe(name), ts)

        return await self.meta.note_time(name, await self._scheduler.run_task(change))"""
CREATION = "return await self._change(name, lambda old: replace(made, version=old.version))"
CREATED_FIRST = """async def append(ts: Timestamp) -> None:
                await self._announce_all(made.channels, ts, "create")
                await self.meta.apply(
                    name, lambda old: replace(made, version=old.version, created=ts, changed=ts)
                )

            await self._scheduler.run_task(append)
            return self.get(name)"""
STORED_FIRST = """async def append(ts: Timestamp) -> None:
                await self.meta.apply(
                    name, lambda old: replace(made, version=old.version, created=ts, changed=ts)
                )
                await self._announce_all(made.channels, ts, "create")

            await self._scheduler.run_task(append)
            return self.get(name)"""

CACHES = (
    Patch(
        "an-answer-is-always-taken",
        at=CACHE + "insert",
        old="answer.version >= self.floors.get(answer.name, 0)",
        new="True",
        killer=BEHIND,
        on=TWO.like(protocol="tidemark.spec.meta.variants.other_rules:InvalidationWithoutVersion"),
        walked=Host("meta-driven", meta),
        source="facts 12; hazard 36",
        says="An answer fills the cache although a newer version is known.",
    ),
    Patch(
        "flights-are-not-forgotten",
        at=CACHE + "invalidate",
        old="self.shared.pop(name, None)",
        new="pass",
        killer="meta.what_was_replaced_is_not_served",
        on=TWO.like(protocol=f"{_VARIANTS}.specification:FlightIsNotForgotten"),
        source="B42",
        says="A request joins a question that was answered before the change.",
    ),
    Patch(
        "acknowledged-before-all-answer",
        at=VERSIONS + "_tell_all",
        old="while True:",
        new='await self._preemption.point("meta.acknowledge")\n        while False:',
        killer=BEHIND,
        on=TWO.like(protocol=f"{_VARIANTS}.specification:AcknowledgesWithoutAnswers"),
        walked=Host("meta-driven", meta),
        source="facts 12",
        says="A change is acknowledged when it is stored.",
    ),
    Patch(
        "a-proxy-serves-after-its-session",
        at=CACHE + "close",
        old="self.closed = True",
        new="self.shared.clear()\n        return",
        on=TWO,
        source="seed 004, 6.6.4",
        says="A proxy whose session has ended goes on.",
    ),
    Patch(
        "a-failure-is-that-of-all",
        at=CACHE + "get",
        old="await self._wait_for(flight)",
        new="""await self._wait_for(flight)
            if flight.answer is None:
                raise RpcError("the question has failed")""",
        on=FAILURES,
        source="B42",
        says="All who wait for a question fail with it, as when the one who has asked it leaves.",
    ),
    Patch(
        "a-failed-question-is-joined",
        at=CACHE + "_ask",
        old="flight.over.set()",
        new="""flight.over.set()
            if not taken:
                self.shared[name] = Flight(_task())""",
        on=FAILURES,
        source="B42",
        says="A question that has failed stays: whoever joins it waits for ever.",
    ),
    Patch(
        "a-creation-is-stamped-before-the-proxies-know",
        at=CATALOG + "create",
        old=CREATION,
        new=CREATED_FIRST,
        on=TWO,
        source=DDL,
        says="A creation takes its timestamp, and then the proxies are told.",
    ),
)

CLIENTS = (
    Patch(
        "it-goes-on-unless-the-last-was-the-same",
        at=SCHEMAS + "_goes_on",
        old="version > refused",
        new="version != refused",
        killer="a_retry_ends",
        on=CLIENT,
        source=RETRY,
        says="The rule of Milvus' client: between two proxies of different age it goes back and forth.",
    ),
    Patch(
        "no-request-is-made-again",
        at=SCHEMAS + "_goes_on",
        old="version > refused",
        new="False",
        killer=SUCCEEDS,
        on=CLIENT,
        source=RETRY,
        says="The client hears of each change of the schema that it has missed.",
    ),
    Patch(
        "the-old-version-is-not-forgotten",
        at=SCHEMAS + "evict",
        old="self.versions.pop(collection, None)",
        new="pass",
        killer=SUCCEEDS,
        on=CLIENT,
        source=RETRY,
        says="The request is made again with the version that was refused.",
    ),
    Patch(
        "the-schema-is-checked-before-the-timestamp",
        at=GATEWAY + "_write",
        old="collection, known, proxy.meta",
        new="collection, None, None",
        killer="a_row_is_made_for_the_schema_of_its_time",
        on=CLIENT,
        source=DDL,
        says="A write is checked when it comes, and takes its timestamp later.",
    ),
    Patch(
        "the-version-of-a-write-is-ignored",
        at=GATEWAY + "insert",
        old="version=version",
        new="version=None",
        killer="a_row_is_made_for_the_schema_of_its_time",
        on=CLIENT,
        source=DDL,
        says="A proxy takes rows for whatever schema they were made.",
    ),
    Patch(
        "a-client-keeps-what-an-alias-was",
        at="client/client.py:Client._change_alias",
        old="self.schemas.evict(alias)",
        new="pass",
        killer="a_client_knows_what_it_has_changed",
        on=Host("meta-impl-client-alias", ClientProgram),
        source=RETRY,
        says="A client that has changed an alias goes on with the version that it knew of it.",
    ),
)

CATALOGUES = (
    Patch(
        "a-change-takes-its-time-first",
        at=CATALOG + "_change",
        old=CHANGE,
        new=TIME_FIRST,
        killer=OF_ITS_TIME,
        on=CALLS,
        source=DDL,
        says="A change takes its timestamp before the proxies are told: rows follow the drop in the logs.",
    ),
    Patch(
        "a-creation-takes-its-time-first",
        at=CATALOG + "create",
        old=CREATION,
        new=CREATED_FIRST,
        killer=OF_ITS_TIME,
        on=CALLS,
        source=DDL,
        says="A creation takes its timestamp before the proxies know: a later request hears of nothing.",
    ),
    Patch(
        "a-collection-is-told-of-before-its-time",
        at=VERSIONS + "answer",
        old="self.describe(name).is_being_created",
        new="False",
        killer=OF_ITS_TIME,
        on=CALLS,
        source=DDL,
        says="Proxies hear of a collection when it is stored: rows precede its creation in the logs.",
    ),
    Patch(
        "numbers-begin-again",
        at=CATALOG + "load",
        old="await self._store.reserve(BATCH)",
        new="2",
        killer="two_collections_have_two_numbers",
        on=CRASH,
        source=DDL,
        says="A coordinator that starts again gives the numbers again that it gave before.",
    ),
    Patch(
        "a-collection-is-stored-first",
        at=CATALOG + "create",
        old=CREATION,
        new=STORED_FIRST,
        killer="a_collection_is_stored_after_its_messages",
        on=CRASH,
        source=DDL,
        says="A collection is there before its channels know of it.",
    ),
    Patch(
        "one-channel-learns-of-a-drop",
        at=CATALOG + "_append_change",
        old="record.channels",
        new="record.channels[:1]",
        killer="what_is_answered_is_in_the_logs",
        on=CRASH,
        source=DDL,
        says="A change has its place in the first channel of a collection only.",
    ),
    Patch(
        "what-is-stored-counts-as-acknowledged",
        at=VERSIONS + "load",
        old=" if one.changed}",
        new="}",
        killer=BEHIND,
        on=RESTARTS.like(protocol="tidemark.spec.meta.variants.other_rules:TakesUpWhatIsStored"),
        source="seed 002, DDL; facts 4: initSessions",
        says="A coordinator that starts takes the proxies to be told of a change that is stored.",
    ),
    Patch(
        "a-version-is-replaced-in-two-transactions",
        at=SQLITE + "save",
        old="async with self._transactions.begin() as database:",
        new="""async with self._transactions.begin() as database:
            await database.execute("DELETE FROM collections WHERE name = ?", (record.name,))
        async with self._transactions.begin() as database:""",
        killer="what_is_stored_is_kept",
        on=STORE,
        source="facts 10.1",
        says="The version before is deleted in one transaction, the new one is stored in the next.",
    ),
    Patch(
        "numbers-are-read-and-not-reserved",
        at=SQLITE + "reserve",
        old="UPDATE numbers SET next = next + ? RETURNING next",
        new="UPDATE numbers SET next = max(next, 2) RETURNING next + ?",
        killer="two_collections_have_two_numbers",
        on=STORE,
        source=DDL,
        says="Only the first number is stored as taken: the next coordinator takes the others once more.",
    ),
)

MUTANTS = patches(__name__, *CACHES, *CLIENTS, *CATALOGUES)
