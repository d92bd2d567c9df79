"""A proxy's read path by itself: oracle, clock and replicas answer as scripts say.

What guarantee a read has, which replica is asked what, and what its caller hears, follows from the read and
from the answers. The explored programs of ``program`` have one channel; here are several, with searches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.impl.errors import NotLeaderError, NotServableError, RpcError, RpcTimeoutError
from tidemark.impl.proxy.reads import ReadAnswer, Reader, ReaderConfig, ReadPhase, ReadTask, Replica
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.timestamp import MILLISECOND
from tidemark.impl.types import Row
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.nearest import Nearest
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

AS_PROMISED = "a_read_asks_for_what_its_level_promises"
"""Claim id: the oracle is asked by a strong read alone, and each replica is told the guarantee of the level,
the moment that the first page has of its channel, the keys and the deadline."""
ONE_AFTER_THE_OTHER = "a_replica_is_asked_when_the_one_before_it_has_refused"
"""Claim id: the replicas of each channel are asked in their order, until one answers; the others are not."""
ONE_ANSWER = "an_answer_is_of_all_channels"
"""Claim id: an answer has the rows of all channels, in their order and each once, and the moment of each; if
a channel has none, or the oracle, the caller hears the last error, and the read has failed."""
TAKEN = "a_configuration_that_cannot_be_is_refused"
"""Claim id: a grace below 0 and a deadline that is not positive are refused; the defaults are Milvus's."""
_NOW = 1_000 * MILLISECOND
_GRACE = 300 * MILLISECOND
_DEADLINE = 2.5
_STRONG = 70
_LEAVES = "leaves"
_BROKEN = "broken"
"""A fault of the program: it is no refusal, and ends the read where it is."""
_FAILURES = {
    "busy": NotServableError("busy"),
    "late": RpcTimeoutError("late"),
    "lost": RpcError("lost"),
    "no leader": NotLeaderError("no leader"),
    _BROKEN: RuntimeError("broken"),
}
_A, _B = (40, ((12, 3), (5, 9), (30, 1))), (50, ((12, 2), (41, 8)))
"""Answers: a moment, and rows as timestamp and key."""


def read(level: str, **channels: Any) -> dict[str, Any]:
    """A read; by channel what its replicas answer, one after the other."""
    return {"level": level, "channels": channels}


SCRIPTS: tuple[Script, ...] = (
    {"reads": [read(level.value, a=[_A], b=[_B]) | {"client_ts": 33} for level in ConsistencyLevel]},
    {"reads": [read("bounded", a=[_A])], "now": _GRACE - 1},
    {"plain": True, "reads": [read("strong", a=[_A], b=[_B]), read("customized", a=["busy"]),
                              read("session", a=[_B]) | {"client_ts": 8, "keys": (2, 8)}]},
    {"reads": [read("eventually", a=[_A]) | {"keys": (3, 9)}, read("customized", a=[_A]) | {"keys": ()}]},
    # Replicas that refuse, and channels that nobody serves.
    {"reads": [read("strong", a=["busy", _A], b=["late", "lost", _B, _A]), read("eventually", a=[], b=[_B]),
               read("strong", a=["late", "busy"]), read("strong", a=["busy", "late"]),
               read("strong", a=["lost"]), read("strong", a=["broken", _A])]},
    # The oracle fails.
    {"reads": [read("strong", a=[_A]) | {"alloc": "lost"}, read("strong", a=[_A]) | {"alloc": "no leader"},
               read("strong", a=[_A])]},
    # Further pages show the moments of the first one, channel by channel, whatever their level.
    {"reads": [read("strong", a=[_A], b=[_B]), read("strong", a=[_A], b=[_A]) | {"page_of": 0},
               read("bounded", b=[(50, ())]) | {"page_of": 0}, read("eventually")]},
    {"reads": [read("eventually", a=[_A]), read("strong", a=[_A], b=[_B]) | {"page_of": 0}]},
    # Searches, with a key in two channels.
    {"reads": [read("strong", a=[_A], b=[(50, ((12, 2), (41, 3)))]) | {"nearest": (2, limit)}
               for limit in (1, 2, 9)]},
    {"reads": [read("strong", a=[(50, ((12, 11), (12, 9)))]) | {"nearest": (10, 1)}]},
    # A key with two rows; keys of one timestamp, in the order of numbers.
    {"reads": [read("eventually", a=[(40, ((12, 10), (13, 9), (12, 9)))])]},
    # One row in two answers.
    {"reads": [read("eventually", a=[(40, ((12, 3), (12, 1)))], b=[(41, ((12, 3), (11, 7)))])]},
    # A caller that leaves.
    {"reads": [read("strong", a=[_A]) | {"alloc": _LEAVES}, read("strong", a=[_LEAVES, _A])]},
    *({"config": one, "refused": True}
      for one in ({"graceful_ts": -1}, {"deadline": 0.0}, {"deadline": -1.0})),
    {"config": {"graceful_ts": 0, "deadline": 0.5}, "reads": [read("bounded", a=[_A])]},
    {"config": {}, "reads": [read("bounded", a=[_A])], "now": 6_000 * MILLISECOND},
)  # fmt: skip


