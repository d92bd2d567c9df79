"""Mutants of the packs that a data node stores, and of a node whose log fails.

The functions return the program of ``tidemark.models.protocols.dispatch.packs:packs`` with the fault in it.
"""

from __future__ import annotations

from dataclasses import replace

from tidemark.impl.broker.packs import PackReader
from tidemark.impl.stream.manager import DispatcherManager
from tidemark.impl.stream.node_dispatchers import NodeDispatchers
from tidemark.impl.stream.packs import PackSource, StreamPack, StreamPosition
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.dispatch.packs import FAILS, HOLDS, LATE, PacksProgram, packs

PACKS = "dispatch-node-packs"


class _Changed:
    """A source that changes each pack."""

    def __init__(self, source: PackSource) -> None:
        self._source = source

    async def next_pack(self) -> StreamPack:
        return self.changed(await self._source.next_pack())

    def changed(self, pack: StreamPack) -> StreamPack:
        raise NotImplementedError


class _WithoutDeletes(_Changed):
    def changed(self, pack: StreamPack) -> StreamPack:
        return replace(pack, messages=pack.inserts + pack.ddl)


class _WithoutLateOnes(_Changed):
    def changed(self, pack: StreamPack) -> StreamPack:
        return replace(pack, messages=tuple(one for one in pack.messages if one.ts > pack.begin))


class _StoresNoDeletes(PackReader):
    def _open(self, channel: ChannelName, position: StreamPosition) -> PackSource:
        return _WithoutDeletes(super()._open(channel, position))


@mutant(killer=HOLDS, source="facts 5.1: a pack holds inserts and deletes", instance=PACKS)
def deletes_are_not_stored() -> PacksProgram:
    """Only rows are stored: what was deleted comes back with the next load."""
    return packs(reader=_StoresNoDeletes)


class _LeavesLateOnesOut(PackReader):
    def _open(self, channel: ChannelName, position: StreamPosition) -> PackSource:
        return _WithoutLateOnes(super()._open(channel, position))


@mutant(killer=LATE, source="hazard 31: a message behind its tick", instance=PACKS)
def a_late_message_is_left_out() -> PacksProgram:
    """A message behind its tick is passed over without a word: the row is lost."""
    return packs(reader=_LeavesLateOnesOut)


class _HearsOfNoFailure(NodeDispatchers):
    def _manager(self, name: ChannelName) -> DispatcherManager:
        if name not in self.managers:
            self.managers[name] = self._manager_class(log=self._log, channel=name)
            self.managers[name].start()
        return self.managers[name]


@mutant(killer=FAILS, source="facts 5.2: the dispatchers of a node", instance=PACKS)
def nobody_hears_of_a_failure() -> PacksProgram:
    """A manager whose log fails is not looked after: its channels stand still, and nobody knows."""
    return packs(dispatchers=_HearsOfNoFailure)
