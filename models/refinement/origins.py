"""What a refinement mapping does not read from the implementation: one table beside each mapping,
``ENVIRONMENT``. Which fields it reads is recorded while it runs (``tidemark show origins``).

What is read from the implementation is wrong only if the implementation is. What an adapter notes is taken on
trust: it is to be environment, or a history that the implementation does not keep.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tidemark.models.rooms import PACKAGE


@dataclass(frozen=True)
class Environment:
    """The table of one mapping. ``specification``: as "room/name:Class", by path where it can be (a module
    that is named as a text counts as loaded), or as "module:Class". ``reasons``: by variables, separated by
    commas, why they, or what beside fields of the implementation, are not read from it.
    """

    specification: str
    reasons: Mapping[str, str]

    @property
    def protocol(self) -> str:
        """The specification as "module:Class"."""
        path, separator, name = self.specification.rpartition(":")
        parts = path.split("/")
        return separator.join((".".join([PACKAGE, *parts]) if len(parts) > 1 else path, name))

    def by_variable(self) -> dict[str, str]:
        """The reason of each variable in the table; of two the later one."""
        return {name: reason for names, reason in self.reasons.items() for name in names.split(", ")}
