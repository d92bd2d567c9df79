"""What a root coordinator has to do, and when: reckoned beside it, from what it asks and what it is told.

A round is complete when each known session has reported, the DDL source among them; its least values are
ticked, as far as they go on. The DDL source reports what lies below all DDL work, each time after its pause.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.values.report import DDL_SOURCE, SourceId, TimeTickReport
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
        waiting: the work that was asked for and is not over. given: by name its timestamp.
        errors: by name the error with which it must end, or empty.
    """

    tasks: dict[str, int] = field(default_factory=dict)
    over: set[int] = field(default_factory=set)
    least: int = 0
    last: int = 0
    job: bool = False
    waiting: list[str] = field(default_factory=list)
    given: dict[str, int] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def ends(self, ts: int) -> None:
        """A task is over: the least moves over those at the front."""
        self.over.add(ts)
        front = sorted(self.tasks.values())
        while front and front[0] in self.over:
            self.least = front.pop(0)
            self.tasks = {name: other for name, other in self.tasks.items() if other != self.least}


@dataclass(frozen=True)
class Seen:
    """What the coordinator says of itself.

    Attributes:
        failure: the name of the error that has ended it.
        known: the sessions, and whether each has reported.
        accepted: sources that may take writes.
        dropped: how many rounds found no room.
        reported: the last value of the DDL source.
    """

    failure: str
    known: Mapping[SourceId, bool]
    accepted: set[SourceId]
    dropped: int
    reported: int


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
        self.list_due = False
        self.watch_due = False
        self.dropped = 0
        self.told: dict[int, bool] = {}
        """By identity of a report whether it must be accepted."""
        self.reported = 0
        self.revision = 0
        self.broken = False
        self.stopped = False
        self.wrong: str | None = None

    def complain(self, claim: str, words: str) -> None:
        """Note what is wrong, unless it is broken or stopped: then anything may be left undone."""
        if not (self.broken or self.stopped) or claim == IT_ENDS:
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
        if self.entries:
            self._has_listed(sources, revision)
            return
        self.entries = dict.fromkeys((DDL_SOURCE, *sources))
        self.revision, self.watch_due = revision, True
        self.due = {
            "ddl": self.now() + self.config.ddl_tick_seconds,
            "dummy": self.now() + self.config.dummy_seconds,
        }

    # Sessions and reports, one after another.

    def watches(self, after: int) -> None:
        """The next change of the sessions is asked for."""
        self.asks("a change of the sessions")
        self.watch_due = False
        if after != self.revision or not self.entries:
            self.complain(SESSIONS_ARE_FOLLOWED, f"a change after {after} is asked for, not {self.revision}")

    def hears(self, source: SourceId, revision: int, *, alive: bool) -> None:
        """A session has come or gone."""
        self.revision = revision
        self._queue(("add" if alive else "del", source, None))

    def forgets(self) -> None:
        """The store has forgotten what comes next: the sessions have to be listed again."""
        self._queue(("list", 0, None))

    def asks_for_the_list(self) -> None:
        """The sessions are listed: at the beginning, or again."""
        self.asks("the sessions")
        if self.entries and not self.list_due:
            self.complain(SESSIONS_ARE_FOLLOWED, "the sessions are listed again, and nothing is forgotten")
        self.list_due = False

    def _has_listed(self, sources: Sequence[SourceId], revision: int) -> None:
        """Who is listed is known, and what it has reported counts."""
        self.line.pop(0)
        self.entries = {source: self.entries.get(source) for source in (DDL_SOURCE, *sources)}
        self.revision, self.watch_due, self.fencing = revision, True, False
        self._close()
        self._run_line()

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
            if what == "list":
                self.list_due = self.fencing = True
                return
            self.line.pop(0)
            if source == DDL_SOURCE:
                self.due["ddl"] = self.now() + self.config.ddl_tick_seconds
            elif report is not None:
                self.told[id(report)] = source in self.entries
            if what == "add":
                self.entries[source], self.watch_due = None, True
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
        self.fencing, self.watch_due = False, True
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
        else:
            self.dropped += 1
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

    # DDL work: tasks have timestamps side by side, in turn; jobs run one after another.

    def looks_for_the_minimum(self) -> None:
        """The loop of the DDL reports has waited for its pause. With a job under way it asks for nothing."""
        self._comes("ddl")
        if self.ddl.job:
            self._reports_ddl()
        else:
            self.due["minimum"] = self.now()

    def _comes(self, what: str) -> None:
        if self.due.pop(what, None) != self.now():
            self.complain(DDL_REPORTS_IN_TIME, f"a {what} comes, which is not due")

    def work_comes(self, kind: str, place: int) -> None:
        """DDL work begins."""
        self.ddl.waiting.append(f"{kind} {place}")

    def asks_for_a_timestamp(self, kind: str, name: str, count: int) -> None:
        """The oracle is asked: for the minimum, a dummy, a task or a job."""
        if kind in ("minimum", "dummy"):
            self.asks("a timestamp")
            self._comes(kind)
        elif name not in self.ddl.waiting or (kind == "job" and self.ddl.job):
            self.complain(DDL_REPORTS_IN_TIME, f"{name} has its turn, and should not")
        if count != 1:
            self.complain(DDL_REPORTS_IN_TIME, f"{count} timestamps are asked for")
        self.ddl.job = self.ddl.job or kind == "job"

    def has_timestamp(self, kind: str, name: str, ts: int) -> None:
        """The oracle has answered; 0 if it has failed."""
        ddl = self.ddl
        ddl.errors[name] = "" if ts else "RpcError"
        if kind == "minimum":
            ddl.last = ts or ddl.last
            self._reports_ddl()
        elif kind == "dummy":
            if ts:
                ddl.tasks[name] = ts
                ddl.ends(ts)
            self.due["dummy"] = self.now() + self.config.dummy_seconds
        elif ts:
            ddl.tasks.update({name: ts} if kind == "ddl" else {})
            ddl.given[name] = ts
        elif kind == "job":
            ddl.job = False

    def executes(self, kind: str, place: int, ts: int) -> None:
        """The work is to be appended at this timestamp."""
        if self.ddl.given.get(f"{kind} {place}") != ts:
            self.complain(DDL_REPORTS_IN_TIME, f"{kind} {place} is executed at {ts}: {self.ddl}")

    def has_executed(self, kind: str, place: int, answer: str) -> None:
        """It is appended, or will not be."""
        self.ddl.errors[f"{kind} {place}"] = {OK: "", FAIL: "RpcError"}.get(answer, "RuntimeError")
        ts = self.ddl.given[f"{kind} {place}"]
        if kind == "ddl":
            self.ddl.ends(ts)
            return
        self.ddl.job = False
        self.ddl.last = ts if answer == OK else self.ddl.last

    def work_ends(self, kind: str, place: int, failure: str, ts: int = 0) -> None:
        """Who wanted the work is told: the timestamp, or the error of the oracle or of the work."""
        name = f"{kind} {place}"
        self.ddl.waiting.remove(name)
        if failure != self.ddl.errors.get(name) or (not failure and self.ddl.given.get(name) != ts):
            self.complain(DDL_REPORTS_IN_TIME, f"{name} ends with {failure!r} at {ts}: {self.ddl}")

    def _reports_ddl(self) -> None:
        """The DDL source reports the least of both kinds, if there is one."""
        least = min(self.ddl.last, self.ddl.least)
        if least:
            self.reported = least
            self._queue(("update", DDL_SOURCE, TimeTickReport(DDL_SOURCE, (), least)))
        else:
            self.due["ddl"] = self.now() + self.config.ddl_tick_seconds

    # After each step.

    def left(self, seen: Seen) -> str | None:
        """Return what is wrong after a step."""
        failure = seen.failure
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
        if self.list_due:
            self.complain(SESSIONS_ARE_FOLLOWED, "the sessions are not listed again")
        if self.told:
            self.complain(SESSIONS_ARE_FOLLOWED, "somebody who has reported is not told")
        if self.watch_due:
            self.complain(SESSIONS_ARE_FOLLOWED, "nobody watches the sessions")
        known = {source: report is not None for source, report in self.entries.items()}
        if seen.accepted != self.accepted or seen.known != known:
            self.complain(SESSIONS_ARE_FOLLOWED, f"{seen}, not {self.accepted} and {known}")
        if seen.dropped != self.dropped:
            self.complain(TICKS_FOLLOW_ROUNDS, f"{seen.dropped} rounds count as dropped, not {self.dropped}")
        if seen.reported != self.reported:
            self.complain(DDL_REPORTS_IN_TIME, f"{seen.reported} is reported, not {self.reported}")
        return self.wrong
