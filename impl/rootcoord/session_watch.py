"""Follows the sessions of proxies in the session store."""

from tidemark.impl.errors import WatchCompactedError
from tidemark.impl.rootcoord.ports import SessionStore
from tidemark.impl.rootcoord.time_tick_sync import TimeTickSync


class SessionWatch:
    """Copies the sessions of the store to the synchroniser, a little later.

    A watch that has fallen behind the remembered changes begins again with the list. Until then no report is
    accepted: the sender's session may be unknown, or may have ended.

    revision: changes up to here have been passed on.
    """

    def __init__(self, *, sessions: SessionStore, sync: TimeTickSync) -> None:
        self.revision = 0
        self._sessions = sessions
        self._sync = sync

    async def load(self) -> None:
        """Begin with every live session, and fence all others: no round waits for these (B46)."""
        sources, self.revision = await self._sessions.take_over()
        self._sync.init_sessions(sources)

    async def run(self) -> None:
        """Pass on each change. Ends by cancellation."""
        while True:
            try:
                event = await self._sessions.next_event(self.revision)
            except WatchCompactedError:
                # The sessions of the list become the known ones; ended ones are fenced before that.
                self.revision = await self._sync.list_again(self._sessions.take_over)
                continue
            self.revision = event.revision
            if event.alive:
                await self._sync.add_session(event.source)
            else:
                await self._sync.del_session(event.source, self._sessions.fence)
