"""Inserts and deletes as tasks, by themselves: the shard of each key, the messages, and what becomes of a
task whose collection has changed.

The shard of a key is written out here: rows that lie in a log must be found by whoever deletes them in ten
years. It does not follow the code.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from tidemark.impl.errors import RpcError
from tidemark.impl.proxy import writes
from tidemark.impl.proxy.writes import WriteTask
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

SHARDS = "a_key_has_one_shard_for_ever"
"""Claim id: each key is written to its own shard, for each number of shards."""
MESSAGES = "a_task_has_one_message_for_each_log"
"""Claim id: its rows or keys with one segment, made when it is first sent, and the same when it is sent
again."""
CHECKED = "a_task_of_another_version_is_not_begun"
"""Claim id: a task is looked at again if it is known of which version it is, is dropped with the reason, and
is let through if nothing has changed; a defect is no reason."""

_CHANNELS = ("dml_0_7v0", "dml_1_7v1")
_KEYS = (0, 1, 2, 3, 4, 5, -1, -2)
_PLACES = {3: (1, 1, 0, 0, 1, 2, 1, 0), 2: (1, 1, 0, 0, 1, 1, 0, 0), 1: (0,) * 8}
"""By number of shards the one of each key."""
_SENT = {
    "insert": {"dml_0": '["insert",40,"dml_0_7v0",[[100,2,"c"],[100,3,"d"]]]',
               "dml_1": '["insert",40,"dml_1_7v1",[[101,0,"a"],[101,1,"b"]]]'},
    "delete": {"dml_0": '["delete",40,"dml_0_7v0",-100,[2,3]]',
               "dml_1": '["delete",40,"dml_1_7v1",-101,[0,1]]'},
}  # fmt: skip
_CHECKS: tuple[tuple[bool, bool, int | str, str], ...] = (
    (False, False, 1, "begun"), (False, True, 2, "begun"), (True, False, 2, "begun"),
    (True, True, 1, "begun"), (True, True, 2, "SchemaMismatchError"), (True, True, 0, "SchemaMismatchError"),
    (True, True, "fails", "RpcError"), (True, True, "is broken", "RuntimeError is raised"),
)  # fmt: skip
"""Whether a version is known and may be looked up; what is found, and what becomes of the task."""

SCRIPTS: tuple[Script, ...] = ({"of": "shards"}, {"of": "insert"}, {"of": "delete"}, {"of": "checks"})


class _Segments:
    """Gives each message a segment of its own."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int, bool]] = []

    def allocate(self, channel: str, rows: int, *, deletes: bool = False) -> int:
        """See SegmentSource."""
        self.asked.append((channel, rows, deletes))
        number = 99 + len(self.asked)
        return -number if deletes else number


class _Metadata:
    """Knows one collection, or fails."""

    def __init__(self, found: int | str) -> None:
        self._found = found

    async def resolve(self, name: str) -> CollectionVersion:
        """See MetaCache."""
        if self._found == "fails":
            raise RpcError("the root coordinator fails")
        if self._found == "is broken":
            raise RuntimeError("the cache is broken")
        return CollectionVersion(name, int(self._found), "")


class WriteTasks(ComparedProgram):
    """Tasks, one after the other."""

    claims = (SHARDS, MESSAGES, CHECKED)

    def __init__(self) -> None:
        super().__init__(SCRIPTS, timers=0)
        self._done = 0

    async def live(self, process: Process) -> None:
        """Compare all of them."""
        self.begun = True
        kind = self.script["of"]
        await process.point(kind)
        if kind == "shards":
            for shards, places in _PLACES.items():
                self._compare(
                    SHARDS, f"{shards} shards", tuple(writes.shard_of(key, shards) for key in _KEYS), places
                )
        elif kind == "checks":
            for known, looked_up, found, due in _CHECKS:
                await self._check(known=known, looked_up=looked_up, found=found, due=due)
        else:
            self._send(kind)

    def _send(self, kind: str) -> None:
        segments = _Segments()
        if kind == "insert":
            task = writes.insert_task(_CHANNELS, enumerate("abcd"), segments)
        else:
            task = writes.delete_task(_CHANNELS, range(4), segments)
        self._compare(MESSAGES, "made before it is sent", segments.asked, [])
        self._compare(MESSAGES, "the logs", sorted(task.channels), ["dml_0", "dml_1"])
        for ts in (40, 41):
            task.ts = ts
            for channel, text in _SENT[kind].items():
                message = task.message(channel)
                self._compare(
                    MESSAGES, channel, (message.channel, message.ts, message.payload), (channel, 40, text)
                )
        asked = [(channel, 2, kind == "delete") for channel in _CHANNELS]
        self._compare(MESSAGES, "segments", segments.asked, asked)

    async def _check(self, *, known: bool, looked_up: bool, found: int | str, due: str) -> None:
        options: dict[str, Any] = {"known": CollectionVersion("c", 1, "")} if known else {}
        if looked_up:
            options["metadata"] = _Metadata(found)
        task = WriteTask(("dml_0",), name="c", **options)
        try:
            await task.prepare()
        except Exception as error:  # noqa: BLE001  whatever it is, it is looked at
            seen = f"{type(error).__name__} is raised"
        else:
            seen = "begun" if task.error is None else type(task.error).__name__
        self._compare(CHECKED, f"{known}, {looked_up}, {found}", seen, due)
        dropped = due not in ("begun", "RuntimeError is raised")
        self._compare(CHECKED, f"{due}: it is over", task.carried_out, dropped)

    def _compare(self, claim: str, what: str, found: object, due: object) -> None:
        self._done += 1
        self.compare(claim, what, found, due)

    # What is looked at.

    def look(self) -> Hashable:
        """How many comparisons were made."""
        return (self._done, self.wrong())

    def wrong_at_the_end(self) -> str | None:
        """Something was compared."""
        return None if self._done else f"{MESSAGES}: nothing was compared"


def tasks() -> WriteTasks:
    """Return the program of all scripts."""
    return WriteTasks()
