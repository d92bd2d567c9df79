"""Mutants of a broker and of who follows the files of its logs: each overrides one method.

The functions return ``tidemark.models.protocols.stream.following:following``, or ``sources:sources``, with
the fault in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tidemark.impl.broker.broker import Broker, CoordinatorStreams
from tidemark.impl.broker.channel_log import ChannelLog, entries_of
from tidemark.impl.broker.messages import Entry
from tidemark.impl.broker.reader import FileEntryLog
from tidemark.impl.storage.file_log import log_file, read_lines, whole_lines
from tidemark.impl.storage.files import SYSTEM_FILES, Files
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.stream.following import DURABLE, FENCED, READ, Following, following
from tidemark.models.protocols.stream.sources import ANSWERED as HEARD
from tidemark.models.protocols.stream.sources import FOUND, Sources, sources

_FOLLOWED = "stream-log-followed"
_SOURCES = "stream-log-sources"


class _ForcesOnce(FileEntryLog):
    async def _read_on(self, channel: ChannelName) -> bool:
        file, offset = log_file(self._root, channel), self._offsets[channel]
        if not offset:
            return await super()._read_on(channel)
        lines = list(whole_lines(await self._files.read(file, offset=offset), where=file))
        for line in lines:
            self._entries[channel].extend(entries_of(line, where=file))
            self._offsets[channel] += len(line) + 1
        return bool(lines)


@mutant(killer=DURABLE, source="B54: unknown", instance=_FOLLOWED)
def a_follower_forces_only_once() -> Following:
    """What is appended after the first look is handed over before it is forced."""
    return following(reader=_ForcesOnce)


class _LooksFromTheBeginning(FileEntryLog):
    async def _read_on(self, channel: ChannelName) -> bool:
        file = log_file(self._root, channel)
        lines = await read_lines(self._files, file, 0)
        for line in lines:
            self._entries[channel].extend(entries_of(line, where=file))
        return bool(lines)


@mutant(killer=READ, source="facts 5.1", instance=_FOLLOWED)
def a_follower_begins_anew_at_each_look() -> Following:
    """Entries that were read are read again, and count as new."""
    return following(reader=_LooksFromTheBeginning)


class _FencesOne(Broker):
    async def fence(self, source: int) -> None:
        await next(iter(self.logs.values())).fence(source)


@mutant(killer=FENCED, source="hazard 11", instance=_FOLLOWED)
def a_fence_tells_one_log_only() -> Following:
    """The fence of a source is over when the first log refuses it."""
    return following(broker=_FencesOne)


class _AnyCoordinator(Broker):
    def next_coordinator(self) -> int:
        return max(log.coordinator for log in self.logs.values()) - 1


@mutant(killer=FENCED, source="B46: two coordinators", instance=_FOLLOWED)
def a_coordinator_is_new_in_one_log_only() -> Following:
    """The number of a new coordinator is below that of one log, and not of every one."""
    return following(broker=_AnyCoordinator)


class _AnyoneSettles(ChannelLog):
    async def settle(self, source: int, ts: Timestamp) -> bool:
        await super().settle(source, ts)
        return any(entry.message.ts == ts for entry in self.entries)


class _BrokerOfAnyone(Broker):
    def __init__(self, root: Path, channels: Sequence[ChannelName], *, files: Files = SYSTEM_FILES) -> None:
        super().__init__(root, channels, files=files, log_class=_AnyoneSettles)


@mutant(killer=HEARD, source="B54: unknown", instance=_SOURCES)
def a_message_of_another_source_settles() -> Sources:
    """A message counts as appended if another source has one of this timestamp in the log."""
    return sources(broker=_BrokerOfAnyone)


class _TickBeforeTheTurn(CoordinatorStreams):
    async def last_tick(self, channel: ChannelName) -> Timestamp:
        before = self._broker.log(channel).last_tick
        await super().last_tick(channel)
        return before


@mutant(killer=HEARD, source="B46: two coordinators", instance=_SOURCES)
def a_coordinator_hears_the_tick_before_its_turn() -> Sources:
    """A tick of the earlier coordinator that is on its way is not told to the new one."""
    return sources(coordinators=_TickBeforeTheTurn)


class _TakesAnyPlace(ChannelLog):
    def _add(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            super()._add([replace(entry, place=len(self.entries) + 1)])


class _BrokerOfAnyPlace(Broker):
    def __init__(self, root: Path, channels: Sequence[ChannelName], *, files: Files = SYSTEM_FILES) -> None:
        super().__init__(root, channels, files=files, log_class=_TakesAnyPlace)


@mutant(killer=FOUND, source="B54: unknown", instance=_SOURCES)
def a_log_takes_an_entry_at_any_place() -> Sources:
    """A log that is opened does not look at the places of its entries."""
    return sources(broker=_BrokerOfAnyPlace)
