"""A proxy's side of ids by itself, with a root coordinator that answers late, fails, or never answers.

Requests are served in the order in which they come, whoever is late. What each of them gets, and what the
coordinator is asked for, follows from the requests and the answers alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from tidemark.impl.errors import RpcError, RpcTimeoutError
from tidemark.impl.proxy.ids import IdCache, IdRequest
from tidemark.impl.runtime import Supervisor
from tidemark.impl.timestamp import Batch
from tidemark.models.protocols.common.scripted import OK, Script, ScriptedProgram
from tidemark.models.simulation.world.process import Process

GIVEN = "requests_get_the_next_ids_in_their_order"
"""Claim id: each request gets as many ids as it wants, the next ones of the batches in the order of requests;
it is refused if a question fails while it waits, and a request for none is refused as a mistake."""
ASKED = "a_batch_is_asked_for_when_none_is_left"
"""Claim id: a batch is asked for when the first request lacks ids and no question is open: for what it lacks,
and for a whole batch at least, with the deadline."""
LEFT = "nothing_waits_and_nothing_is_lost_at_rest"
"""Claim id: at rest no request waits, and what is left of the last batch is what was not given."""
_DEADLINE = 2.5
_GIVE = "ids.give"
_MOST = 6
_FAILURES = {"fail": RpcError("broken"), "time-out": RpcTimeoutError("late")}

SCRIPTS: tuple[Script, ...] = (
    {"batch": 3, "clients": [[1, 1, 2, 1, 4, 1]]},
    {"batch": 2, "clients": [[1, 0, 3, -1, 1]], "take": True},
    # The coordinator gives less, or more, than it is asked for.
    {"batch": 2, "clients": [[3, 5, 1]], "allocate": ["1", "2", "4", "late 1", "2"]},
    # Requests behind each other, and answers at any time.
    {"batch": 2, "clients": [[1], [3], [1]], "allocate": ["late 2", "late 2", "late 1"]},
    {"batch": 1, "clients": [[2, 1], [1]], "allocate": ["late 1"]},
    # A failure is told to all who wait, and to nobody who comes later.
    {"batch": 2, "clients": [[1, 1], [2, 1]], "allocate": ["late fail", "late 2"]},
    {"batch": 2, "clients": [[3, 1], [1]], "allocate": ["1", "late time-out", "2"]},
    # A caller leaves while its batch is asked for; the next one gets it.
    {"batch": 2, "clients": [[1], [1, 1]], "leaves": 0, "allocate": ["late 2", "late 2"]},
    {"batch": 2, "clients": [[1], [2]], "leaves": 1, "allocate": ["late 2"]},
    {"batch": 2, "clients": [[1], [2]], "leaves": 0, "allocate": ["late fail", "late 2"]},
    # A caller leaves that has a part of its ids, when the others have come.
    {"batch": 2, "clients": [[3], [1, 1]], "leaves": 0, "when": 2, "allocate": ["1", "3", "2"]},
    # The proxy ends, or is broken.
    {"batch": 2, "clients": [[1], [2]], "allocate": ["late broken", "2", "1"]},
    {"batch": 2, "clients": [[1], [2]], "ends": True, "allocate": ["never"]},
)  # fmt: skip


class _Runs(list[Batch]):
    """What a request is given. An endless list would be no answer."""

    def append(self, run: Batch) -> None:
        """Take a run. Raises RpcError when there are too many."""
        if len(self) > _MOST:
            raise RpcError("no request here has so many runs")
        super().append(run)


@dataclass(eq=False)
class Request:
    """One request. ``due``: what it has to hear, once that is certain; ``heard``: what it has heard."""

    wanted: int
    runs: list[tuple[int, int]] = field(default_factory=list)
    due: Hashable = None
    heard: Hashable = None

    @property
    def missing(self) -> int:
        """How many ids it lacks."""
        return self.wanted - sum(last - first + 1 for first, last in self.runs)


class Reckoning:
    """What has to come of requests and answers, in the order in which they come.

    asked: for how many ids the coordinator has to be asked. left: what was not given of the last batch.
    """

    def __init__(self, batch: int) -> None:
        self.asked: list[int] = []
        self.left: tuple[int, int] | None = None
        self._batch = batch
        self._waiting: list[Request] = []
        self._open = False

    def comes(self, request: Request) -> None:
        """A request."""
        if request.wanted < 1:
            request.due = "ValueError"
            return
        self._waiting.append(request)
        self._serve()

    def leaves(self, request: Request) -> None:
        """Its caller is cancelled."""
        if request in self._waiting:
            self._waiting.remove(request)
            request.due = "left"
            self._serve()

    def answered(self, first: int, last: int) -> None:
        """A batch has come."""
        self._open, self.left = False, (first, last)
        self._serve()

    def broke(self) -> None:
        """The proxy has a fault of its own, which ends it; until then it asks again."""
        self._open = False
        self._serve()

    def failed(self) -> None:
        """The question has no answer: who waits hears of it."""
        self._open = False
        for request in self._waiting:
            request.due = "RpcError"
        self._waiting.clear()

    def _serve(self) -> None:
        while self._waiting:
            request = self._waiting[0]
            while request.missing and self.left is not None:
                first, last = self.left
                end = min(last, first + request.missing - 1)
                request.runs.append((first, end))
                self.left = (end + 1, last) if end < last else None
            if request.missing:
                if not self._open:
                    self._open = True
                    self.asked.append(max(request.missing, self._batch))
                return
            request.due = tuple(request.runs)
            del self._waiting[0]


class CacheProgram(ScriptedProgram):
    """The ids of one proxy, its tasks, and the root coordinator."""

    async def live(self, process: Process) -> None:
        """Make the cache, and ask for ids."""
        self._process = process
        self._supervisor = Supervisor()
        self._requests: list[Request] = []
        self._questions: list[int] = []
        self._next, self._woken, self._answers = 1, 0, 0
        self._problem: str | None = None
        self._right = Reckoning(self.script["batch"])
        self._cache = IdCache(
            source=self,
            preemption=self,
            spawn=self._supervisor.spawn,
            batch=self.script["batch"],
            deadline=_DEADLINE,
        )
        loop = asyncio.get_running_loop()
        self._clients = [
            loop.create_task(self._ask(wants), name=f"client {place}")
            for place, wants in enumerate(self.script["clients"])
        ]
        self.begun = True

    async def _ask(self, wants: list[int]) -> None:
        """One client: one request after the other."""
        for wanted in wants:
            request = Request(wanted)
            self._requests.append(request)
            self._right.comes(request)
            try:
                request.heard = tuple(map(tuple, await self._given(wanted)))
            except asyncio.CancelledError:
                request.heard = "left"
                raise
            except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
                request.heard = "RpcError" if isinstance(failure, RpcError) else type(failure).__name__

    async def _given(self, wanted: int) -> Sequence[Batch]:
        """As rows get their ids, or, by script, as a task gets its own."""
        if "take" in self.script:
            return await self._cache.take(wanted)
        runs = _Runs()
        await self._cache.fill(IdRequest(wanted, runs))
        return runs

    async def point(self, name: str) -> None:
        """See Preemption. Each answer wakes the request whose turn it is, once."""
        self._woken += name == _GIVE
        if self._woken > self._answers:
            self._problem = (
                f"{ASKED}: a request looks for the {self._woken}. time, after {self._answers} answers"
            )
        await self.halt_if_wrong()
        await self._process.point(name)

    async def allocate(self, count: int, *, deadline: float) -> Batch:
        """See IdSource."""
        self._questions.append(count)
        if deadline != _DEADLINE:
            self._problem = f"{ASKED}: the deadline is {deadline}"
        self._disturb()
        given = await self.answer(self._process, "allocate")
        answer = str(count) if given == OK else given
        self._answers += 1
        if answer == "broken":
            self._right.broke()
            raise RuntimeError("a part of it is broken")
        if answer in _FAILURES:
            self._right.failed()
            raise _FAILURES[answer]
        if self.script.get("when") == len(self._questions):
            self._leave()
        first, last = self._next, self._next + int(answer) - 1
        self._next = last + 1
        self._right.answered(first, last)
        return Batch(first, last)

    def _disturb(self) -> None:
        """What happens while the first question is open."""
        if len(self._questions) > 1:
            return
        if "when" not in self.script:
            self._leave()
        if "ends" in self.script:
            self._process.spawn(self._end(), "the end")

    def _leave(self) -> None:
        """By script the caller of a request leaves."""
        if "leaves" in self.script:
            place = self.script["leaves"]
            self._right.leaves(self._requests[place])
            self._clients[place].cancel()

    async def _end(self) -> None:
        await self._process.point("the end")
        self._right.failed()
        self._answers += 1
        await self._supervisor.stop()

    # What is looked at.

    def look(self) -> Hashable:
        """What was asked and heard."""
        return tuple(self._questions), tuple((one.wanted, one.heard) for one in self._requests)

    def wrong(self) -> str | None:
        """What was heard is due, and so is what was asked for."""
        for request in self._requests:
            if request.heard is not None and request.heard != request.due:
                return f"{GIVEN}: {request.wanted} ids: {request.heard}, and not {request.due}"
        due = self._right.asked[: len(self._questions)]
        if self._questions != due:
            return f"{ASKED}: asked for {self._questions}, and not for {self._right.asked}"
        return self._problem

    def wrong_after_a_step(self) -> str | None:
        """See ScriptedProgram."""
        return self.wrong()

    def wrong_at_the_end(self) -> str | None:
        """Everybody has heard, and every question was asked; nothing is left behind."""
        silent = [one.wanted for one in self._requests if one.heard is None]
        if silent:
            return f"{GIVEN}: requests for {silent} ids have heard nothing"
        if self._questions != self._right.asked:
            return f"{ASKED}: asked for {self._questions}, and not for {self._right.asked}"
        left = None if self._cache.left is None else tuple(self._cache.left)
        broken = self._supervisor.failure is not None
        if broken != any("broken" in one for one in self.script.get("allocate", ())):
            return f"{GIVEN}: that a part is broken is {'told' if broken else 'hidden'}"
        if self._cache.waiting or left != self._right.left:
            return f"{LEFT}: {len(self._cache.waiting)} wait, {left} are left, and not {self._right.left}"
        return None


def cache() -> CacheProgram:
    """Return the program of all scripts."""
    return CacheProgram(SCRIPTS, timers=0)
