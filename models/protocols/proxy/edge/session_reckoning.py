"""What a host has to do, from what it asks and is told: a second description, beside the real host."""

from __future__ import annotations

from collections.abc import Callable

ONE_AFTER_THE_OTHER = "one_proxy_after_the_other"
"""Claim id: a session is begun at once when none is open and the proxy of the last one has stopped. Its proxy
is started, is the present one while the session lasts, and is stopped at once when it has ended."""
RENEWED_IN_TIME = "a_session_is_renewed_in_time"
"""Claim id: a session is renewed a quarter of its lease after it began or was renewed, and only then."""
CALLERS_GET_THE_PRESENT_ONE = "callers_get_the_proxy_that_serves"
"""Claim id: whoever asks for the proxy is told the present one, as soon as it serves."""
IT_FAILS = "what_fails_ends_the_host"
"""Claim id: a failure of proxy or session store ends the host with this failure, once the proxy has stopped.
Who tells it to stop while the proxy stops does not wait for that."""

BROKEN = "broken"
FAILURE = "RuntimeError"


class SessionReckoning:
    """One host.

    Attributes:
        open: the session that lasts; 0 for none.
        callers: by number of those that have come the proxy that each was told; 0 while it waits.
        ended: the name of the error that has ended the host, empty for an order to stop; None before.
        wrong: what was seen to be wrong first.
    """

    def __init__(self, name: str, lease: float, now: Callable[[], float], *, callers: int) -> None:
        self.callers: dict[int, int] = {}
        self.open = 0
        self.ended: str | None = None
        self.wrong: str | None = None
        self._name, self._lease, self._now = name, lease, now
        self._count = callers
        self._sessions = 0
        self._made = self._started = self._serving = 0
        self._stopping = self._failed = self._told_to_stop = False
        self._registering = self._renewing = False
        self._due = 0.0

    def _is(self, claim: str, text: str) -> None:
        self.wrong = self.wrong or f"{claim}: {text}, at {self._now():g} s"

    # The session.

    def asks_for_a_session(self, name: str, lease: float) -> None:
        """A session is to begin."""
        if self.open or self._stopping or self._over:
            self._is(ONE_AFTER_THE_OTHER, "a session is asked for while another one lasts")
        if (name, lease) != (self._name, self._lease):
            self._is(ONE_AFTER_THE_OTHER, f"a session of {lease:g} s is asked for {name!r}")
        self._registering = True

    def gets_a_session(self) -> int:
        """It has begun. Its number."""
        self._sessions += 1
        self.open, self._registering = self._sessions, False
        self._due = self._now() + self._lease / 4
        return self.open

    def renews(self, source: int) -> None:
        """A session is to be renewed."""
        if source != self.open or self._renewing or self._over:
            self._is(RENEWED_IN_TIME, f"session {source} is renewed, and {self.open} is open")
        elif self._now() != self._due:
            self._is(RENEWED_IN_TIME, f"it is renewed, and that is due at {self._due:g} s")
        self._renewing = True

    def renewed(self) -> None:
        """Its lease has begun anew."""
        self._renewing = False
        self._due = self._now() + self._lease / 4

    def session_ends(self) -> None:
        """It has run out."""
        self.open, self._renewing = 0, False

    def fails(self) -> None:
        """Something is broken: the session store, or a loop of the proxy."""
        self.open, self._renewing, self._registering = 0, False, False
        self._failed = True

    def is_stopped(self) -> None:
        """The host is told to stop. An error that comes at the same moment may be what ends it."""
        self.open, self._renewing, self._registering = 0, False, False
        self._told_to_stop = True

    @property
    def _over(self) -> bool:
        return self._failed or self._told_to_stop

    # The proxy.

    def makes(self, source: int) -> None:
        """A proxy is made for a session."""
        if source != self.open or self._made == source:
            self._is(ONE_AFTER_THE_OTHER, f"a proxy is made for session {source}, and {self.open} is open")
        self._made = source

    def starts(self, source: int) -> None:
        """It is started."""
        self._started = source

    def serves(self, source: int) -> None:
        """It serves."""
        self._serving = source

    def stops(self, source: int) -> None:
        """It is told to stop."""
        if source == self.open or self._stopping:
            self._is(ONE_AFTER_THE_OTHER, f"proxy {source} is stopped in session {self.open}")
        self._stopping = True

    def has_stopped(self) -> None:
        """It has."""
        self._stopping, self._started = False, 0

    def is_told(self, caller: int, source: int) -> None:
        """A caller is told which proxy serves."""
        if not self.open or source != self.open or self._serving != source:
            self._is(CALLERS_GET_THE_PRESENT_ONE, f"caller {caller} is told proxy {source}, not {self.open}")
        self.callers[caller] = source

    def goes_round(self) -> None:
        """A caller looks again and again whether a proxy serves."""
        self._is(CALLERS_GET_THE_PRESENT_ONE, "a caller looks at the proxy again and again")

    # The end.

    def has_ended(self, failure: str) -> None:
        """The host has ended, with an error or because it was told to."""
        due = {FAILURE} if self._failed else set()
        if self._told_to_stop:
            due.add("")
        if failure not in due or (self._started and not (self._stopping and self._told_to_stop)):
            self._is(IT_FAILS, f"the host ends with {failure or 'nothing'}; due: {sorted(due)}")
        self.ended = failure

    def left(self, present: int | None) -> str | None:
        """What is wrong when a step has ended. ``present``: the host's proxy."""
        if self.wrong is None:
            self._look_at_the_proxy(present)
            self._look_at_the_rest()
        return self.wrong

    def _look_at_the_proxy(self, present: int | None) -> None:
        if present != (self.open or None):
            self._is(ONE_AFTER_THE_OTHER, f"the present proxy is {present}, in session {self.open}")
        if self.open and self._started != self.open:
            self._is(ONE_AFTER_THE_OTHER, f"proxy {self.open} is not started")
        if self._waits_for_nothing:
            self._is(ONE_AFTER_THE_OTHER, "no session is asked for")

    @property
    def _waits_for_nothing(self) -> bool:
        """Nothing is under way that the next session has to wait for."""
        return not (self.open or self._registering or self._started or self._over)

    def _look_at_the_rest(self) -> None:
        if self.open and not self._renewing and self._now() > self._due:
            self._is(RENEWED_IN_TIME, f"it was to be renewed at {self._due:g} s")
        waiting = [number for number, told in self.callers.items() if not told]
        if self.open and self._serving == self.open and waiting:
            self._is(CALLERS_GET_THE_PRESENT_ONE, f"caller {waiting[0]} waits, and proxy {self.open} serves")
        if self._over and not self._started and not self._stopping and self.ended is None:
            self._is(IT_FAILS, "the host goes on")

    def left_at_the_end(self) -> str | None:
        """What is not done although nothing can happen any more."""
        if self._over and self.ended is None:
            return f"{IT_FAILS}: the host has not ended"
        if len(self.callers) < self._count:
            return f"{CALLERS_GET_THE_PRESENT_ONE}: {len(self.callers)} callers have come"
        return self.wrong
