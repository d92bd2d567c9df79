"""Mutants of the catalogue, a proxy's cache and the store, on the programs that are compared step by step,
and over SQLite.
"""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.aliases.mutants.implementation import CACHE, CATALOG
from tidemark.models.protocols.aliases.ports import RealAliasProgram
from tidemark.models.protocols.aliases.program.names import names

ALTERED = Host("aliases-names-altered", names)
COMES = Host("aliases-names-come-and-go", names)

FORGOTTEN = "self.entries.pop(name, None)"

MUTANTS = patches(
    __name__,
    Patch(
        "an-alias-is-not-forgotten",
        at=CACHE + "invalidate",
        old=FORGOTTEN,
        new="""if name in self.entries and not self.entries[name].is_alias:
            del self.entries[name]""",
        on=ALTERED,
        walked=Host("aliases-driven", names),
        source="B66",
        says="An invalidation leaves what is kept of an alias.",
    ),
    Patch(
        "that-there-is-none-is-not-forgotten",
        at=CACHE + "invalidate",
        old=FORGOTTEN,
        new="""if name in self.entries and (self.entries[name].exists or self.entries[name].is_alias):
            del self.entries[name]""",
        on=COMES,
        source="facts 12",
        says="An invalidation leaves what is kept of a name that means nothing.",
    ),
    Patch(
        "an-old-answer-is-kept",
        at=CACHE + "insert",
        old="answer.version >= self.floors.get(answer.name, 0)",
        new="True",
        killer="aliases.caches_are_not_behind",
        on=ALTERED,
        source="facts 12; B66",
        says="An answer is kept although a newer change of its name is known.",
    ),
    Patch(
        "what-has-an-alias-is-dropped",
        at=CATALOG + "drop",
        old="self._check_has_no_alias(name)",
        new="pass",
        killer="aliases.an_alias_points_to_a_collection",
        on=COMES,
        source="B64",
        says="A collection is dropped, and its alias stays.",
    ),
    Patch(
        "versions-begin-again",
        at="rootcoord/collection_meta.py:CollectionMeta.load",
        old="max((record.version for record in self.versions.values()), default=0)",
        new="0",
        on=Host("aliases-names-crash", names),
        source="B66",
        says="The numbers of versions begin again after a crash.",
    ),
    Patch(
        "the-store-forgets-what-an-alias-is-of",
        at="storage/sqlite_catalog.py:SqliteCatalogStore.save",
        old="int(record.gone), record.alias_of",
        new='int(record.gone), "" if record.number > 1 else record.alias_of',
        killer="what_is_stored_is_kept",
        on=Host("aliases-over-sqlite-crash", RealAliasProgram),
        source="B64",
        tier="full",
        says="What is stored of an alias that was altered does not say of which collection it is.",
    ),
)
