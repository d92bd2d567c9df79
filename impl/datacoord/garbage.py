"""Deletes object files that no record names, and that none can name any more.

A data node writes a file first and has it recorded afterwards, so a file without a record may be waiting for
its save. The path has the term of the writer, and the coordinator records no file of an earlier term than the
present one: an earlier file without a record is garbage. Of a dropped channel every file is: its owner drops
it when its last message is recorded. A file that a reader has is kept. Garbage stays garbage, so a deletion
may come late, and be repeated after a crash.

The records of a dropped channel are deleted after its files. Its name is checked for ever: a node that does
not know of the drop may write a file at any time.

A file of a compaction, without a term in its path, is kept until its channel is dropped.
"""

import re
from collections.abc import Iterable
from typing import Protocol

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.ports import Preemption
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.types import ChannelName

_TERM = re.compile(r"/term-(\d+)-[^/]*$")


class ObjectFolder(Protocol):
    """The names in an object store. Both methods raise StoreError on failure."""

    async def paths(self, folder: str) -> tuple[str, ...]:
        """The paths of the objects below a folder, sorted. None if there is no such folder."""

    async def delete(self, path: str) -> None:
        """Delete an object. An absent one counts as deleted."""


class FileReaders:
    """The files that each reader has, by its name. State: ``given``."""

    def __init__(self) -> None:
        self.given: dict[str, tuple[str, ...]] = {}

    def lend(self, reader: str, paths: Iterable[str]) -> None:
        """The reader may read these files until it returns them, even if they are replaced."""
        self.given[reader] = (*self.given.get(reader, ()), *paths)

    def give_back(self, reader: str) -> None:
        """The reader has read them, or its position has passed the drop of their collection."""
        self.given.pop(reader, None)

    def reads(self, path: str) -> bool:
        """Whether a reader has the file."""
        return any(path in paths for paths in self.given.values())


class GarbageCollector:
    """Checks the channels of a coordinator one after another.

    Errors of all methods: StoreError. Deletions until then stay.
    """

    def __init__(
        self,
        *,
        coordinator: Coordinator,
        folder: ObjectFolder,
        readers: FileReaders,
        preemption: Preemption | None = None,
    ) -> None:
        self._coordinator = coordinator
        self._folder = folder
        self._readers = readers
        self._preemption = preemption if preemption is not None else NoPreemption()

    async def collect(self) -> None:
        """Delete the present garbage, and then the records of dropped channels without files."""
        for channel in sorted(self._coordinator.channels):
            await self.delete_files(channel)
            await self.forget(channel)

    async def delete_files(self, channel: ChannelName) -> None:
        """Delete the garbage below the name of a channel."""
        for path in await self._folder.paths(channel):
            if self.is_garbage(channel, path):
                await self._preemption.point("garbage.delete")
                await self._folder.delete(path)

    async def forget(self, channel: ChannelName) -> None:
        """Delete the records of a dropped channel without files, unless a flush of it is unconfirmed."""
        record = self._coordinator.channel(channel)
        if not record.dropped or record.collected or record.flush_requests:
            return
        if not await self._folder.paths(channel):
            await self._coordinator.collect_channel(channel)

    def is_garbage(self, channel: ChannelName, path: str) -> bool:
        """Whether no record names the file or can name it, and no reader has it."""
        if self._readers.reads(path):
            return False
        record = self._coordinator.channel(channel)
        if record.dropped:
            return True
        return self.has_passed(path, record.term) and path not in self._named(channel)

    def has_passed(self, path: str, term: int) -> bool:
        """Whether the term of the writer has ended: its saves are refused from now on."""
        found = _TERM.search(path)
        return found is not None and int(found[1]) < term

    def _named(self, channel: ChannelName) -> list[str]:
        return [
            binlog.path
            for record in self._coordinator.segments_of(channel)
            for binlog in (*record.binlogs, *record.compaction.deltas)
        ]
