"""Mutants of the store of sessions in one file, each as an override of one small method.

The functions return ``tidemark.models.protocols.sessions.file_calls:file_calls`` with the fault in it.
"""

from __future__ import annotations

from tidemark.impl.broker.sessions import RENEW, SqliteSessions
from tidemark.impl.errors import SessionEndedError
from tidemark.impl.rootcoord.report import SourceId
from tidemark.impl.storage.transactions import Database
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.sessions.file_calls import ANSWERS, HELD, FileCallsProgram, file_calls

CALLS = "sessions-file-calls"


class _RenewsTheLate(SqliteSessions):
    async def renew(self, source: SourceId) -> None:
        async with self._transactions.begin() as database:
            renewed = await database.execute(
                RENEW.replace(" AND expires > ?", ""),
                (self._steady.monotonic(), source),
            )
        if not renewed:
            raise SessionEndedError(f"session {source} has run out; register again")


@mutant(killer=ANSWERS, source="hazard 11: leases", instance=CALLS)
def a_file_renews_a_session_after_its_end() -> FileCallsProgram:
    """A session whose lease has run out is renewed as long as no look has noticed it."""
    return file_calls(store=_RenewsTheLate)


class _ForgetsOneLess(SqliteSessions):
    async def compact(self, upto: int) -> None:
        async with self._transactions.begin() as database:
            await database.execute("DELETE FROM changes WHERE revision < ?", (upto,))
        self._tell()


@mutant(killer=HELD, source="seed 004: service discovery", instance=CALLS)
def a_file_keeps_the_change_up_to_which_it_forgets() -> FileCallsProgram:
    """The last of the changes that are to be forgotten stays."""
    return file_calls(store=_ForgetsOneLess)


class _LastOfWhatIsLeft(SqliteSessions):
    async def _last(self, database: Database) -> int:
        [(last,)] = await database.execute("SELECT coalesce(max(revision), 0) FROM changes")
        return int(last)


@mutant(killer=ANSWERS, source="seed 004: service discovery", instance=CALLS)
def a_file_counts_the_changes_that_are_left() -> FileCallsProgram:
    """The last revision is that of the changes that are not forgotten."""
    return file_calls(store=_LastOfWhatIsLeft)
