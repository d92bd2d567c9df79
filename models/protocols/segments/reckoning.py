"""What a query node has to do, reckoned from the log, from what it is asked and from what its files answer.

It is a second description of the node, beside the specification: that says what may never be, and this what
has to be at each moment. Milvus: ``internal/querynodev2/delegator`` and ``pipeline`` (facts 6.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.types import Row
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, LogMessage, Tick

ANSWERS_ARE_RIGHT = "answers_are_right"
"""Claim id: a read finds the rows of the log that are visible at its moment, each once, in order; a search
finds the nearest of them."""
READS_END_IN_TIME = "reads_end_in_time"
"""Claim id: each read ends when it has to, and an error says why."""
CALLS_SAY_WHAT_IS = "calls_say_what_is"
"""Claim id: take-up, load, trim, release and stop do what they are for, or say why not."""
NOTHING_IS_LEFT = "nothing_is_left"
"""Claim id: what is not needed any more is let go of: deletes, exclusions, sleepers, streams."""

SEARCHES = ((2, 2), (4, 1), (0, 9))
"""What is searched after each step: the place, and how many rows."""
_SOON = 1e-6


@dataclass(eq=False)
class Ask:
    """A read. ``refused``: the error that it has to get at once, if any."""

    guarantee: int
    mvcc: int | None
    keys: Sequence[int] | None
    deadline: float | None
    began: float
    refused: str = ""


@dataclass(eq=False)
class TakeUp:
    """A take-up of the channel. ``refused`` as for ``Ask``; ``failed``: how a file has failed for good."""

    refused: str = ""
    failed: str = ""
    cancelled: bool = False
    released: bool = False
    failures: dict[str, int] = field(default_factory=dict)


@dataclass(eq=False)
class Load:
    """A load. ``replay_from``: it keeps the deletes above this."""

    segment: int
    replay_from: int
    taken: TakeUp | None
    refused: str = ""
    failed: str = ""


@dataclass(frozen=True)
class Seen:
    """The node after a step. ``service`` and ``found``: None if the channel is not served.

    found: what a read at the service time would find, or how it would fail. nearest: likewise the searches.
    strange: how many keys have deletes in a segment that has no row of them. streams: how many read the log.
    """

    service: int | None = None
    found: tuple[Row, ...] | str | None = None
    nearest: tuple[tuple[Row, ...] | str, ...] = ()
    sealed: frozenset[int] = frozenset()
    growing: frozenset[int] = frozenset()
    floor: int = 0
    excluded: tuple[int, ...] = ()
    strange: int = 0
    sleepers: int = 0
    parts: int = 0
    streams: int = 0
    failure: str = ""


def visible(log: Iterable[LogMessage], moment: int, keys: Sequence[int] | None = None) -> tuple[Row, ...]:
    """The rows of the log that are visible at a moment: by timestamp and key."""
    known = tuple(log)
    deletes = [(m.ts, key) for m in known if isinstance(m, DeleteMessage) for key in m.keys]
    rows = [row for m in known if isinstance(m, InsertMessage) for row in m.rows]
    return tuple(
        row
        for row in sorted(rows, key=lambda row: (row.ts, row.key))
        if row.ts <= moment
        and (keys is None or row.key in keys)
        and not any(key == row.key and row.ts < ts <= moment for ts, key in deletes)
    )


def nearest_of(rows: Iterable[Row], place: int, limit: int) -> tuple[Row, ...]:
    """What a search finds of visible rows: one after the other, each time the nearest key that is left."""
    left: dict[int, Row] = {}
    for row in rows:
        if row.key not in left or left[row.key].ts < row.ts:
            left[row.key] = row
    found: list[Row] = []
    while left and len(found) < limit:
        found.append(left.pop(min(left, key=lambda key: (max(key, place) - min(key, place), key))))
    return tuple(found)


class Reckoning:
    """What is right, and the first thing that was ``wrong``.

    steady: all that is possible is done in one step; otherwise some point of the node lasts.
    """

    def __init__(
        self,
        config: QueryNodeConfig,
        now: Callable[[], float],
        *,
        seek: int,
        listed: Iterable[int],
        dropped: Iterable[int],
        steady: bool,
    ) -> None:
        self.wrong: str | None = None
        self.log: list[LogMessage] = []
        self.asks: list[Ask] = []
        self.loads: list[Load] = []
        self.current: TakeUp | None = None
        self.served = False
        self.broken = False
        self._config = config
        self._now = now
        self._seek = seek
        self._listed = frozenset(listed)
        self._dropped = frozenset(dropped)
        self._steady = steady
        self._sealed: set[int] = set()
        self._floor = 0
        self._service = 0
        self._moved = 0.0

    def _is(self, claim: str, words: str) -> None:
        self.wrong = self.wrong or f"{claim}: {words}"

    def goes_round(self, name: str) -> None:
        """A point of the node has come too often: what leads to it has no end."""
        self._is(CALLS_SAY_WHAT_IS, f"the node comes to {name} again and again")

    # The log grows; the channel comes and goes.

    def grows(self, message: LogMessage) -> None:
        """The log has one more message. A tick moves the service time."""
        self.log.append(message)
        if isinstance(message, Tick):
            self._moved = self._now()

    def takes_up(self) -> TakeUp:
        """The node is told to serve the channel."""
        taken = TakeUp(refused="ValueError" if self.current is not None else "")
        if self.current is None:
            self.current, self.served = taken, False
            self._sealed, self._floor, self._service = set(), 0, self._seek
        return taken

    def file_answers(self, caller: TakeUp | Load, segment: int, path: str, error: str) -> None:
        """A file that cannot be read: of a listed segment it is asked for again, some times."""
        if isinstance(caller, TakeUp) and caller.failed:
            self._is(CALLS_SAY_WHAT_IS, f"{path} is read although the channel could not be taken up")
        if segment in self._dropped:
            self._is(CALLS_SAY_WHAT_IS, f"{path} is read, and the segment is dropped")
        if not error:
            return
        if isinstance(caller, TakeUp) and error == "StoreError" and segment in self._listed:
            caller.failures[path] = caller.failures.get(path, 0) + 1
            if caller.failures[path] < self._config.load_attempts:
                return
        caller.failed = error

    def taken_up(self, taken: TakeUp, error: str) -> None:
        """The call has ended."""
        left = "ReplicaClosedError" if taken.released else ""
        wanted = {taken.refused or ("CancelledError" if taken.cancelled else taken.failed or left)}
        if taken.released and taken.failed:
            wanted.add(left)
        if error not in wanted:
            self._is(CALLS_SAY_WHAT_IS, f"a take-up has ended with {error!r}, and not with {wanted}")
        if taken is not self.current:
            return
        if error:
            self.current, self.served = None, False
        else:
            self.served, self._moved = True, self._now()
            self._sealed |= self._listed

    def releases(self) -> None:
        """The channel is to be served no more."""
        if self.current is not None:
            self.current.released = True
        self.current, self.served = None, False

    def released(self, streams: int) -> None:
        """The release has ended."""
        if streams and self.current is None:
            self._is(NOTHING_IS_LEFT, "the channel is released, and its log is read")

    # Loads and trims.

    def load_begins(self, segment: int, replay_from: int, *, flushed: bool) -> Load:
        """A load is asked for."""
        load = Load(segment, replay_from, self.current)
        if self.current is None:
            load.refused = "ReplicaClosedError"
        elif not flushed:
            load.refused = "ValueError"
        elif replay_from < self._floor:
            load.refused = "DeletesTrimmedError"
        else:
            self.loads.append(load)
        return load

    def load_ends(self, load: Load, error: str) -> None:
        """The call has ended."""
        if error != (load.refused or load.failed):
            self._is(
                CALLS_SAY_WHAT_IS, f"a load has ended with {error!r}, not {load.refused or load.failed!r}"
            )
        if load in self.loads:
            self.loads.remove(load)
        if not error and load.taken is self.current:
            self._sealed.add(load.segment)

    def trims(self, upto: int, error: str, kept: Iterable[int]) -> None:
        """The delete buffer was trimmed: what a load or the take-up needs stays. ``kept``: what is left."""
        if error != ("" if self.current is not None else "ReplicaClosedError"):
            self._is(CALLS_SAY_WHAT_IS, f"a trim has ended with {error!r}")
        pins = [load.replay_from for load in self.loads if load.taken is self.current]
        if self.current is not None and not self.served:
            pins.append(0)
        floor = min([upto, *pins])
        if floor > self._floor and any(ts <= floor for ts in kept):
            self._is(NOTHING_IS_LEFT, f"what lies at or below {floor} is kept after a trim")
        self._floor = max(self._floor, floor)

    # Reads.

    def asked(
        self,
        guarantee: int,
        mvcc: int | None,
        keys: Sequence[int] | None,
        deadline: float | None,
        *,
        service: int,
    ) -> Ask:
        """A read begins. ``service``: the service time now."""
        ask = Ask(guarantee, mvcc, keys, deadline, self._now())
        if not self.served:
            ask.refused = "ReplicaClosedError"
        elif self._is_too_far(guarantee, service):
            ask.refused = "LagTooLargeError"
        self.asks.append(ask)
        return ask

    def _is_too_far(self, guarantee: int, service: int) -> bool:
        return service > 0 and guarantee - service > self._config.max_lag_ts

    def _ends(self, ask: Ask) -> dict[str, float]:
        """When a read has to end without an answer, by error."""
        found: dict[str, float] = {}
        if ask.deadline is not None:
            found["RpcTimeoutError"] = ask.began + ask.deadline
        if self._config.stall_seconds is not None:
            found["ServiceTimeStalledError"] = max(ask.began, self._moved) + self._config.stall_seconds
        return found

    def answers(self, ask: Ask, answer: ShardAnswer, service: int) -> None:
        """A read has its answer. ``service``: the service time now."""
        self.asks.remove(ask)
        if ask.refused or not self.served:
            self._is(
                READS_END_IN_TIME, f"a read is answered, and not with {ask.refused or 'ReplicaClosedError'}"
            )
        if ask.mvcc is None and not ask.guarantee <= answer.moment <= service:
            self._is(ANSWERS_ARE_RIGHT, f"the moment is {answer.moment}, and the guarantee {ask.guarantee}")
        if ask.mvcc is not None and (answer.moment != ask.mvcc or service < ask.guarantee):
            self._is(ANSWERS_ARE_RIGHT, f"the moment is {answer.moment} at {service}, and not {ask.mvcc}")
        wanted = visible(self.log, answer.moment, ask.keys)
        if answer.rows != wanted:
            self._is(ANSWERS_ARE_RIGHT, f"at {answer.moment} a read finds {answer.rows}, and not {wanted}")

    def refuses(self, ask: Ask, error: str, service: int) -> None:
        """A read has failed. ``service`` as for ``asked``."""
        self.asks.remove(ask)
        now = self._now()
        if ask.refused:
            right = error == ask.refused and now < ask.began + _SOON
        elif error == "ReplicaClosedError":
            right = not self.served
        elif error == "LagTooLargeError":
            right = self._is_too_far(ask.guarantee, service)
        elif error == "ServiceTimeStalledError" and not self._steady:
            right = self.served and now >= ask.began + (self._config.stall_seconds or 0.0) - _SOON
        else:
            right = abs(self._ends(ask).get(error, -1.0) - now) < _SOON
        if not right:
            self._is(
                READS_END_IN_TIME,
                f"a read of {ask.guarantee} that began at {ask.began} gets {error!r} at {now}",
            )

    # What is left after a step.

    def left(self, seen: Seen) -> str | None:
        """Compare the node with what has to be."""
        if self.current is None:
            self._look_at_nothing(seen)
        elif seen.service is None or seen.parts < 1:
            self._is(CALLS_SAY_WHAT_IS, "the channel is not served any more")
        else:
            self._look_at_time(seen.service)
            self._look_at_memory(seen)
        if self.served:
            self._look_at_service(seen)
        if seen.failure != ("RuntimeError" if self.broken else ""):
            self._is(CALLS_SAY_WHAT_IS, f"the node has failed with {seen.failure!r}")
        if self._steady:
            self._look_at_reads()
        return self.wrong

    def _look_at_nothing(self, seen: Seen) -> None:
        if seen.service is not None or seen.parts or seen.streams:
            self._is(NOTHING_IS_LEFT, f"the channel is released, and {seen} is left")

    def _look_at_time(self, service: int) -> None:
        if service < self._service:
            self._is(ANSWERS_ARE_RIGHT, f"the service time goes back to {service}")
        self._service = max(self._service, service)
        if not self.served and service != self._seek:
            self._is(ANSWERS_ARE_RIGHT, f"the service time is {service} before the channel is taken up")
        if self.served and self._steady and not self.broken and service != self.tick():
            self._is(READS_END_IN_TIME, f"the service time is {service}, and the tick {self.tick()}")

    def tick(self) -> int:
        """The last tick of the log, or where the stream begins."""
        return max([self._seek, *(m.ts for m in self.log if isinstance(m, Tick))])

    def _look_at_memory(self, seen: Seen) -> None:
        if seen.floor != self._floor:
            self._is(NOTHING_IS_LEFT, f"deletes are kept from {seen.floor}, not from {self._floor}")
        if seen.strange or seen.streams > 1:
            self._is(NOTHING_IS_LEFT, f"{seen.strange} deletes hit no row, and {seen.streams} read the log")
        twice = seen.growing & (seen.sealed | self._listed)
        if twice:
            self._is(NOTHING_IS_LEFT, f"rows of {twice} are kept beside those of the files")
        if self.served and self._steady and any(ts < self.tick() for ts in seen.excluded) and not self.broken:
            self._is(NOTHING_IS_LEFT, f"what ends at {seen.excluded} excludes nothing at {self.tick()}")
        if self._steady and seen.sleepers != len(self.asks):
            self._is(NOTHING_IS_LEFT, f"{seen.sleepers} sleep, and {len(self.asks)} wait")

    def _look_at_service(self, seen: Seen) -> None:
        wanted = visible(self.log, self._service)
        if seen.found != wanted:
            self._is(ANSWERS_ARE_RIGHT, f"at {self._service} a read finds {seen.found}, and not {wanted}")
        nearest = tuple(nearest_of(wanted, place, limit) for place, limit in SEARCHES)
        if seen.nearest != nearest:
            self._is(ANSWERS_ARE_RIGHT, f"at {self._service} searches find {seen.nearest}, and not {nearest}")
        if seen.sealed != self._sealed:
            self._is(CALLS_SAY_WHAT_IS, f"{seen.sealed} are served from files, and not {self._sealed}")

    def _look_at_reads(self) -> None:
        now = self._now()
        for ask in self.asks:
            if not self.served or ask.refused or self._service >= ask.guarantee:
                self._is(READS_END_IN_TIME, f"a read of {ask.guarantee} waits at {self._service}")
            if self._is_too_far(ask.guarantee, self._service):
                self._is(READS_END_IN_TIME, f"a read of {ask.guarantee} waits at {self._service}: too far")
            if any(now > end + _SOON for end in self._ends(ask).values()):
                self._is(READS_END_IN_TIME, f"a read of {ask.guarantee} waits too long")
        if self.current is not None and self.current.failed and not self.served:
            self._is(CALLS_SAY_WHAT_IS, "a take-up goes on without its files")
