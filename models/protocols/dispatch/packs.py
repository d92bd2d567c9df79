"""The packs that a data node stores, one after the other: which rows they hold, and what is an error.

The log is given whole, and is read at once; what each pack has to hold is written out here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from typing import Any

from tidemark.impl.broker.packs import PackReader
from tidemark.impl.errors import ImplementationError, StoreError
from tidemark.impl.stream.node_dispatchers import NodeDispatchers
from tidemark.impl.types import ChannelName, EndPosition, Pack, Row
from tidemark.impl.values.messages import DdlMessage, DeleteMessage, Entry, InsertMessage, LogMessage, Tick
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

HOLDS = "a_pack_holds_what_is_to_be_stored"
"""Claim id: rows and deletes of its channel in the order of time, and whether the collection is dropped."""
LATE = "a_message_behind_its_tick_is_an_error"
"""Claim id: a message at or below the last tick is refused, and no pack is made of it."""
FAILS = "a_log_that_fails_ends_the_node"
"""Claim id: who waits for a failure of the node is told of that of any manager, and nobody else is."""

_A, _B = "dml_0_1v0", "dml_0_2v0"
_UNREADABLE = Tick(-1)
"""The entry of a log at which it cannot be read."""


def _row(ts: int, channel: ChannelName = _A) -> InsertMessage:
    return InsertMessage(ts, channel, (Row(ts, 3, 10 * ts), Row(ts, 3, 10 * ts + 1)))


def _rows(*timestamps: int) -> tuple[tuple[int, int, int], ...]:
    return tuple((ts, 3, 10 * ts + more) for ts in timestamps for more in (0, 1))


_DELETE = DeleteMessage(2, _A, -2, (5, 6))
_DELETED = ((2, -2, 5), (2, -2, 6))


def _gets(begin: int, end: int, rows: tuple[tuple[int, int, int], ...] = (), *, drop: bool = False) -> Any:
    """Who asks for what is behind ``begin`` gets a pack up to ``end``."""
    return (begin, (begin, end, rows, drop))


_PLAIN: tuple[Script, ...] = (
    # Rows of two channels, a delete between them that came later, a pack without rows; a pack is given again.
    {"log": (_row(1), _row(3), _DELETE, _row(2, _B), Tick(4), Tick(5), _row(6), Tick(6)),
     "asked": (_gets(0, 4, (*_rows(1), *_DELETED, *_rows(3))), _gets(0, 4, (*_rows(1), *_DELETED, *_rows(3))),
               _gets(4, 5), _gets(5, 6, _rows(6)))},
    # Deletes alone.
    {"log": (_DELETE, Tick(2)), "asked": (_gets(0, 2, _DELETED),)},
    # What is stored already is passed over: the reader begins behind it, or goes on behind it.
    {"log": (_row(1), Tick(1), _row(2), Tick(2)), "asked": (_gets(1, 2, _rows(2)),)},
    {"log": (_row(1), Tick(1), _row(2), Tick(2)), "asked": (_gets(0, 1, _rows(1)), _gets(1, 2, _rows(2)))},
    {"log": (_row(1), Tick(1), Tick(2), Tick(3)), "asked": (_gets(0, 1, _rows(1)), _gets(2, 3))},
    # What creates a collection drops none; of several messages one drops.
    {"log": (DdlMessage(1, _A, "create"), Tick(1), DdlMessage(2, _B, "drop"), Tick(2)),
     "asked": (_gets(0, 1), _gets(1, 2))},
    {"log": (DdlMessage(1, _A, "create"), _row(2), DdlMessage(2, _A, "drop"), Tick(2)),
     "asked": (_gets(0, 2, _rows(2), drop=True), _gets(0, 2, _rows(2), drop=True))},
    # A source has appended what it had promised not to.
    {"log": (Tick(4), _row(4), Tick(5)), "asked": (_gets(0, 4), (4, "LateRowError"))},
    {"log": (Tick(4), _row(3), _row(5), Tick(5)), "asked": (_gets(0, 4), (4, "LateRowError"))},
    {"log": (Tick(4), _row(5), _DELETE, Tick(5)), "asked": (_gets(0, 4), (4, "LateRowError"))},
    {"log": (Tick(4), _row(4, _B), _row(5), Tick(5)), "asked": (_gets(0, 4), _gets(4, 5, _rows(5)))},
)  # fmt: skip
SCRIPTS: tuple[Script, ...] = (
    *({**one, "shared": shared} for one in _PLAIN for shared in (False, True)),
    # The log fails: at once, or behind a pack that is handed over.
    {"shared": True, "log": (_UNREADABLE,), "asked": ((0, "waits"),), "failure": "StoreError"},
    {"shared": True, "log": (_row(1), Tick(1), _UNREADABLE), "asked": (_gets(0, 1, _rows(1)), (1, "waits")),
     "failure": "StoreError"},
    {"shared": False, "log": (_UNREADABLE,), "asked": ((0, "StoreError"),)},
)  # fmt: skip


class _Log:
    """A log that is there as a whole. Who reads behind its end waits."""

    def __init__(self, messages: Sequence[LogMessage]) -> None:
        self._messages = messages

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """See EntryLog. Raises StoreError where it cannot be read."""
        if channel != "dml_0":
            raise AssertionError(f"there is no log {channel!r}")
        if place > len(self._messages):
            await asyncio.get_running_loop().create_future()
        found = self._messages[place - 1]
        if found is _UNREADABLE:
            raise StoreError("the log cannot be read")
        return (Entry(place, 0, found),)


class PacksProgram(ComparedProgram):
    """One reader of packs, alone or with the dispatchers of its node.

    Scripts have ``log``; ``shared``: there are dispatchers; ``asked``: behind what is asked for, and the
    begin, the end, the rows and the drop of what is given, or the name of an error, or "waits"; and the
    ``failure`` of the node.
    """

    claims = (HOLDS, LATE, FAILS)

    def __init__(self) -> None:
        super().__init__(SCRIPTS, timers=0)
        self._told: list[object] = []
        self._failure = ""

    async def live(self, process: Process) -> None:
        """Ask for one pack after the other."""
        log = _Log(self.script["log"])
        self.begun = True
        nodes = None
        if self.script["shared"]:
            nodes = NodeDispatchers(log)
            process.spawn(self._hear_of_a_failure(nodes), "failure")
        self._reader = PackReader(log, dispatchers=nodes)
        for after, due in self.script["asked"]:
            await process.point("ask")
            self._told.append("waits")
            self._told[-1] = await self._ask(after)
            self.compare(LATE if due == "LateRowError" else HOLDS, f"behind {after}", self._told[-1], due)
            self._compare_served(nodes)

    async def _ask(self, after: int) -> Any:
        try:
            pack = await self._reader.next_pack(_A, EndPosition(after))
        except ImplementationError as error:
            return type(error).__name__
        return _shown(pack)

    def _compare_served(self, nodes: NodeDispatchers | None) -> None:
        """A channel that is dropped is let go."""
        if nodes is not None:
            served = [channel for manager in nodes.managers.values() for channel in manager.channels()]
            dropped = isinstance(self._told[-1], tuple) and self._told[-1][-1]
            self.compare(HOLDS, "the channels that are served", served, [] if dropped else [_A])

    async def _hear_of_a_failure(self, nodes: NodeDispatchers) -> None:
        try:
            await nodes.supervisor.wait_failed()
        except ImplementationError as error:
            self._failure = type(error).__name__

    # What is looked at.

    def look(self) -> Hashable:
        """What was told."""
        return (repr(self._told), self._failure)

    def wrong_at_the_end(self) -> str | None:
        """All was answered, and a failure was told."""
        due = [one for _, one in self.script["asked"]]
        self.compare(HOLDS, "what is told", self._told, due)
        self.compare(FAILS, "the failure of the node", self._failure, self.script.get("failure", ""))
        return self.wrong()


def _shown(pack: Pack) -> tuple[int, int, tuple[tuple[int, int, int], ...], bool]:
    rows = tuple((row.ts, row.segment_id, row.key) for row in pack.rows)
    return (pack.start.ts, pack.end.ts, rows, pack.drop)


def packs() -> PacksProgram:
    """Return the program of all scripts."""
    return PacksProgram()
