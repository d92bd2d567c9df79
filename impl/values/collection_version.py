"""The metadata of a collection, as the root coordinator gives them to proxies and stores."""

from dataclasses import dataclass

from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName


@dataclass(frozen=True, slots=True)
class CollectionVersion:
    """The metadata of a collection as the root coordinator had it.

    Milvus: HasCollection

    Attributes:
        name: of the collection.
        version: number of the last change of this name; an answer with a greater number is newer. No two
            changes have the same number, whatever their names.
        schema: as the coordinator stores it.
        number: of the collection; one that has the same name later has another.
        created: timestamp of its creation; 0 until every proxy knows it.
        channels: its virtual channels, by shard. None: there never was a collection of this name.
        changed: timestamp of the last change; 0 until every proxy knows it.
        gone: it was dropped.
        alias_of: the name is an alias of the collection of this name, whose number ``number`` is.
    """

    name: str
    version: int
    schema: str
    number: int = 0
    created: Timestamp = ZERO
    channels: tuple[ChannelName, ...] = ()
    changed: Timestamp = ZERO
    gone: bool = False
    alias_of: str = ""

    @property
    def title(self) -> str:
        """Its name, and its number, which distinguishes it from another one of this name."""
        return f"{self.name} (number {self.number})"

    @property
    def is_alias(self) -> bool:
        """The name is an alias."""
        return bool(self.alias_of) and not self.gone

    @property
    def exists(self) -> bool:
        """There is a collection of this name."""
        return bool(self.channels) and not self.gone

    @property
    def is_being_created(self) -> bool:
        """It is stored, and its creation has no timestamp yet."""
        return bool(self.channels) and not self.created
