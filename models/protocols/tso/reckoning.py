"""What a server of the oracle has to do, and when: reckoned beside it, from what it asks and what it is told.

A server campaigns until it has the leader key. From then on it loads and saves the window, publishes, updates
and renews, each after its pause, and answers who asks, until its term is over: when its time has run out, or
when the store refuses it. Its time is counted from when the last request was sent that began the lease.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tidemark.impl.timestamp import Batch, split
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.oracle import Published
from tidemark.models.protocols.common.scripted import OK

ENDS_IN_TIME = "a_term_ends_in_time"
"""Claim id: a server answers, saves and publishes nothing once its time has run out, or its store has refused
it; it stops at its next look, says the first reason, and gives the key back."""
GOES_ON = "a_renewed_term_goes_on"
"""Claim id: a server whose lease is renewed in time does not stop, and answers."""
ASKS_IN_TIME = "the_store_is_asked_in_time"
"""Claim id: campaigns, renewals, saves and updates come after their pauses, and not otherwise."""
REFUSALS_SAY_WHY = "refusals_say_why"
"""Claim id: who asks too little, the wrong server or too much is told so."""

FAIL, LOST, TAKEN, BROKEN = "fail", "lost", "taken", "broken"
"""What the store answers beside OK: it failed; another one leads; likewise, at a campaign; an error of a kind
that no store should have."""
OUT_OF_TIME = "the lease was not renewed in time"
TOLD = "it was told to stop"


@dataclass
class Ask:
    """A call for timestamps. ``over``: the server was not to answer when it was asked."""

    count: int
    at: float
    over: bool


@dataclass
class Reckoning:
    """The server as it should be.

    Attributes:
        now: the steady clock.
        at_once: what must be asked in the present step.
        due: what must be asked, and when.
        until: when the term ends; None before the election.
        watches: when the watch looks next; None if it does not wait.
        why: the first reason for which it ended; empty before.
        stopped: it answers nothing any more.
        ends: how ``run`` ends: the name of what it raises, empty if nothing; None while it runs.
        leads: it is elected, and has not come to its end.
        window, wall, next: the end of the window that is saved, what the wall clock has shown, and the
            physical time that comes next.
        wrong: the first thing that was seen to be wrong.
    """

    config: OracleConfig
    now: Callable[[], float]
    at_once: set[str] = field(default_factory=lambda: {"campaign"})
    due: dict[str, float] = field(default_factory=dict)
    asked_at: dict[str, float] = field(default_factory=dict)
    until: float | None = None
    watches: float | None = None
    why: str = ""
    stopped: bool = False
    ends: str | None = None
    leads: bool = False
    window: int = 0
    wall: int = 0
    next: int = 0
    published: Published | None = None
    last: int = 0
    wrong: str | None = None

    def _complain(self, claim: str, words: str) -> None:
        self.wrong = self.wrong or f"{claim}: at {self.now():g}: {words}"

    # What the server asks.

    def called(self, name: str) -> None:
        """The server asks the store, or reads the wall clock for an update."""
        now = self.now()
        if name in self.at_once:
            self.at_once.remove(name)
        elif self.due.get(name) == now:
            del self.due[name]
        elif name in ("load", "save", "clock") and self.is_over():
            self._complain(ENDS_IN_TIME, f"{name!r} of a server whose term is over")
        else:
            self._complain(ASKS_IN_TIME, f"{name!r} is not due; due are {self._due_words()}")
        self.asked_at[name] = now

    def answered(self, name: str, answer: str, words: str) -> None:
        """The store has answered; ``words`` are those of its error."""
        if answer == BROKEN:
            self.end(TOLD if self.until is not None else "")
            self.at_once, self.ends = set(), words
            return
        getattr(self, f"_after_{name}")(answer, words)

    def _after_campaign(self, answer: str, _words: str) -> None:
        now = self.now()
        if answer == TAKEN:
            self.at_once = {"wait"}
        elif answer == FAIL:
            self.due = {"campaign": now + self.config.campaign_pause}
        else:
            self.until = self._term(self.asked_at["campaign"])
            if self.why:
                self.end(self.why)
                return
            self.leads = True
            self.at_once = {"load"}
            self.due = {"renew": now + self.config.renew_pause}

    def _term(self, asked_at: float) -> float:
        return asked_at + self.config.lease - self.config.lease_margin

    def _after_wait(self, answer: str, _words: str) -> None:
        if answer == FAIL:
            self.due = {"campaign": self.now() + self.config.campaign_pause}
        else:
            self.at_once = {"campaign"}

    def loaded(self, end: int) -> None:
        """The store has answered with the saved end of the window."""
        self.window = end
        if self.look():
            self.at_once = {"clock"}

    def _after_load(self, _answer: str, words: str) -> None:
        """The load has failed: that is no fresh start."""
        self.end(words)

    def saves(self, end: int) -> None:
        """The server asks the store to save the end of a window."""
        self.called("save")
        if end != self.next + self.config.window:
            self._complain(ASKS_IN_TIME, f"the window is saved to {end}, for {self.next} ns")

    def _after_save(self, answer: str, words: str) -> None:
        if answer == OK:
            self.window = self.next + self.config.window
            if self.look():
                self.at_once = {"publish"}
        elif answer == FAIL and self.published is not None:
            self.due["clock"] = self.now() + self.config.update_pause
        else:
            self.end(words)

    def _after_renew(self, answer: str, words: str) -> None:
        if answer == LOST:
            self.end(words)
            return
        if answer == OK:
            self.until = self._term(self.asked_at["renew"])
        self.due["renew"] = self.now() + self.config.renew_pause

    def _after_resign(self, _answer: str, _words: str) -> None:
        """Whatever the store says: that was all."""
        self.ends = ""

    # What it does by itself.

    def reads(self, wall: int) -> None:
        """The wall clock is read: for the start, or for an update."""
        self.called("clock")
        config = self.config
        self.wall = wall
        if self.published is None:
            self.next = wall if wall - self.window >= config.guard else self.window + config.guard
            self.at_once.add("save")
        else:
            self.look()

    def decides(self) -> None:
        """An update looks at what is published, and moves it on if there is a reason."""
        config, current = self.config, self.published
        if self.stopped or current is None:
            self.due["clock"] = self.now() + config.update_pause
            return
        moves = self.wall - current.physical > config.guard
        self.next = self.wall if moves else current.physical + config.step
        if not moves and current.logical <= config.max_logical // 2:
            self.due["clock"] = self.now() + config.update_pause
        else:
            self.at_once.add("save" if self.window - self.next <= config.guard else "publish")

    def publishes(self, made: Published) -> None:
        """A physical time is published."""
        if "publish" not in self.at_once or made.physical != self.next:
            self._complain(ENDS_IN_TIME, f"{made.physical} ns is published, and {self._due_words()} due")
        self.at_once.discard("publish")
        self.published = made
        self.due["clock"] = self.now() + self.config.update_pause

    def watch_sleeps(self, seconds: float) -> None:
        """The watch waits for the end of the term as it is known now, or for an update's pause."""
        assert self.until is not None
        right = max(self.until - self.now(), self.config.update_pause)
        if seconds != right:
            self._complain(ASKS_IN_TIME, f"the watch waits {seconds:g} s, not {right:g} s")
        self.watches = self.now() + right

    def watch_wakes(self) -> None:
        """The watch looks."""
        self.watches = None
        self.look()

    # The end.

    def is_over(self) -> bool:
        """Whether it may answer nothing: the term is over, and stays so once that was seen."""
        if not self.why and self.until is not None and self.now() >= self.until:
            self.why = OUT_OF_TIME
        return bool(self.why)

    def look(self) -> bool:
        """The server looks whether its term lasts. If not, it ends."""
        if self.is_over():
            self.end(OUT_OF_TIME)
            return False
        return True

    def end(self, why: str) -> None:
        """It stops, for the first reason that there was, and gives the key back."""
        self.why = self.why or why
        self.stopped = bool(self.why)
        self.leads = False
        self.at_once, self.due, self.watches = {"resign"}, {}, None

    def stops_by_order(self, why: str) -> None:
        """It is stopped. Its loops find out at their next look."""
        self.why = self.why or why
        self.stopped = True

    # Who asks.

    def asks(self, count: int) -> Ask:
        """A client asks for timestamps."""
        return Ask(count, self.now(), self.until is None or self.stopped or self.is_over())

    def refuses(self, ask: Ask, error: str) -> None:
        """The call has failed."""
        took = self.now() - ask.at
        config = self.config
        pauses = {config.tries * pause for pause in (config.unready_pause, config.overflow_pause)}
        right = {
            "NotLeaderError": ask.over or (took > 0 and self.is_over()),
            "ValueError": ask.count < 1 and not ask.over,
            "NoTimestampError": not ask.over and took in pauses,
        }
        if ask.over and (error != "NotLeaderError" or took):
            self._complain(REFUSALS_SAY_WHY, f"{error} after {took:g} s from a server that does not lead")
        elif error == "NotLeaderError" and not right[error]:
            self._complain(GOES_ON, "a server that leads says that it does not")
        elif not right.get(error, False):
            self._complain(REFUSALS_SAY_WHY, f"{ask.count} asked for: {error} after {took:g} s")

    def gives(self, ask: Ask, batch: Batch) -> None:
        """The call is answered."""
        if ask.over or self.is_over():
            self._complain(ENDS_IN_TIME, f"{batch} is given by a server whose term is over")
        made = self.published
        fits = made is not None and split(batch.first).physical == split(batch.last).physical == made.milli
        if ask.count < 1 or batch.last - batch.first + 1 != ask.count or batch.first <= self.last or not fits:
            self._complain(REFUSALS_SAY_WHY, f"{ask.count} asked for after {self.last}: {batch} given")
        self.last = batch.last

    # After each step.

    def left(self, *, stopped: str, publishes: bool, ended: str | None) -> str | None:
        """Return what is wrong after a step.

        Args:
            stopped: what the server says of its end.
            publishes: it has something published.
            ended: how ``run`` has ended, see ``ends``.
        """
        late = sorted(name for name, at in self._awaited().items() if at < self.now())
        if self.at_once or late:
            names = ", ".join([*sorted(self.at_once), *late])
            self._complain(ASKS_IN_TIME, f"{names}: due, and not done")
        if self.leads and self.watches is None:
            self._complain(ENDS_IN_TIME, "nobody watches its term")
        if stopped and not self.stopped:
            self._complain(GOES_ON, f"it stops, though its term lasts to {self.until}: {stopped}")
        if self.stopped and (publishes or self.why not in str(stopped) or not stopped):
            self._complain(ENDS_IN_TIME, f"it ends with {self.why!r}, and says {stopped!r}")
        if ended != self.ends:
            self._complain(ENDS_IN_TIME, f"it has ended with {ended!r}, and not with {self.ends!r}")
        return self.wrong

    def _awaited(self) -> dict[str, float]:
        return self.due if self.watches is None else {**self.due, "watch": self.watches}

    def _due_words(self) -> str:
        later = [f"{name} at {at:g}" for name, at in sorted(self.due.items())]
        return ", ".join([*sorted(self.at_once), *later]) or "nothing"
