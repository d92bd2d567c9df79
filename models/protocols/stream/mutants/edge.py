"""Mutants of the broker's log as its readers see it: each overrides one method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.stream.edge:edge``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from tidemark.impl.broker.channel_log import Append, ChannelLog
from tidemark.impl.broker.messages import Entry
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.stream.edge import EdgeProgram, edge


class _LeavesThePlaceOut(ChannelLog):
    async def read(self, place: int) -> Sequence[Entry]:
        return await super().read(place + 1)


@mutant(killer="stream.what_was_read_is_kept", source="B62: exclusive", instance="stream-edge-small")
def the_place_is_left_out(**scenario: Any) -> EdgeProgram:
    """A reader gets the entries behind the place that it asks for (B62)."""
    return edge(log=_LeavesThePlaceOut, **scenario)


class _BeginsAnew(ChannelLog):
    async def read(self, place: int) -> Sequence[Entry]:
        await super().read(place)
        return self.entries


@mutant(killer="refinement", source="facts 5.1: the seek", instance="stream-edge-small")
def the_log_begins_anew(**scenario: Any) -> EdgeProgram:
    """A reader gets the entries from the first one on, whatever place it asks for."""
    return edge(log=_BeginsAnew, **scenario)


class _WakesNobody(ChannelLog):
    def _add(self, entries: Sequence[Entry]) -> None:
        self._grown = asyncio.Event()
        super()._add(entries)


@mutant(killer="stream.every_message_is_stored", source="facts 5.1: a wait", instance="stream-edge-small")
def a_wake_up_is_lost(**scenario: Any) -> EdgeProgram:
    """The event for which readers wait is replaced before it is set."""
    return edge(log=_WakesNobody, **scenario)


class _GivesTooEarly(ChannelLog):
    async def _write(self, taken: Sequence[Append]) -> None:
        first = len(self.entries) + 1
        entries = [Entry(first + n, append.source, append.message) for n, append in enumerate(taken)]
        self._add(entries)
        await self._writer.append_line(repr(entries).encode())
        for append, entry in zip(taken, entries, strict=True):
            append.done.set_result(entry.place)


@mutant(
    killer="what_is_read_is_durable", source="facts 5.1: what was read stays", instance="stream-edge-small"
)
def what_is_not_forced_is_read(**scenario: Any) -> EdgeProgram:
    """Readers get the entries of a line that is not forced to the disk yet."""
    return edge(log=_GivesTooEarly, **scenario)
