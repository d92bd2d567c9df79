"""What a root coordinator has to do, and when: reckoned beside it, from what it asks and what it is told.

A round is complete when each known session has reported, the DDL source among them; its least values are
ticked, as far as they go on. The DDL source reports what lies below all DDL work, each time after its pause.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.rootcoord.report import DDL_SOURCE, SourceId, TimeTickReport
from tidemark.models.protocols.common.scripted import OK

TICKS_FOLLOW_ROUNDS = "ticks_follow_rounds"
"""Claim id: what is ticked is the least of a complete round of the known sessions, if that goes on; at once
when the round before has ended."""
SESSIONS_ARE_FOLLOWED = "sessions_are_followed"
"""Claim id: what is known of sessions is what the store has told; who goes is fenced first, who is not known
is refused."""
DDL_REPORTS_IN_TIME = "ddl_reports_come_in_time"
"""Claim id: the DDL source reports what is below all unfinished and coming DDL work, each after its pause."""
IT_ENDS = "a_broken_coordinator_ends"
"""Claim id: an error of a kind that no edge should have ends it; one that is stopped does nothing more."""

FAIL, BROKEN = "fail", "broken"


@dataclass
class Ddl:
    """What is known of the DDL work. Timestamps by task and by job; those of tasks stay until they are over.

    Attributes:
        least: of the tasks: everything up to here is over.
        last: of the jobs: likewise, or a later timestamp that was asked for when there was no job.
        job: a job is under way.
    """

    tasks: dict[str, int] = field(default_factory=dict)
    over: set[int] = field(default_factory=set)
    least: int = 0
    last: int = 0
    job: bool = False

    def ends(self, ts: int) -> None:
        """A task is over: the least moves over those at the front."""
        self.over.add(ts)
        front = sorted(self.tasks.values())
        while front and front[0] in self.over:
            self.least = front.pop(0)
            self.tasks = {name: other for name, other in self.tasks.items() if other != self.least}


class Reckoning:
    """The coordinator as it should be.

    Attributes:
        entries: by known session what it has reported since the last round.
        rounds: complete rounds that wait.
        sending: by channel the tick that is under way.
        due_sends: those that must be sent in the present step.
        due: when the next DDL report and the next dummy come.
    """

    def __init__(self, config: RootCoordConfig, channels: Sequence[str], now: Callable[[], float]) -> None:
        self.config = config
        self.now = now
        self.entries: dict[SourceId, TimeTickReport | None] = {}
        self.accepted: set[SourceId] = set()
        self.rounds: deque[Mapping[SourceId, TimeTickReport]] = deque()
        self.last = dict.fromkeys(channels, 0)
        self.synced = dict.fromkeys(channels, 0)
        self.loaded: set[str] = set()
        self.sending: dict[str, int] = {}
        self.due_sends: dict[str, int] = {}
        self.due: dict[str, float] = {}
        self.ddl = Ddl()
        self.line: list[tuple[str, SourceId, TimeTickReport | None]] = []
        self.fences: SourceId | None = None
        self.fencing = False
        self.told: dict[int, bool] = {}
        """By identity of a report whether it must be accepted."""
        self.revision = 0
        self.broken = False
        self.stopped = False
        self.wrong: str | None = None

    def complain(self, claim: str, words: str) -> None:
        """Note what is wrong, unless it is broken: then anything may be left undone."""
        if not self.broken or claim == IT_ENDS:
            self.wrong = self.wrong or f"{claim}: at {self.now():g}: {words}"

    def asks(self, what: str) -> None:
        """Something is asked of an edge."""
        if self.stopped:
            self.complain(IT_ENDS, f"a coordinator that is stopped asks for {what}")

    # The beginning.

    def loads(self, channel: str, ts: int) -> None:
        """The last tick of a channel is read."""
        if self.entries:
            self.complain(TICKS_FOLLOW_ROUNDS, "the last ticks are read after the sessions")
        self.last[channel] = self.synced[channel] = ts
        self.loaded.add(channel)

    def takes_over(self, sources: Sequence[SourceId], revision: int) -> None:
        """The live sessions are read."""
        if self.loaded != set(self.last):
            self.complain(TICKS_FOLLOW_ROUNDS, f"the last ticks of {sorted(self.loaded)} only are known")
        self.entries = dict.fromkeys((DDL_SOURCE, *sources))
        self.revision = revision
        self.due = {
            "ddl": self.now() + self.config.ddl_tick_seconds,
            "dummy": self.now() + self.config.dummy_seconds,
        }

    # Sessions and reports, one after another.

    def watches(self, after: int) -> None:
        """The next change of the sessions is asked for."""
        self.asks("a change of the sessions")
        if after != self.revision or self.line:
            self.complain(SESSIONS_ARE_FOLLOWED, f"a change after {after} is asked for, not {self.revision}")

    def hears(self, source: SourceId, revision: int, *, alive: bool) -> None:
        """A session has come or gone."""
        self.revision = revision
        self._queue(("add" if alive else "del", source, None))

    def reports(self, report: TimeTickReport) -> None:
        """A source reports."""
        self._queue(("update", report.source, report))

    def _queue(self, operation: tuple[str, SourceId, TimeTickReport | None]) -> None:
        self.line.append(operation)
        self._run_line()

    def _run_line(self) -> None:
        while self.line and not self.fencing:
            what, source, report = self.line[0]
            if what == "del":
                self.fences, self.fencing = source, True
                return
            self.line.pop(0)
            if report is not None:
                self.told[id(report)] = source in self.entries
            if what == "add":
                self.entries[source] = None
            elif source in self.entries:
                self.entries[source] = report
                self.accepted.add(source)
                self._close()

    def asks_to_fence(self, source: SourceId) -> None:
        """A source is to be fenced."""
        self.asks("a fence")
        if source != self.fences:
            self.complain(SESSIONS_ARE_FOLLOWED, f"{source} is fenced, not {self.fences}")
        self.fences = None

    def has_fenced(self) -> None:
        """The logs refuse the source from now on."""
        _, source, _ = self.line.pop(0)
        self.fencing = False
        self.entries.pop(source, None)
        self._close()
        self._run_line()

    def is_told(self, report: TimeTickReport, failure: str) -> None:
        """Who has reported is told whether that was taken; ``failure``: the name of an error, or empty."""
        right = self.told.pop(id(report), None)
        if right is None or failure != ("" if right else "UnknownSessionError"):
            self.complain(
                SESSIONS_ARE_FOLLOWED, f"{report} ends with {failure!r}; known: {list(self.entries)}"
            )

    # Rounds and ticks.

    def _close(self) -> None:
        found = {source: report for source, report in self.entries.items() if report is not None}
        if not self.entries or len(found) < len(self.entries):
            return
        if len(self.rounds) < self.config.round_capacity:
            self.rounds.append(found)
        self.entries = dict.fromkeys(self.entries)
        self._send()

    def _send(self) -> None:
        """Begin the next round when the one before has ended."""
        while self.rounds and not self.sending:
            complete = self.rounds.popleft()
            for channel, last in self.last.items():
                ts = min(report.value(channel) for report in complete.values())
                if ts > last or (ts == last and self.synced[channel] < ts):
                    self.sending[channel] = self.due_sends[channel] = ts

    def sends(self, channel: str, ts: int) -> None:
        """A tick is sent."""
        self.asks("a tick")
        if self.due_sends.pop(channel, None) != ts:
            self.complain(TICKS_FOLLOW_ROUNDS, f"{channel} is ticked at {ts}, which no round says")

    def sent(self, channel: str, answer: str) -> None:
        """The log has the tick, or has not."""
        self.last[channel] = self.sending.pop(channel)
        if answer == OK:
            self.synced[channel] = self.last[channel]
        self._send()

    # DDL.

    def comes(self, what: str) -> None:
        """A loop has waited for its pause."""
        if self.due.pop(what, None) != self.now():
            self.complain(DDL_REPORTS_IN_TIME, f"a {what} comes, which is not due")

    def answers_dummy(self, ts: int) -> None:
        """A dummy has its timestamp, or none: 0. It is over at once."""
        if ts:
            self.ddl.tasks["dummy"] = ts
            self.ddl.ends(ts)
        self.due["dummy"] = self.now() + self.config.dummy_seconds

    def answers_minimum(self, ts: int) -> None:
        """The question for the minimum of the jobs has a timestamp, or none: 0."""
        self.ddl.last = ts or self.ddl.last
        self.reports_ddl()

    def reports_ddl(self) -> None:
        """The DDL source reports the least of both kinds, if there is one."""
        least = min(self.ddl.last, self.ddl.least)
        if least:
            self._queue(("update", DDL_SOURCE, TimeTickReport(DDL_SOURCE, (), least)))
        self.due["ddl"] = self.now() + self.config.ddl_tick_seconds

    # After each step.

    def left(self, *, failure: str, accepted: Sequence[SourceId], reported: int) -> str | None:
        """Return what is wrong after a step.

        Args:
            failure: the name of the error that has ended it.
            accepted: sources that may take writes.
            reported: the last value of the DDL source.
        """
        if (failure == "RuntimeError") != self.broken or failure not in ("", "RuntimeError"):
            self.complain(IT_ENDS, f"it has failed with {failure!r}, and is said to be broken or not")
        if self.broken or self.stopped:
            return self.wrong
        late = sorted(name for name, at in self.due.items() if at < self.now())
        if late:
            self.complain(DDL_REPORTS_IN_TIME, f"{late[0]}: due, and not done")
        if self.due_sends:
            self.complain(TICKS_FOLLOW_ROUNDS, f"{self.due_sends} is not sent")
        if self.fences is not None:
            self.complain(SESSIONS_ARE_FOLLOWED, f"{self.fences} is not fenced")
        if self.told:
            self.complain(SESSIONS_ARE_FOLLOWED, "somebody who has reported is not told")
        if set(accepted) != self.accepted:
            self.complain(SESSIONS_ARE_FOLLOWED, f"{accepted} count as accepted, not {self.accepted}")
        if reported not in (0, min(self.ddl.last, self.ddl.least)) and not self.fencing:
            self.complain(DDL_REPORTS_IN_TIME, f"{reported} was reported of the DDL work: {self.ddl}")
        return self.wrong
