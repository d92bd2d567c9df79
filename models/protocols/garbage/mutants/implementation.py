"""Mutants of the collector of garbage, each one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.garbage.program:garbage``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.garbage import FileReaders, GarbageCollector
from tidemark.impl.types import EndPosition, Owner, RecoveryAnswer
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.garbage.program import GarbageProgram, garbage

AGAIN = "garbage-impl-again"
CRASH = "garbage-impl-crash"
READERS = "garbage-impl-readers"
TWO_FILES = "garbage-impl-two-files"


class _NoTerm(GarbageCollector):
    def has_passed(self, path: str, term: int) -> bool:
        return True


@mutant(killer="refinement", source="facts 7.6, 10.2", instance=CRASH)
def files_are_deleted_before_their_record(**scenario: Any) -> GarbageProgram:
    """A file that no record names is deleted, also while its save is under way."""
    return garbage(collector=_NoTerm, **scenario)


class _RecordsFirst(GarbageCollector):
    async def collect(self) -> None:
        for channel, record in sorted(self._coordinator.channels.items()):
            if record.collected:
                continue  # there are no records to go by
            paths = await self._folder.paths(channel)
            if record.dropped:
                await self._coordinator.collect_channel(channel)
            for path in paths:
                if self.is_garbage(channel, path):
                    await self._folder.delete(path)


@mutant(killer="refinement", source="hazard 14; B30", instance=CRASH)
def records_go_before_the_files(**scenario: Any) -> GarbageProgram:
    """The records go first, and the collector goes by them: after a crash the files stay for ever."""
    return garbage(collector=_RecordsFirst, **scenario)


class _Folder(GarbageCollector):
    async def delete_files(self, channel: str) -> None:
        if not self._coordinator.channel(channel).dropped:
            await super().delete_files(channel)
            return
        await self._preemption.point("garbage.delete")
        for path in await self._folder.paths(channel):
            await self._folder.delete(path)


@mutant(killer="refinement", source="hazard 14; B31", instance=AGAIN)
def the_folder_of_a_name_is_deleted(**scenario: Any) -> GarbageProgram:
    """The folder of a dropped collection is deleted, with the files of the next one of its name."""
    return garbage(collector=_Folder, **scenario)


class Impatient(GarbageCollector):
    """Waits for nobody when the channel was dropped."""

    def is_garbage(self, channel: str, path: str) -> bool:
        """Whether the file goes."""
        return self._coordinator.channel(channel).dropped or super().is_garbage(channel, path)


@mutant(killer="refinement", source="facts 10.4", instance=READERS)
def readers_are_not_waited_for(**scenario: Any) -> GarbageProgram:
    """The files of a dropped collection are deleted under their readers."""
    return garbage(collector=Impatient, **scenario)


class LastOnly(FileReaders):
    """Knows of a reader what it was given last."""

    def lend(self, reader: str, paths: Iterable[str]) -> None:
        """Forget what it was given before."""
        self.given[reader] = tuple(paths)


@mutant(killer="refinement", source="facts 10.4", instance=TWO_FILES)
def a_reader_has_what_it_was_given_last(**scenario: Any) -> GarbageProgram:
    """What a reader was given before is forgotten when it is given more, and deleted under it."""
    return garbage(lending=LastOnly, **scenario)


class _RecoveryDrops(Coordinator):
    async def recover_channel(self, channel: str, node_id: str, session: int = 0) -> RecoveryAnswer:
        record = self.channel(channel)
        owner = Owner(node_id, record.term)
        await self._save_channel(replace(record, dropped=True, assigned_to=node_id))
        return RecoveryAnswer(channel=channel, owner=owner, seek=EndPosition(record.checkpoint))


@mutant(killer="refinement", source="facts 7.9, 10.4; B30", instance=AGAIN)
def a_recovery_drops_the_channel(**scenario: Any) -> GarbageProgram:
    """A node asks for the channel, and the coordinator drops it: a step of the protocol, of another event."""
    return garbage(coordinator=_RecoveryDrops, **scenario)