@dataclass(eq=False)
class Known:
    """One read: what is due, in words that are compared with what was seen."""

    asked: list[Hashable] = field(default_factory=list)
    calls: dict[str, list[Hashable]] = field(default_factory=dict)
    heard: Hashable = None
    phase: str = ""
    guarantee: int = 0


def _rows(channel: str, rows: Sequence[tuple[int, int]]) -> tuple[Row, ...]:
    """Rows of one channel, in the order in which the script gives them; the segment is that of the key."""
    del channel
    return tuple(Row(ts, key, key) for ts, key in rows)


class PathProgram(ComparedProgram):
    """The read path of one proxy, its caller, the oracle, a clock and replicas."""

    async def live(self, process: Process) -> None:
        """Make the reader, and read."""
        self._process = process
        self._task: ReadTask | None = None
        self._answers: list[ReadAnswer | None] = []
        self._ended = False
        self.begun = True
        given = self.script.get("config", {"graceful_ts": _GRACE, "deadline": _DEADLINE})
        self._grace: int = given.get("graceful_ts", 5_000 * MILLISECOND)
        self._deadline: float = given.get("deadline", 10.0)
        refused, config = False, None
        try:
            config = ReaderConfig(**given) if given else None
        except ValueError:
            refused = True
        self.compare(TAKEN, "refused", refused, self.script.get("refused", False))
        if "refused" not in self.script:
            self._reader = Reader(oracle=self, clock=self, replicas=self, config=config)
            for one in self.script["reads"]:
                await self._one(one)
                await self.halt_if_wrong()
        self._ended = True

    async def _one(self, one: Mapping[str, Any]) -> None:
        """Carry one read out, and compare what came of it."""
        self._read, self._seen = one, Known()
        page = None if "page_of" not in one else self._answers[one["page_of"]]
        self._task = None if "plain" in self.script else self._made(one, page)
        self._answers.append(None)
        self._running = asyncio.get_running_loop().create_task(self._execute(), name="read")
        await asyncio.wait([self._running])
        due = self._due(one, page)
        self.compare(AS_PROMISED, "the oracle", self._seen.asked, due.asked)
        if self._task is not None:
            self.compare(AS_PROMISED, "the guarantee", self._task.guarantee, due.guarantee)
        self.compare(ONE_AFTER_THE_OTHER, "calls", _plain(self._seen.calls), _plain(due.calls))
        self.compare(ONE_ANSWER, "the answer", self._seen.heard, due.heard)
        self.compare(ONE_ANSWER, "the phase", self._phase(), self._in(due.phase))

    def _made(self, one: Mapping[str, Any], page: ReadAnswer | None) -> ReadTask:
        nearest = Nearest(*one["nearest"]) if "nearest" in one else None
        return ReadTask(
            ConsistencyLevel(one["level"]), tuple(one["channels"]), keys=one.get("keys"),
            client_ts=one.get("client_ts", 0), page_of=page, nearest=nearest,
        )  # fmt: skip

    async def _execute(self) -> None:
        try:
            answer = await self._answer()
        except asyncio.CancelledError:
            self._seen.heard = "left"
            raise
        except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
            self._seen.heard = (type(failure).__name__, str(failure)[:4])
        else:
            self._answers[-1] = answer
            kept = self._task is None or self._task.answer is answer
            self._seen.heard = (answer.rows, tuple(sorted(answer.moments.items())), answer.moment, kept)

    async def _answer(self) -> ReadAnswer:
        """By script a plain read: then nobody sees how far it is."""
        if self._task is not None:
            return await self._reader.execute(self._task)
        one = self._read
        return await self._reader.read(
            ConsistencyLevel(one["level"]), list(one["channels"]), keys=one.get("keys"),
            client_ts=one.get("client_ts", 0),
        )  # fmt: skip

    def _phase(self) -> str:
        return "" if self._task is None else self._task.phase.value

    def _in(self, phase: str) -> str:
        """The phase that is due, where it is seen."""
        return "" if self._task is None else phase

    # The edges.

    async def alloc(self, count: int) -> int:
        """See Oracle."""
        self._seen.asked.append((count, self._phase()))
        await self._process.point("alloc")
        await self._fail(self._read.get("alloc", ""))
        return _STRONG

    def now(self) -> int:
        """See ReadClock."""
        return int(self.script.get("now", _NOW))

    def of(self, channel: str) -> Sequence[Replica]:
        """See Replicas."""
        answers = self._read["channels"][channel]
        return [_Replica(self, channel, place) for place in range(len(answers))]

    async def asked(self, channel: str, place: int, asked: Hashable) -> ShardAnswer:
        """A replica is asked."""
        self._seen.calls.setdefault(channel, []).append((place, asked, self._phase()))
        answer = self._read["channels"][channel][place]
        if isinstance(answer, str):
            await self._fail(answer)
        moment, rows = answer
        return ShardAnswer(moment, _rows(channel, rows))

    async def _fail(self, how: str) -> None:
        if how == _LEAVES:
            self._running.cancel()
            await asyncio.get_running_loop().create_future()
        if how:
            raise _FAILURES[how]

    # What is right.

    def _due(self, one: Mapping[str, Any], page: ReadAnswer | None) -> Known:
        """Reckon a read from its script."""
        strong = one["level"] == ConsistencyLevel.STRONG.value and page is None
        due = Known(phase=ReadPhase.FAILED.value)
        if strong:
            due.asked.append((1, self._in(ReadPhase.ASKED.value)))
        failed = one.get("alloc", "") if strong else ""
        if failed:
            due.heard = self._error(failed)
            return due
        if page is not None and not one["channels"].keys() <= page.moments.keys():
            due.heard = ("UnknownChannelError", "a fu")
            return due
        due.guarantee = (
            self._guarantee(one) if page is None else max(page.moments[c] for c in one["channels"])
        )
        last: dict[str, Any] = {}
        for channel, answers in one["channels"].items():
            named = None if page is None else page.moments[channel]
            guarantee = self._guarantee(one) if named is None else named
            asked = (guarantee, named, one.get("keys"), self._deadline)
            ends = (
                n for n, each in enumerate(answers) if each in (_LEAVES, _BROKEN) or not isinstance(each, str)
            )
            refusals = next(ends, len(answers))
            sent = self._in(ReadPhase.SENT.value)
            calls: list[Hashable] = [(place, asked, sent) for place in range(min(refusals + 1, len(answers)))]
            if calls:
                due.calls[channel] = calls
            last[channel] = answers[len(calls) - 1] if calls else "nobody"
        wrong = [each for each in last.values() if isinstance(each, str)]
        if wrong:
            due.heard = self._error(wrong[0])
            due.phase = ReadPhase.SENT.value if wrong[0] == _BROKEN else due.phase
            return due
        due.phase = ReadPhase.ANSWERED.value
        moments = tuple(sorted((channel, each[0]) for channel, each in last.items()))
        rows = {row for channel, each in last.items() for row in _rows(channel, each[1])}
        greatest = max((each[0] for each in last.values()), default=0)
        due.heard = (self._ordered(rows, one.get("nearest")), moments, greatest, True)
        return due

    def _guarantee(self, one: Mapping[str, Any]) -> int:
        now, grace = self.now(), self._grace
        named: int = one.get("client_ts", 0)
        return {
            "strong": _STRONG, "bounded": now - grace if now > grace else 0, "eventually": 0,
        }.get(one["level"], named)  # fmt: skip

    def _ordered(self, rows: set[Row], nearest: tuple[int, int] | None) -> tuple[Row, ...]:
        """By timestamp and key; those of a search by distance, each key with its latest row."""
        found = sorted(rows, key=lambda row: (row.ts, row.key))
        if nearest is None:
            return tuple(found)
        place, limit = nearest
        latest = {row.key: row for row in found}
        return tuple(sorted(latest.values(), key=lambda row: (abs(row.key - place), row.key))[:limit])

    def _error(self, how: str) -> Hashable:
        if how == _LEAVES:
            return "left"
        if how == "nobody":
            return ("NotServableError", "no r")
        return (type(_FAILURES[how]).__name__, str(_FAILURES[how])[:4])

    # What is looked at.

    def look(self) -> Hashable:
        """What was answered."""
        return tuple(None if one is None else one.rows for one in self._answers)

    def wrong_at_the_end(self) -> str | None:
        """Every read has ended."""
        return None if self._ended else f"{ONE_ANSWER}: {len(self._answers)} reads have ended, and no more"


def _plain(calls: Mapping[str, list[Hashable]]) -> list[tuple[str, tuple[Hashable, ...]]]:
    """Calls by channel: those of one channel are in their order, channels are asked side by side."""
    return sorted((channel, tuple(made)) for channel, made in calls.items())


@dataclass(frozen=True)
class _Replica:
    """One replica of a channel."""

    world: PathProgram
    channel: str
    place: int

    async def query(
        self, channel: str, *, guarantee: int, mvcc: int | None, keys: tuple[int, ...] | None, deadline: float
    ) -> ShardAnswer:
        """See Replica."""
        if channel != self.channel:
            return await self.world.asked(channel, -1, (guarantee, mvcc, keys, deadline))
        return await self.world.asked(channel, self.place, (guarantee, mvcc, keys, deadline))


def path() -> PathProgram:
    """Return the program of all scripts."""
    return PathProgram(SCRIPTS, timers=0)
