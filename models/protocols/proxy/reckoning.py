"""What a proxy has to do, and when: reckoned beside it, from what it asks and what it is told.

It takes no write before a report was accepted, gives each task one timestamp, holds so many tasks and runs so
many at a time, tells a client as soon as each of its messages is in the log, refused, or given up, and a task
is over when nothing of it can come into a log any more. Ticks and reports come after their pauses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.proxy.values import DmlTask, Message
from tidemark.impl.values.report import SourceId, TimeTickReport
from tidemark.models.protocols.common.scripted import OK
from tidemark.models.protocols.proxy.calls import Calls
from tidemark.models.protocols.proxy.writes import APPENDED, REFUSED, UNDER_WAY, UNKNOWN, Write

TAKES_IN_TURN = "writes_are_taken_in_turn"
"""Claim id: a write is taken once the proxy serves, if there is room; in the order of the timestamps, and
so many at a time."""
WRITES_ARE_TOLD = "writes_are_told_what_became_of_them"
"""Claim id: each write is told, as soon as that can be, what became of each of its messages, which are what
it has asked for."""
TICKS_IN_TIME = "ticks_and_reports_come_in_time"
"""Claim id: each after its pause, whatever became of those before."""
IT_ENDS = "a_broken_proxy_ends"
"""Claim id: an error of a kind that no edge should have ends it; one that is stopped does nothing more, and
whoever waits is told, the one who closes it too; one that is closed has nothing left to do."""

FAIL, TIMEOUT, BROKEN = "fail", "timeout", "broken"
"""What is answered beside OK: a failure; no answer in time; an error of a kind that no edge should have."""
_TICK = "tick"
_POP = "pop "
REFUSED_BY_ITSELF = "WriteFailedError"
"""How a write ends that finds, once it has its timestamp, that it is not to be carried out."""
_CLOSED = "ProxyClosedError"
_OUTCOMES = {OK: APPENDED, FAIL: REFUSED, TIMEOUT: UNKNOWN}


@dataclass
class Reckoning:
    """The proxy as it should be.

    Attributes:
        writes: by name of the client.
        ticked: timestamp of the last tick; 0 before the first.
        asking: clients whose timestamp was asked for.
        followed: by channel what is reported of it, and the gate that its tasks must have passed first.
        greatest: by channel with unfinished tasks the greatest timestamp that it had at a tick.
        line: who waits for the lock of the queue, its holder first: clients that want a timestamp, the tick,
            tasks that are over.
        serves: a report was accepted.
        due: when the next tick and the next report come.
        stopped: it does nothing any more. ended: and that has come to its end.
        closing: it begins nothing any more. closed: and whoever closes it has been told that all is over.
        calls: of other components.
    """

    config: ProxyConfig
    source: SourceId
    now: Callable[[], float]
    writes: dict[str, Write] = field(default_factory=dict)
    ticked: int = 0
    line: list[str] = field(default_factory=list)
    asking: set[str] = field(default_factory=set)
    next_tick: int = 0
    followed: dict[str, tuple[int, int]] = field(default_factory=dict)
    greatest: dict[str, int] = field(default_factory=dict)
    serves: bool = False
    broken: bool = False
    stopped: bool = False
    ended: bool = False
    closing: bool = False
    closed: bool = False
    due: dict[str, float] = field(default_factory=dict)
    settled: list[Message] = field(default_factory=list)
    wrong: str | None = None

    def __post_init__(self) -> None:
        self.calls = Calls(self.config, self._complain, lambda: self.serves)

    def _complain(self, claim: str, words: str) -> None:
        if not (self.broken or self.stopped) or claim == IT_ENDS:
            self.wrong = self.wrong or f"{claim}: at {self.now():g}: {words}"

    def asks(self, what: str) -> None:
        """Something is asked of an edge."""
        if self.stopped:
            self._complain(IT_ENDS, f"a proxy that is stopped asks for {what}")

    # Ticks and reports.

    def begins(self) -> None:
        """The proxy is started."""
        self.due = {
            "tick": self.now() + self.config.tick_seconds,
            "report": self.now() + self.config.report_seconds,
        }

    def ticks(self) -> None:
        """The ticker asks for a timestamp."""
        self.asks("a timestamp")
        self._comes("tick")

    def _comes(self, what: str) -> None:
        if self.due.pop(what, None) != self.now():
            self._complain(TICKS_IN_TIME, f"a {what} comes, which is not due")

    def ticks_at(self, ts: int) -> None:
        """The ticker is answered. It looks at the tasks when none is between its question and its stamp."""
        self.next_tick = ts
        self.line.append(_TICK)
        self._advance()

    def _advance(self, gone: str = "") -> None:
        """Who has the lock next; a tick and a task that is over have it for a moment only."""
        if gone in self.line:
            self.line.remove(gone)
        while self.line and self.line[0].startswith((_TICK, _POP)):
            first = self.line.pop(0)
            if first == _TICK:
                self.ticked = self.next_tick
                self._follow()
                self.due["tick"] = self.now() + self.config.tick_seconds
            else:
                self.writes[first.removeprefix(_POP)].popped = True

    def _follow(self) -> None:
        """Follow the channels with unfinished tasks. A value moves once for a batch: when all up to its gate
        are over.
        """
        held: dict[str, list[int]] = {}
        for write in self._unfinished():
            for channel in write.channels:
                held.setdefault(channel, []).append(write.ts)
        self.greatest = {channel: ts for channel, ts in self.greatest.items() if channel in held}
        before, self.followed = self.followed, {}
        for channel, timestamps in held.items():
            least, greatest = min(timestamps), max(timestamps)
            greatest = self.greatest[channel] = max(greatest, self.greatest.get(channel, 0))
            value, gate = before.get(channel, (0, 0))
            if not value:
                value, gate = least - 1, self.ticked
            elif least > gate:
                value, gate = least - 1, min(self.ticked + self.config.tick_interval_ts, greatest)
            self.followed[channel] = (value, gate)

    def fails_to_tick(self) -> None:
        """The ticker is not answered."""
        self.due["tick"] = self.now() + self.config.tick_seconds

    def looks_for_a_report(self) -> None:
        """The loop of the reports has waited for its pause. Before the first tick there is nothing to say."""
        self._comes("report")
        if self.ticked:
            self.due["reported"] = self.now()
        else:
            self.due["report"] = self.now() + self.config.report_seconds

    def reports(self, report: TimeTickReport, deadline: float) -> None:
        """A report is sent."""
        self.asks("a report to be taken")
        self._comes("reported")
        values = {channel: value for channel, (value, _) in self.followed.items()}
        if (
            report != TimeTickReport(self.source, report.channels, self.ticked)
            or dict(report.channels) != values
        ):
            self._complain(TICKS_IN_TIME, f"{report} after a tick at {self.ticked}, with {values}")
        if deadline != self.config.report_timeout:
            self._complain(TICKS_IN_TIME, f"a report has {deadline:g} s")

    def reported(self, *, accepted: bool) -> None:
        """The report is answered."""
        if accepted and not self.serves:
            self.serves = True
            self.line += [name for name, write in self.writes.items() if write.came]
        self.due["report"] = self.now() + self.config.report_seconds

    # Writes.

    def _unfinished(self) -> list[Write]:
        return [write for write in self.writes.values() if write.ts and not write.popped]

    def _waiting(self) -> list[Write]:
        return [write for write in self.writes.values() if write.ts and not write.issued]

    def _is_full(self) -> bool:
        """So many wait as may, beside those for whom there is a worker."""
        free = self.config.parallel_tasks - len(self._running())
        return len(self._waiting()) - free >= self.config.max_tasks

    def _running(self) -> list[Write]:
        return [write for write in self._unfinished() if write.issued]

    def comes(self, name: str) -> None:
        """A client comes. It waits until the proxy serves."""
        self.writes[name].came = True
        if self.serves:
            self.line.append(name)

    def asks_for_a_timestamp(self, name: str) -> None:
        """A client's write asks for its timestamp."""
        if not self.serves or self.closing or self._is_full():
            self._complain(TAKES_IN_TURN, f"{name} is taken, with {len(self._waiting())} that wait")
        self.asking.add(name)

    def stamps(self, name: str, ts: int) -> None:
        """The oracle has answered a client's write; 0 if it has failed."""
        self.writes[name].ts = ts
        self._advance(name)

    def appends(self, message: Message, deadline: float) -> None:
        """A message is given to its log."""
        self.asks("an append")
        write = next((one for one in self.writes.values() if one.ts == message.ts), None)
        if (
            write is None
            or message.channel not in write.channels
            or message != write.message(message.channel)
        ):
            self._complain(WRITES_ARE_TOLD, f"{message} was not asked for")
            return
        if self.closing or write.check != write.checked:
            self._complain(WRITES_ARE_TOLD, f"{message} is not to be appended, or not yet")
        earlier = [other for other in self._waiting() if other.ts < write.ts]
        if message.channel in write.outcomes or earlier or deadline != self.config.produce_timeout:
            self._complain(TAKES_IN_TURN, f"{message} is appended out of turn, within {deadline:g} s")
        write.outcomes[message.channel] = ""
        if len(self._running()) > self.config.parallel_tasks:
            self._complain(TAKES_IN_TURN, f"{len(self._running())} tasks run side by side")

    def checks(self, name: str, *, fails: bool) -> None:
        """A write looks whether it is to be carried out."""
        write = self.writes[name]
        if self.closing or write.checked or not write.ts or write.issued:
            self._complain(WRITES_ARE_TOLD, f"{name} is checked, and not to be")
        write.checked = True
        if fails:
            self._refuse(write, REFUSED_BY_ITSELF)

    def _refuse(self, write: Write, error: str) -> None:
        """A worker has the write, and does not carry it out."""
        write.error = error
        write.outcomes = dict.fromkeys(write.channels, REFUSED)
        self._ends(write)

    def appended(self, message: Message, answer: str) -> None:
        """The log has answered, or has not in time."""
        write = self._write_of(message)
        write.outcomes[message.channel] = _OUTCOMES[answer]
        self._ends(write)

    def settles(self, message: Message) -> None:
        """The log is asked what became of a message."""
        self.asks("a settlement")
        write = self._write_of(message)
        if write.outcomes.get(message.channel) != UNKNOWN or message in self.settled:
            self._complain(WRITES_ARE_TOLD, f"what became of {message} is asked, and not to be")
        self.settled.append(message)

    def has_settled(self, message: Message, outcome: str) -> None:
        """The log has said what became of a message."""
        write = self._write_of(message)
        write.outcomes[message.channel] = outcome
        self._ends(write)

    def _ends(self, write: Write) -> None:
        """Once a task is over it leaves the queue, as soon as the lock is free."""
        if write.is_over():
            self.line.append(f"{_POP}{write.payload}")
            self._advance()

    def _write_of(self, message: Message) -> Write:
        return next(one for one in self.writes.values() if one.ts == message.ts)

    def is_told(self, name: str, failure: str) -> None:
        """A client hears of its write; ``failure`` is the name of an error, or empty."""
        write = self.writes[name]
        write.told = failure
        self._advance(name)
        full = self._is_full()
        if failure == "QueueFullError" and not (self.serves and full):
            self._complain(TAKES_IN_TURN, f"{name} is refused, with {len(self._waiting())} that wait")
        if failure == _CLOSED and (write.outcomes or not self.closing):
            self._complain(TAKES_IN_TURN, f"{name} is refused, and was begun, or nothing closes")
        if failure in ("", REFUSED_BY_ITSELF) and (not write.is_sent() or failure != write.error):
            self._complain(WRITES_ARE_TOLD, f"{name} hears {failure!r}: {write}")

    def has_id(self, name: str, expected: int, given: int) -> None:
        """Each request has one id, in the order in which they came: of one session, they count up."""
        if given != expected and not self.ended:
            self._complain(TAKES_IN_TURN, f"{name} has the id {given}, not {expected}")

    # The end.

    def closes(self) -> None:
        """It is to begin nothing any more, and to end when all is over."""
        self.closing = self.calls.closing = True

    def has_closed(self) -> None:
        """Whoever closes it has been told that all is over."""
        self._refuse_waiting()
        left = [write.payload for write in self._unfinished()] + self.calls.unfinished()
        if left and not self.ended:
            self._complain(IT_ENDS, f"it is closed, with {left} unfinished")
        self.closed = self.stopped = self.ended = True

    def _goes_on_closing(self) -> None:
        """When all is over it is closed."""
        self._refuse_waiting()
        if not (self.closed or self._unfinished() or self.line or self.calls.unfinished()):
            self._complain(IT_ENDS, "all is over, and it is not closed")

    def _refuse_waiting(self) -> None:
        """Whoever waits for a worker has one in its turn, and is refused."""
        while (waiting := self._waiting()) and len(self._running()) < self.config.parallel_tasks:
            self._refuse(min(waiting, key=lambda write: write.ts), _CLOSED)

    # After each step.

    def breaks(self) -> None:
        """An edge has had an error of a kind that none should have, in a loop or a worker."""
        self.broken = True

    def left(self, *, failure: str, active: set[int], open_cache: bool) -> str | None:
        """Return what is wrong after a step.

        Args:
            failure: the name of the error that has ended the proxy.
            active: timestamps of the tasks that workers have.
            open_cache: what is kept of the metadata is served.
        """
        if (failure == "RuntimeError") != self.broken or failure not in ("", "RuntimeError"):
            self._complain(IT_ENDS, f"it has failed with {failure!r}, and is said to be broken or not")
        if self.ended:
            self._has_ended(open_cache=open_cache)
        if self.broken or self.stopped:
            return self.wrong
        if self.closing:
            self._goes_on_closing()
        self.calls.left()
        late = sorted(name for name, at in self.due.items() if at < self.now() or name == "reported")
        if late:
            self._complain(TICKS_IN_TIME, f"{late[0]}: due, and not done")
        free = self.config.parallel_tasks - len(self._running())
        if free and self._waiting():
            self._complain(TAKES_IN_TURN, f"{len(self._waiting())} wait, and {free} workers are free")
        for name, write in self.writes.items():
            if write.told is None and self.line[:1] == [name] and name not in self.asking:
                self._complain(TAKES_IN_TURN, f"{name} is not taken")
            if write.is_sent() and write.told is None:
                self._complain(WRITES_ARE_TOLD, f"{name} is not told: {write.outcomes}")
            if write.issued:
                self._compare(name, write)
        if active != {write.ts for write in self._running()}:
            self._complain(TAKES_IN_TURN, f"{active} count as under way, not {self._running()}")
        return self.wrong

    def _has_ended(self, *, open_cache: bool) -> None:
        names = [name for name, write in self.writes.items() if write.came and write.told is None]
        for name in names + self.calls.unfinished():
            self._complain(IT_ENDS, f"{name} is not told that the proxy has ended")
        if self.closing and not self.closed:
            self._complain(IT_ENDS, "whoever closes it is not told that it has ended")
        if open_cache:
            self._complain(IT_ENDS, "its cache of the metadata serves on")

    def _compare(self, name: str, write: Write) -> None:
        """What the task says of itself is so."""
        if write.task is not None:
            self._compare_task(name, write, write.task)
        missing = [c for c in write.channels if write.outcomes[c] == UNKNOWN]
        if write.is_sent() and any(write.message(channel) not in self.settled for channel in missing[:1]):
            self._complain(WRITES_ARE_TOLD, f"what became of {write.message(missing[0])} is not asked")

    def _compare_task(self, name: str, write: Write, task: DmlTask) -> None:
        said = {channel: outcome.value for channel, outcome in task.outcomes.items()}
        known = {channel: outcome or UNDER_WAY for channel, outcome in write.outcomes.items()}
        right = all(outcome == APPENDED for outcome in write.outcomes.values())
        if said != known or task.succeeded != right:
            self._complain(WRITES_ARE_TOLD, f"{name} says {said}: it is {known}")
