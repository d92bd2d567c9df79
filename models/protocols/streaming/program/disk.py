"""The log and the stores of a streaming node on a disk that may lose, keep or tear what was not forced.

One task does what a term does, one thing after the other, with the real log, store, recovery storage and
flusher: it opens the log, appends rows and a transaction, stores what is in the log, saves both checkpoints
and cuts the log. The power may fail at each step, in the next life again, and a write may fail half-way. What
is left is looked at by the next life.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tidemark.impl.errors import CorruptDataError, LogCutError, StoreError
from tidemark.impl.storage.fenced_log import FencedLog
from tidemark.impl.storage.sqlite_streaming import SqliteStreamingStore
from tidemark.impl.streaming.assembly import Assembly
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.flusher import Flusher
from tidemark.impl.streaming.recovery_storage import RecoveryStorage
from tidemark.impl.streaming.transaction_messages import Part, StreamingMessage, TransactionMessage
from tidemark.impl.streaming.values import Append, Opening, Record
from tidemark.impl.values.messages import Tick, rows_of
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.settings import FaultBudget, Settings
from tidemark.models.simulation.world.database import DatabaseFile
from tidemark.models.simulation.world.files import FileSystem
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

DURABLE = "acknowledged_appends_survive"
"""Claim id: what was acknowledged lies in the log above the start of recovery, or is stored; terms grow."""
WHOLE = "what_is_found_is_whole"
"""Claim id: no reader of log or store finds damage, or a place cut off that it needs."""
ONCE = "stored_once_or_not_at_all"
"""Claim id: in the end each row is stored once if it was acknowledged, at most once if that is not known, and
a transaction's rows all or none; the node's own records have counted them once."""
COMMITTED = "stored_with_the_timestamp_of_its_commit"
"""Claim id: rows and deletes of a transaction are stored with the timestamp of its commit, others with that
of their own message."""
REFUSED = "what_is_no_message_is_refused"
"""Claim id: a term that finds a record in the log which no node writes does not begin."""
_MACHINE = "machine"
_CHANNEL = "log_1v0"
_ROOT = Path("/data")
_PLAIN, _FIRST, _SECOND = 1, 2, 3
"""Keys: of a row without a transaction, and of the bodies of one."""
_COMMIT = 5
"""The timestamp of the commit."""
_WITHIN = 3
"""After this message, within the transaction, and at the end the records are saved, and the log is cut."""


def _body(ts: int, append: Append) -> TransactionMessage:
    append.ts = ts
    return TransactionMessage(ts, _CHANNEL, Part.BODY, 2, content=append.content())


SCRIPT: Sequence[StreamingMessage] = (
    Append(_CHANNEL, ((_PLAIN, _PLAIN, ""),), ts=1).content(),
    TransactionMessage(2, _CHANNEL, Part.BEGIN, until=100),
    _body(3, Append(_CHANNEL, ((_FIRST, _FIRST, ""),))),
    _body(4, Append(_CHANNEL, deletes=(_SECOND,), level_zero=_SECOND)),
    TransactionMessage(_COMMIT, _CHANNEL, Part.COMMIT, 2),
    Tick(6),
)
"""What is appended, in this order. Each row, and the delete, is in a segment with the number of its key."""


class DiskProgram(Program):
    """One machine.

    Args:
        messages: timestamps of those of the script that are appended: a row, a transaction (2 to 5), a tick.
        crashes: budget of power failures.
        torn_writes: budget of writes that fail half-way.
        foreign: in the end a body that is neither rows nor deletes comes into the log, and a term begins.

    Attributes:
        places: by timestamp the place of each message that was acknowledged.
        tried: timestamps of those that were sent.
    """

    claims = (DURABLE, WHOLE, ONCE, COMMITTED, REFUSED)

    def __init__(
        self,
        *,
        messages: Sequence[int] = (1, 2, 3, 4, 5, 6),
        crashes: int = 0,
        torn_writes: int = 0,
        foreign: bool = False,
    ) -> None:
        self.script = [message for message in SCRIPT if message.ts in messages]
        self.settings = Settings(
            faults=FaultBudget(crashes=crashes, torn_writes=torn_writes),
            crashable=frozenset({_MACHINE} if crashes else ()),
        )
        self.places: dict[int, int] = {}
        self.tried: set[int] = set()
        self.terms: list[int] = []
        self._foreign = foreign
        self.rows: Counter[int] | None = None
        self._wrong: str | None = None

    def build(self, world: World) -> None:
        """Define the machine with its disks."""
        self.system = FileSystem(world, _MACHINE)
        self.file = DatabaseFile(world, _MACHINE)
        world.attach(self.system, machine=_MACHINE)
        world.attach(self.file, machine=_MACHINE)
        world.process(_MACHINE, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        del process
        while self._wrong is None:
            try:
                await self._live()
                if self._foreign:
                    await self._find_foreign()
            except StoreError:
                continue  # a write has failed: the next term looks at the files
            except (CorruptDataError, LogCutError) as damage:
                self._wrong = f"{WHOLE}: {damage}"
            else:
                return

    async def _live(self) -> None:
        """One term."""
        log = FencedLog(_ROOT, files=self.system.operations(), per_file=2)
        store = SqliteStreamingStore(_ROOT, database=self.file.connect())
        recovery = RecoveryStorage(store=store, log=log)
        opening = await log.begin_term()
        await recovery.load()
        stored = await store.places(recovery.start())
        self._compare(opening, recovery, await log.scan(recovery.start()))
        flusher = Flusher(
            log=log,
            store=store,
            recovery=recovery,
            stored=stored,
            clock=_NoClock(),
            config=StreamingConfig(),
            assembly=Assembly(),
        )
        for message in self.script:
            await self._append(log, opening, message)
            await self._flush(log, flusher)
            if message.ts == _WITHIN or message is self.script[-1]:
                await recovery.persist()
        self._finish(await store.messages(), recovery)

    async def _find_foreign(self) -> None:
        log, later = (FencedLog(_ROOT, files=self.system.operations(), per_file=2) for _ in range(2))
        opening = await log.begin_term()
        tick: Any = Tick(7)
        await log.append(opening.term, 0, TransactionMessage(7, _CHANNEL, Part.BODY, 2, content=tick))
        with suppress(CorruptDataError):
            await later.begin_term()
            self._wrong = f"{REFUSED}: a term begins over a body that is a tick"

    async def _append(self, log: FencedLog, opening: Opening, message: StreamingMessage) -> None:
        """Append a message once. A transaction goes on only if all of it so far was acknowledged."""
        if message.ts in self.tried and not isinstance(message, Tick):
            return
        mine = [one.ts for one in self.script if isinstance(one, TransactionMessage) and one.ts < message.ts]
        if isinstance(message, TransactionMessage) and any(ts not in self.places for ts in mine):
            return
        self.tried.add(message.ts)
        self.places[message.ts] = await log.append(opening.term, 0, message)

    async def _flush(self, log: FencedLog, flusher: Flusher) -> None:
        """Store what is in the log, and save the flusher's checkpoint."""
        for record in await log.scan(flusher.reading):
            flusher.take(record)
        await flusher.store_all()

    # What is looked at.

    def _compare(self, opening: Opening, recovery: RecoveryStorage, records: Sequence[Record]) -> None:
        """What a new term finds."""
        if self.terms and opening.term <= max(self.terms):
            self._wrong = f"{DURABLE}: term {opening.term} begins after term {max(self.terms)}"
        self.terms.append(opening.term)
        start = recovery.start()
        if records and records[0].place > start + 1:
            self._wrong = f"{WHOLE}: recovery starts behind {start}, and the log begins at {records[0].place}"
        found = {record.place: record.message.ts for record in records}
        for ts, place in self.places.items():
            if place > start and found.get(place) != ts:
                self._wrong = (
                    f"{DURABLE}: message {ts} was acknowledged at place {place}, which has {found.get(place)}"
                )

    def _finish(self, messages: Any, recovery: RecoveryStorage) -> None:
        """What is stored in the end."""
        stored = [row for together in messages.values() for one in together for row in rows_of(one)]
        rows = self.rows = Counter(row.key for row in stored)
        for row in stored:
            if row.ts != (1 if row.key == _PLAIN else _COMMIT):
                self._wrong = f"{COMMITTED}: the row {row.key} is stored with the timestamp {row.ts}"
        committed = _COMMIT in self.places
        least = {_PLAIN: 1 in self.places, _FIRST: committed, _SECOND: committed}
        most = {_PLAIN: 1 in self.tried, _FIRST: _COMMIT in self.tried, _SECOND: _COMMIT in self.tried}
        for key in (_PLAIN, _FIRST, _SECOND):
            if not least[key] <= rows[key] <= most[key]:
                self._wrong = (
                    f"{ONCE}: the row {key} is stored {rows[key]} times, {least[key]:d} to {most[key]:d}"
                )
        if rows[_FIRST] != rows[_SECOND] or +recovery.rows != +rows:
            self._wrong = f"{ONCE}: stored are {dict(rows)}, and counted {dict(recovery.rows)}"

    def observe(self) -> Observation:
        """Return what was acknowledged, and what is wrong."""
        return {_MACHINE: (tuple(sorted(self.places.items())), self._wrong)}

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """Nothing was found wrong."""
        del before, after, label
        return self._wrong

    def on_stutter(self, label: str) -> str | None:
        """Likewise."""
        del label
        return self._wrong

    def check_final(self) -> str | None:
        """The last life has come to its end, unless the machine is dead."""
        if self._wrong or self.rows is None:
            return self._wrong or f"{ONCE}: a life does not come to its end"
        return None

    def final(self) -> Hashable:
        """Return what is stored."""
        return (tuple(sorted((self.rows or {}).items())), tuple(sorted(self.places.items())))


class _NoClock:
    """Nobody waits."""

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        raise AssertionError(f"waits for {seconds} s")
