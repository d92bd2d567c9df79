"""The sessions of proxies in one SQLite file, with the sources that the logs refuse.

A session is a number that never comes again, under a lease. Every change has a revision, by which the root
coordinator follows; old changes are forgotten, and a coordinator that has missed some has to list. The
coordinator fences an ended session before it is forgotten; the file remembers it, so that reopened logs
refuse the same sources.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from tidemark.impl.broker.ports import Fences
from tidemark.impl.errors import SessionEndedError, WatchCompactedError
from tidemark.impl.ports import Clock
from tidemark.impl.rootcoord.ports import SessionEvent
from tidemark.impl.storage.transactions import Database, Schema, Transactions, connection_to
from tidemark.impl.tso.ports import SteadyClock
from tidemark.impl.values.report import SourceId

SCHEMA = Schema(
    version=1,
    remedy="use a new directory",
    text="""
CREATE TABLE sessions (
    source INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    lease REAL NOT NULL,
    expires REAL NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('alive', 'ended', 'fenced'))
) STRICT;
CREATE TABLE changes (
    revision INTEGER PRIMARY KEY AUTOINCREMENT,
    source INTEGER NOT NULL,
    alive INTEGER NOT NULL
) STRICT;
""",
)
REGISTER = "INSERT INTO sessions (name, lease, expires, state) VALUES (?, ?, ?, 'alive') RETURNING source"
CHANGE = "INSERT INTO changes (source, alive) VALUES (?, ?)"
RENEW = """
UPDATE sessions SET expires = ? + lease WHERE source = ? AND state = 'alive' AND expires > ? RETURNING source
"""
END = "UPDATE sessions SET state = 'ended' WHERE source = ? AND state = 'alive' RETURNING source"
FENCE = "UPDATE sessions SET state = 'fenced' WHERE source = ?"
NEXT = "SELECT revision, source, alive FROM changes WHERE revision > ? ORDER BY revision LIMIT 1"
LAST = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'changes'"
"""The revision of the last change, even if forgotten: revisions grow by one."""
FORGET = "DELETE FROM changes WHERE revision <= ?"


class SqliteSessions:
    """A ``SessionStore`` of one process; close it at the end.

    Args:
        file: of the sessions.
        fences: the logs.
        clock: for the pauses between two looks at the leases.
        steady: counts the leases.
        keep: how many changes are remembered at least.
        database: the connection to the file.
    """

    def __init__(
        self,
        file: Path,
        *,
        fences: Fences,
        clock: Clock,
        steady: SteadyClock,
        look_seconds: float = 0.1,
        keep: int = 1000,
        database: Database | None = None,
    ) -> None:
        self._fences = fences
        self._clock = clock
        self._steady = steady
        self._look_seconds = look_seconds
        self._keep = keep
        self._changed = asyncio.Event()
        self._transactions = Transactions(
            connection_to(file, database),
            schema=SCHEMA,
            what=f"sessions in {file}",
        )

    async def start(self) -> None:
        """End the sessions of earlier processes, and make the logs refuse them.

        To be called once, by a process that knows that it is alone: no earlier one can have a session.
        """
        async with self._transactions.begin() as database:
            for (source,) in await database.execute("SELECT source FROM sessions WHERE state = 'alive'"):
                await self._end(database, source)
            over = await database.execute("SELECT source FROM sessions")
        for (source,) in over:
            await self._fences.fence(source)

    async def run(self) -> None:
        """End the sessions with expired leases, and forget old changes. Ends by cancellation."""
        while True:
            await self._clock.sleep(self._look_seconds)
            async with self._transactions.begin() as database:
                now = self._steady.monotonic()
                over = await database.execute(
                    "SELECT source FROM sessions WHERE state = 'alive' AND expires <= ?", (now,)
                )
                for (source,) in over:
                    await self._end(database, source)
                await database.execute(FORGET, (await self._last(database) - self._keep,))
            self._tell()

    async def close(self) -> None:
        """Close the file."""
        await self._transactions.close()

    # For proxies.

    async def register(self, name: str, *, lease: float) -> SourceId:
        """Begin a session under a new number."""
        async with self._transactions.begin() as database:
            expires = self._steady.monotonic() + lease
            [(source,)] = await database.execute(REGISTER, (name, lease, expires))
            await database.execute(CHANGE, (source, 1))
        self._tell()
        return int(source)

    async def renew(self, source: SourceId) -> None:
        """Begin the lease anew. Raise SessionEndedError if it has run out."""
        async with self._transactions.begin() as database:
            now = self._steady.monotonic()
            renewed = await database.execute(RENEW, (now, source, now))
        if not renewed:
            raise SessionEndedError(f"session {source} has run out; register again")

    async def end(self, source: SourceId) -> None:
        """End the session."""
        async with self._transactions.begin() as database:
            await self._end(database, source)
        self._tell()

    # For the root coordinator.

    async def take_over(self) -> tuple[Sequence[SourceId], int]:
        """See SessionStore. The logs follow one coordinator at a time by themselves."""
        async with self._transactions.begin() as database:
            live = await database.execute("SELECT source FROM sessions WHERE state = 'alive' ORDER BY source")
            over = await database.execute("SELECT source FROM sessions WHERE state = 'ended'")
            revision = await self._last(database)
        for (source,) in over:
            await self.fence(source)
        return [int(source) for (source,) in live], revision

    async def compact(self, upto: int) -> None:
        """Forget the changes up to a revision."""
        async with self._transactions.begin() as database:
            await database.execute(FORGET, (upto,))
        self._tell()

    async def next_event(self, after: int) -> SessionEvent:
        """See SessionStore."""
        while True:
            changed = self._changed
            async with self._transactions.begin() as database:
                found = await database.execute(NEXT, (after,))
                last = await self._last(database)
            following = int(found[0][0]) if found else last + 1
            if after < last and following > after + 1:
                raise WatchCompactedError(
                    f"the change {after + 1} of the sessions is forgotten, {following} is next; list again"
                )
            for revision, source, alive in found:
                return SessionEvent(int(revision), int(source), bool(alive))
            await changed.wait()

    async def fence(self, source: SourceId) -> None:
        """See SessionStore. It is noted after the logs refuse: a takeover in between fences again."""
        await self._fences.fence(source)
        async with self._transactions.begin() as database:
            await database.execute(FENCE, (source,))

    async def _end(self, database: Database, source: SourceId) -> None:
        if await database.execute(END, (source,)):
            await database.execute(CHANGE, (source, 0))

    async def _last(self, database: Database) -> int:
        [(last,)] = await database.execute(LAST)
        return int(last)

    def _tell(self) -> None:
        """Wake the tasks that wait for a change."""
        self._changed.set()
        self._changed = asyncio.Event()
