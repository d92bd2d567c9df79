"""The catalogue of the root coordinator with an alias, while rows are written by it.

The real catalogue, its versions, and the cache of one proxy, as in ``meta``. What the specification
of aliases says of steps is looked at here in what is stored, what the cache brings, and where rows go.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.models.protocols.meta.program.catalog import CatalogProgram
from tidemark.models.protocols.meta.refinement import NAME
from tidemark.models.simulation.world.process import Process

ALIAS = "alias"
OTHER = "others"
POINTS = "an_alias_points_to_a_collection"
"""Claim id: what is stored of an alias is the number of a collection that is stored, and was not dropped."""
ONCE = "a_name_is_given_once"
"""Claim id: no collection's name becomes an alias while it exists, and no alias a collection's name."""
BRINGS = "a_name_brings_what_it_has_meant"
"""Claim id: a lookup brings a collection that its name has meant at some time since it began, and nothing
only if there was no such alias at some time since."""
ITS_ALIAS = "a_row_goes_where_its_alias_points"
"""Claim id: no row has a greater timestamp than a change of the alias that it does not know."""


class AliasProgram(CatalogProgram):
    """One coordinator and one proxy; there are two collections, and an alias of the first.

    Args:
        calls: as in ``CatalogProgram``, and ``create_alias`` (of the first collection), ``alter_alias`` (to
            the second), ``drop_alias``, ``create_under_alias`` (a collection).
        facts: as in ``CatalogProgram``. The rows are written by the alias.
    """

    claims = (*CatalogProgram.claims, POINTS, ONCE, BRINGS, ITS_ALIAS)

    def __init__(self, *, calls: Sequence[Sequence[str]], **facts: Any) -> None:
        super().__init__(calls=calls, **facts)
        self.stored[OTHER] = CollectionVersion(
            OTHER, 2, "", number=2, created=2, channels=("c2v0",), changed=2
        )
        self.stored[ALIAS] = CollectionVersion(ALIAS, 3, "", number=1, changed=3, alias_of=NAME)
        self.messages.append(("c2v0", 2, "create", 2))
        self.reserved, self.given = 3, 3
        self.named: list[int] = [1]
        self.pointed: list[tuple[int, int]] = [(3, 3)]

    async def _ask(self, call: str) -> CollectionVersion:
        match call:
            case "create_alias":
                return await self.catalog.create_alias(ALIAS, NAME)
            case "alter_alias":
                return await self.catalog.alter_alias(ALIAS, OTHER)
            case "drop_alias":
                return await self.catalog.drop_alias(ALIAS)
            case "create_under_alias":
                return await self.catalog.create(ALIAS, shards=self.shards)
        return await super()._ask(call)

    def _answered(self, call: str, record: CollectionVersion) -> None:
        if record.name == NAME:
            super()._answered(call, record)
        else:
            self.outcomes.append(f"{call} {record.version}")

    async def _write(self, process: Process) -> None:
        """Rows as the proxy's write tasks make them, by the alias."""
        while self.written < self.writes:
            await process.point("writer.come")
            self.written += 1
            under_way = self.catalog.meta.change is not None
            since = max(0, len(self.named) - 1 - under_way)
            known = await self.cache.resolve(ALIAS)
            found = known.number if known.exists else 0
            if found not in self.named[since:]:
                self.wrong = f"{BRINGS}: collection {found}, of {self.named[since:]}"
            if not known.exists:
                continue
            ts = await self.alloc(1)
            if (await self.cache.resolve(ALIAS)).version == known.version:
                await self.world.operation(f"row {ts}", partial(self._append_row, known, ts))

    def _compare(self) -> None:
        super()._compare()
        for _, version, ts in self.rows:
            for at, changed in self.pointed:
                if ts > at and version < changed:
                    self.wrong = f"{ITS_ALIAS}: row {ts} of version {version}, changed at {at} ({changed})"

    def take_stock(self, stored: dict[str, CollectionVersion]) -> None:
        """The store holds something else from now on: by name the versions."""
        for name, before in self.stored.items():
            after = stored[name]
            if (before.exists and after.is_alias) or (before.is_alias and after.exists):
                self.wrong = f"{ONCE}: {before} and then {after}"
        before, after = self.stored[ALIAS], stored[ALIAS]
        if after.is_alias:
            target = stored[after.alias_of]
            if not target.exists or target.number != after.number:
                self.wrong = f"{POINTS}: {after} and {target}"
        if after.version != before.version:
            self.named.append(after.number if after.is_alias else 0)
        if after.changed and after != before and after.alias_of:
            self.pointed.append((after.changed, after.version))
        super().take_stock(stored)
        self._compare()

    def check_final(self) -> str | None:
        """As in ``CatalogProgram``, and the last change of the alias has its timestamp."""
        if self.wrong is None and not self.stored[ALIAS].changed:
            return f"a_change_that_is_stored_is_finished: {self.stored[ALIAS]}"
        return super().check_final()

    def declared(self) -> Any:
        """Return the mutable data that influence what happens next."""
        return super().declared(), tuple(self.named), tuple(self.pointed)
