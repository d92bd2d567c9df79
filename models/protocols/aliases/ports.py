"""The catalogue with an alias over its real store in SQLite: each statement is a step, and the coordinator
may die between. What must be so is that of ``program``, and of ``meta.real_catalog``.
"""

from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.models.protocols.aliases.program import AliasProgram
from tidemark.models.protocols.meta.ports import RealCatalogProgram


class RealAliasProgram(RealCatalogProgram, AliasProgram):
    """One coordinator and one proxy; there are two collections, and an alias of the first."""

    def take_stock(self, stored: dict[str, CollectionVersion]) -> None:
        """As in ``AliasProgram``, in the order in which names were stored first: the file has another one."""
        names = dict.fromkeys((*self.stored, *stored))
        super().take_stock({name: stored[name] for name in names if name in stored})
