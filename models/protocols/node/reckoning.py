"""What a data node has to do, and when: reckoned beside it, from what it asks and what it is told.

Each question to an edge, and each pause, is due or it is not: the reckoning says which are due in the present
step, and takes up the answers. Rows are known by their timestamps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.types import Pack
from tidemark.models.protocols.common.scripted import OK
from tidemark.models.protocols.node.channel import Channel, Task
from tidemark.models.protocols.node.rounds import NODE, Rounds

DUE_IS_ASKED = "what_is_due_is_asked"
"""Claim id: what is to be written, recorded, reported or waited for is asked at once, and nothing else is."""
CALLS_ARE_ANSWERED_RIGHT = "calls_are_answered_right"
"""Claim id: who asks the node for something is told what is so."""
IT_ENDS = "a_broken_node_ends"
"""Claim id: an error that must not be gone over ends the node; one that is stopped does nothing more."""

FAIL, BROKEN, REFUSED, ALREADY = "fail", "broken", "refused", "already"
SESSION = 4
Question = tuple[Hashable, ...]


class Reckoning:
    """The node as it should be.

    Attributes:
        due: what must be asked in the present step.
        channels: those that it serves.
        queues: by channel and segment the unfinished tasks; the first one is under way.
        failure: the name of the error that must have ended it; empty if none.
    """

    def __init__(self, config: DataNodeConfig, now: Callable[[], float]) -> None:
        self.config = config
        self.now = now
        self.due: list[Question] = []
        self.channels: dict[str, Channel] = {}
        self.queues: dict[tuple[str, int], deque[Task]] = {}
        self.rounds = Rounds(config, ask=self._ask, stored=self._stored)
        self.paths: dict[str, Task] = {}
        self.failure = ""
        self.stopped = False
        self.wrong: str | None = None

    def complain(self, claim: str, words: str) -> None:
        """Note what is wrong, unless the node must end: then anything may be left undone."""
        if not self.failure or claim == IT_ENDS:
            self.wrong = self.wrong or f"{claim}: at {self.now():g}: {words}"

    def asks(self, *question: Hashable) -> None:
        """The node asks an edge, or pauses."""
        if self.stopped:
            self.complain(IT_ENDS, f"a node that is stopped asks {question}")
        elif question in self.due:
            self.due.remove(question)
        else:
            self.complain(DUE_IS_ASKED, f"{question} is not due; due are {self.due or 'nothing'}")

    def begins(self) -> None:
        """The node is started."""
        config = self.config
        self.due = [
            ("sleep", f"{NODE} checkpoint timer", config.checkpoint_tick_seconds),
            ("sleep", f"{NODE} memory check", config.memory_check_seconds),
        ]

    def wakes(self, name: str, seconds: float) -> None:
        """A pause has ended."""
        what, _, rest = name.partition(" ")
        if name == f"{NODE} checkpoint timer":
            self.rounds.begin("timer")
        elif name == f"{NODE} memory check":
            self._check_memory()
            self.due.append(("sleep", name, seconds))
        elif what == "sync":
            channel, _, segment = rest.partition(" segment ")
            self._goes_on(self.queues[channel, int(segment)][0])
        elif what == "recover":
            self.due.append(self.recovery(rest))
        else:
            self._reports_drop(name.rpartition(" ")[2])

    # Channels.

    def recovery(self, channel: str) -> Question:
        """The question for a channel."""
        return ("recover", channel, NODE, SESSION, self.config.save_rpc_timeout)

    def fails_to_recover(self, channel: str) -> None:
        """The question for a channel has no answer."""
        self.due.append(("sleep", f"recover {channel}", self.config.retry_initial_seconds))

    def recovers(self, name: str, seek: int, segments: Mapping[int, tuple[int, str]], term: int) -> str:
        """A channel is taken up; by segment its position and its end. Returns the error that must come."""
        if name in self.channels:
            return "ValueError"
        phases = {segment: ended or "growing" for segment, (_, ended) in segments.items()}
        recorded = {segment: position for segment, (position, _) in segments.items()}
        self.channels[name] = Channel(name, term, seek, recorded, phases)
        self.due.append(("next", name, seek))
        return ""

    def takes(self, name: str, pack: Pack) -> None:
        """The log has answered with a pack."""
        channel = self.channels[name]
        late = channel.takes(pack)
        if late:
            self.failure = "LateRowError"
            return
        if pack.drop:
            channel.ends = "drop"
            for segment in sorted(channel.buffers):
                channel.phases[segment] = "dropped"
                self._sync(channel, segment)
            self._ends_if_done(channel)
            return
        if not pack.close:
            for policy in channel.policies(self.config):
                for segment in channel.candidates():
                    if policy(segment):
                        self._sync(channel, segment, ends=policy == channel.is_sealed)
        self._ticks(channel, pack)
        if not pack.close:
            self.due.append(("next", name, channel.consumed))

    def _ticks(self, channel: Channel, pack: Pack) -> None:
        """The checkpoint is reported each interval, at the close, and at once when a flush waits for it."""
        checkpoint, last, now = channel.checkpoint(), channel.last_report, pack.end.ts
        passed = last is None or now - last >= self.config.checkpoint_interval_ts
        waits = bool(channel.flush_ts) and checkpoint >= channel.flush_ts
        if pack.close or passed or waits:
            channel.last_report = now
            urgent = waits and not (pack.close or passed)
            self.rounds.add(channel.name, checkpoint, channel.term, urgent=urgent)

    def _ask(self, question: Question) -> None:
        self.due.append(question)

    def _stored(self, name: str, position: int) -> None:
        """A checkpoint is stored: a flush that lies below it is over."""
        channel = self.channels.get(name)
        if channel is not None and channel.flush_ts < position:
            channel.flush_ts = 0

    def _check_memory(self) -> None:
        held = {name: channel.memory() for name, channel in self.channels.items()}
        if sum(held.values()) <= self.config.memory_watermark_bytes:
            return
        most = max(held.values())
        channel = self.channels[min(name for name, size in held.items() if size == most)]
        starts = [(start, segment) for segment, (start, _) in channel.buffers.items()]
        self._sync(channel, min(starts)[1])

    # What the node is asked.

    def asks_to_flush(self, name: str, ts: int) -> str:
        """Return the error that must come."""
        channel = self.channels.get(name)
        if channel is None:
            return "UnknownChannelError"
        channel.flush_ts = max(channel.flush_ts, ts)
        return ""

    def asks_to_seal(self, name: str, segments: Sequence[int], expires: int) -> str | bool:
        """Return the answer, or the error that must come."""
        channel = self.channels.get(name)
        if channel is None:
            return "UnknownChannelError"
        ripe = channel.consumed >= expires
        for segment in segments if ripe else ():
            if channel.phases.setdefault(segment, "growing") == "growing":
                channel.phases[segment] = "sealed"
        return ripe

    # Syncs: one after another within a segment, each until it is recorded.

    def _sync(self, channel: Channel, segment: int, *, ends: bool = False) -> None:
        task = channel.takes_out(segment, ends=ends)
        queue = self.queues.setdefault((channel.name, segment), deque())
        queue.append(task)
        if len(queue) == 1:
            self._goes_on(task)

    def _goes_on(self, task: Task) -> None:
        rows = task.rows if not task.written else ()
        self.due.append(("put", task.rows, task.segment) if rows else self._save(task))

    def _save(self, task: Task) -> Question:
        task.stage = "sending"
        return (
            *("save", task.channel, task.segment, task.term, task.position, task.rows, task.ends),
            self.config.save_rpc_timeout,
        )

    def puts(self, path: str, rows: tuple[int, ...], segment: int) -> Task:
        """An object is written. Returns the task whose it is."""
        self.asks("put", rows, segment)
        task = self.paths.get(path) or self._unwritten(rows, segment)
        if (task.rows, task.segment) != (rows, segment) or (task.path and task.path != path):
            self.complain(DUE_IS_ASKED, f"{path} is that of {task}, and gets {rows}")
        task.path = path
        self.paths[path] = task
        return task

    def _unwritten(self, rows: tuple[int, ...], segment: int) -> Task:
        heads = [queue[0] for queue in self.queues.values() if queue]
        wanted = [t for t in heads if (t.rows, t.segment) == (rows, segment) and not t.written]
        return wanted[0] if wanted else Task("", segment, 0, 0, rows, "", None)

    def has_put(self, task: Task, answer: str) -> None:
        """The object is there, or may be missing."""
        task.written = answer == OK
        if task.written:
            self.due.append(self._save(task))
        else:
            self._backs_off(task)

    def _backs_off(self, task: Task) -> None:
        config = self.config
        pause = min(config.retry_initial_seconds * 2**task.attempts, config.retry_max_seconds)
        task.attempts += 1
        self.due.append(("sleep", f"sync {task.channel} segment {task.segment}", pause))

    def saves(self, channel: str, segment: int, path: str | None) -> Task:
        """A record is asked for. Returns the task whose it is."""
        queue = self.queues.get((channel, segment))
        task = queue[0] if queue else Task(channel, segment, 0, 0, (), "", None)
        if path != (task.path or None):
            self.complain(DUE_IS_ASKED, f"{path} is recorded, {task.path} was written")
        return task

    def has_saved(self, task: Task, answer: str) -> None:
        """The coordinator has recorded it, or not; a refusal is not the end."""
        if answer not in (OK, ALREADY):
            task.stage = "uploaded"
            self._backs_off(task)
            return
        channel = self.channels[task.channel]
        channel.tasks.remove(task)
        if task.ends == "flush":
            channel.phases[task.segment] = "flushed"
        queue = self.queues[task.channel, task.segment]
        queue.popleft()
        if queue:
            self._goes_on(queue[0])
        self._ends_if_done(channel)

    # The drop.

    def _ends_if_done(self, channel: Channel) -> None:
        if channel.ends == "drop" and not channel.tasks:
            self.rounds.forget(channel.name)
            self._reports_drop(channel.name)

    def _reports_drop(self, channel: str) -> None:
        self.due.append(("drop", channel, NODE, self.config.save_rpc_timeout))

    def has_dropped(self, channel: str, answer: str) -> None:
        """The coordinator has marked the channel, or has not."""
        if answer == OK:
            del self.channels[channel]
        else:
            self.due.append(("sleep", f"{NODE} channel {channel}", self.config.retry_initial_seconds))

    # After each step.

    def left(
        self,
        *,
        failure: str,
        seen: Mapping[str, Hashable],
        queues: Collection[tuple[str, int]],
        sending: Sequence[tuple[str, int]],
    ) -> str | None:
        """Return what is wrong after a step.

        Args:
            failure: the name of the error that has ended the node.
            seen: what the node says of each channel, see ``Channel.seen``.
            queues: the channels and segments of which it has tasks.
            sending: what its present round reports, by channel and position.
        """
        if failure != self.failure:
            self.complain(IT_ENDS, f"it has failed with {failure!r}, and not with {self.failure!r}")
        if self.failure or self.stopped:
            return self.wrong
        if self.due:
            self.complain(DUE_IS_ASKED, f"{self.due[0]} is due, and not asked")
        right = {name: channel.seen() for name, channel in self.channels.items()}
        if right != seen:
            self.complain(CALLS_ARE_ANSWERED_RIGHT, f"the node holds {seen}, and should hold {right}")
        if set(queues) != {key for key, queue in self.queues.items() if queue}:
            self.complain(CALLS_ARE_ANSWERED_RIGHT, f"the node has tasks of {queues}")
        if list(sending) != self.rounds.sending:
            self.complain(CALLS_ARE_ANSWERED_RIGHT, f"{sending} is reported, not {self.rounds.sending}")
        return self.wrong
