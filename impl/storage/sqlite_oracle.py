"""The oracle's window and leader key in one SQLite file: the embedded default.

Processes of one machine may share the file. The clock since the start of the machine, which all of them
share, counts the leases. After a restart of the machine that clock begins anew: a lease that seems to come
from the future has ended.
"""

import asyncio
from pathlib import Path

from tidemark.impl.errors import NotLeaderError
from tidemark.impl.storage.transactions import Database, Schema, Transactions, connection_to
from tidemark.impl.system.clocks import SystemSteadyClock
from tidemark.impl.tso.ports import NEVER_SAVED, Leadership, SteadyClock

SCHEMA = Schema(
    version=1,
    remedy="use another file",
    text="""
CREATE TABLE window (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    saved INTEGER NOT NULL
) STRICT;
CREATE TABLE leader (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    term INTEGER NOT NULL,
    server TEXT NOT NULL,
    renewed REAL NOT NULL,
    expires REAL NOT NULL
) STRICT;
""",
)
SAVE = """
INSERT INTO window VALUES (1, ?)
ON CONFLICT (only) DO UPDATE SET saved = max(saved, excluded.saved)
"""
LEAD = "INSERT OR REPLACE INTO leader VALUES (1, ?, ?, ?, ?)"
RENEW = "UPDATE leader SET renewed = ?, expires = ?"


class SqliteOracleStore:
    """The store of one process; close it at the end.

    Args:
        file: may be shared by processes of one machine.
        steady: counts the leases.
        poll: seconds between two looks at the leader key of another.
        database: the connection to the file.
    """

    def __init__(
        self,
        file: Path,
        *,
        steady: SteadyClock | None = None,
        poll: float = 0.1,
        database: Database | None = None,
    ) -> None:
        self._steady = steady if steady is not None else SystemSteadyClock()
        self._poll = poll
        self._transactions = Transactions(
            connection_to(file, database),
            schema=SCHEMA,
            what=f"oracle in {file}",
        )

    async def campaign(self, server: str, *, lease: float) -> Leadership | None:
        """See LeaderElection."""
        async with self._transactions.begin() as database:
            now = self._steady.monotonic()
            if await self._holder(database, now) is not None:
                return None
            term = await self._last_term(database) + 1
            await database.execute(LEAD, (term, server, now, now + lease))
        return Leadership(server=server, term=term, lease=lease)

    async def renew(self, leadership: Leadership) -> None:
        """See LeaderElection."""
        async with self._transactions.begin() as database:
            now = await self._check(database, leadership)
            await database.execute(RENEW, (now, now + leadership.lease))

    async def resign(self, leadership: Leadership) -> None:
        """See LeaderElection. The row stays, so that the next term has a new number."""
        async with self._transactions.begin() as database:
            now = self._steady.monotonic()
            if await self._holder(database, now) == leadership.term:
                await database.execute(RENEW, (now, now))

    async def evict(self, server: str) -> None:
        """End the lease of a server at once. Only for a caller that knows that its process has ended: a
        running server would hand out timestamps beside the next one.
        """
        async with self._transactions.begin() as database:
            now = self._steady.monotonic()
            await database.execute(f"{RENEW} WHERE server = ?", (now, now, server))

    async def wait_vacant(self) -> None:
        """See LeaderElection."""
        async with self._transactions.begin() as database:
            held = await self._holder(database, self._steady.monotonic()) is not None
        if held:
            await asyncio.sleep(self._poll)

    async def load(self) -> int:
        """See WindowStore."""
        async with self._transactions.begin() as database:
            rows = await database.execute("SELECT saved FROM window")
        return int(rows[0][0]) if rows else NEVER_SAVED

    async def save(self, end: int, leadership: Leadership) -> None:
        """See WindowStore."""
        async with self._transactions.begin() as database:
            await self._check(database, leadership)
            await database.execute(SAVE, (end,))

    async def close(self) -> None:
        """Close the file."""
        await self._transactions.close()

    async def _holder(self, database: Database, now: float) -> int | None:
        for term, renewed, expires in await database.execute("SELECT term, renewed, expires FROM leader"):
            return int(term) if renewed <= now < expires else None
        return None

    async def _last_term(self, database: Database) -> int:
        rows = await database.execute("SELECT term FROM leader")
        return int(rows[0][0]) if rows else 0

    async def _check(self, database: Database, leadership: Leadership) -> float:
        now = self._steady.monotonic()
        if await self._holder(database, now) != leadership.term:
            raise NotLeaderError(f"{leadership.server} holds no leader key in term {leadership.term}")
        return now
