"""Mutants of the catalogue and its store, and of a proxy's cache."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.aliases.program import AliasProgram

MOVED = Host("aliases-impl-altered-and-created-again", AliasProgram)
NAMES = Host("aliases-impl-names", AliasProgram)

CACHE = "proxy/meta_cache.py:MetaCache."
CATALOG = "rootcoord/catalog.py:Catalog."

MUTANTS = patches(
    __name__,
    Patch(
        "a-collection-is-looked-up-by-name-alone",
        at=CACHE + "resolve",
        old=" and meant.number == record.number",
        new="",
        killer="a_name_brings_what_it_has_meant",
        on=MOVED,
        source="B65",
        says="Whatever has the name that the alias has named is served.",
    ),
    Patch(
        "the-entry-of-an-alias-stays",
        at=CACHE + "invalidate",
        old="self.floors[name] =",
        new="""if name in self.entries and self.entries[name].is_alias:
            return
        self.floors[name] =""",
        killer="a_row_goes_where_its_alias_points",
        on=MOVED,
        source="B66",
        says="A change of an alias leaves what proxies keep of it.",
    ),
    Patch(
        "an-alias-holds-a-copy",
        at=CACHE + "resolve",
        old="return replace(meant, version=max(record.version, meant.version))",
        new="""self.entries[name] = replace(meant, version=max(record.version, meant.version))
                return self.entries[name]""",
        killer="a_row_is_of_the_collection_of_its_time",
        on=Host("aliases-impl-schema-changes", AliasProgram),
        source="B67",
        says="What a proxy keeps under an alias is the collection's metadata.",
    ),
    Patch(
        "a-collection-with-an-alias-is-dropped",
        at=CATALOG + "drop",
        old="self._check_has_no_alias(name)",
        new="pass",
        killer="an_alias_points_to_a_collection",
        on=NAMES,
        source="B64",
        says="A collection is dropped, and its alias stays.",
    ),
    Patch(
        "a-collection-takes-the-name-of-an-alias",
        at=CATALOG + "_check_is_free",
        old="name in self.aliases",
        new="False",
        killer="a_name_is_given_once",
        on=NAMES,
        source="B64",
        says="A collection is created under the name of an alias.",
    ),
    Patch(
        "a-change-of-an-alias-takes-its-time-first",
        at=CATALOG + "_change",
        old="""await self.meta.apply(name, edit)
        return await self._finish(name)""",
        new="""async def change(ts: Timestamp) -> None:
            await self.meta.apply(name, edit)
            await self._append_change(self.meta.describe(name), ts)

        return await self.meta.note_time(name, await self._scheduler.run_task(change))""",
        killer="a_row_goes_where_its_alias_points",
        on=MOVED,
        source="seed 002, DDL",
        says="A change takes its timestamp before the proxies know: later rows go where the alias pointed.",
    ),
    Patch(
        "a-change-of-an-alias-stays-open",
        at=CATALOG + "finish_changes",
        old="await self._finish(name)",
        new="pass",
        killer="a_change_that_is_stored_is_finished",
        on=Host("aliases-impl-crash", AliasProgram),
        source="seed 002, DDL",
        says="A change that was stored before a crash never has a timestamp.",
    ),
)
