"""Users of one store, whose calls must have an order that explains every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from tidemark.impl.errors import ImplementationError
from tidemark.models.frozen import frozen
from tidemark.models.protocols.store.histories.contracts import Raised
from tidemark.models.protocols.common.faults import Faults
from tidemark.models.protocols.store.histories.kinds import MACHINE, Kind
from tidemark.models.protocols.store.histories.order import Call, Order
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.settings import ClockOrder, FaultBudget, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CALLS_HAVE_AN_ORDER = "calls_have_an_order"
"""Claim id: some order of the calls, each between its begin and its end, explains all answers. What was
answered survives a power failure, and what was under way is done as a whole or not at all."""
NO_FAILURE_WITHOUT_A_FAULT = "no_failure_without_a_fault"
"""Claim id: a call fails only if an operation of its medium fails meanwhile, and says what has failed."""
NO_ANSWER_AFTER_A_FAILURE = "no_answer_after_a_failure"
"""Claim id: an adapter that does not know what its medium holds says so, until it has looked."""
EVERY_CALL_ENDS = "every_call_ends"
"""Claim id: a call that has nothing to wait for ends, and after no more than so many operations."""
EVERYTHING_IS_CLOSED = "everything_is_closed"
"""Claim id: nothing is open when no call is under way."""

Script = Mapping[str, Any]
_FAILURES = (Raised("StoreError"), Raised("CorruptDataError"))
_MANY = 120
"""No call has so many operations of its medium."""


class HistoryProgram(Program):
    """One machine with users of a store; a script says which.

    Scripts have

    - ``users``: each the name of an adapter, and the calls, a name and its arguments. Users with the same
      adapter share it;
    - ``after``: likewise, after a power failure;
    - ``before``: calls that are over before the users come, by the adapter of the first;
    - ``faults``: kinds of fault, one of which befalls one of the first ``places`` operations that it can
      befall; or none does;
    - ``given``: what is on the medium before, and ``first`` what that means.

    Args:
        kind: the store.
        scripts: one of them is done in each execution.
        crashes: budget of power failures.
        cancellations: budget of users that are cancelled in a call; they go on with the next one.
    """

    claims = (
        CALLS_HAVE_AN_ORDER,
        NO_FAILURE_WITHOUT_A_FAULT,
        NO_ANSWER_AFTER_A_FAILURE,
        EVERY_CALL_ENDS,
        EVERYTHING_IS_CLOSED,
    )

    def __init__(
        self, kind: type[Kind], scripts: Sequence[Script], *, crashes: int, cancellations: int, timers: int
    ) -> None:
        self.settings = Settings(
            faults=FaultBudget(crashes=crashes, cancellations=cancellations),
            crashable=frozenset({MACHINE} if crashes else ()),
            clock=ClockOrder.GLOBAL,
            timer_firings=timers,
            virtual=True,
        )
        self._kind_class = kind
        self.scripts: Sequence[Script] = frozen(scripts)
        self._script: Script | None = None
        self._faults = Faults()
        self._wrong: str | None = None
        self._open: set[int] = set()
        self._number = 0
        self._answers: list[Hashable] = []
        self._steps = 0
        """Since a call has begun or ended."""

    def build(self, world: World) -> None:
        """Define the machine."""
        self.world = world
        self.kind = self._kind_class(world, self._faults)
        self.order = Order(self.kind.rule, self.kind.first, left=self.kind.left)
        world.process(MACHINE, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        self._open.clear()
        if process.incarnation > 1:
            self.order.power_fails()
        if self._script is None:
            await self._pick(process)
        assert self._script is not None
        users = self._script["users"] if process.incarnation == 1 else self._script.get("after", ())
        adapters = {name: self.kind.adapter(process, name) for name, _ in users}
        if process.incarnation == 1:
            await self._user(adapters[users[0][0]], self._script.get("before", ()))
        for number, (name, calls) in enumerate(users):
            process.spawn(self._user(adapters[name], calls), f"user {number}")

    async def _pick(self, process: Process) -> None:
        script = self.scripts[await process.choose(len(self.scripts), "script")]
        kinds = script.get("faults", ())
        if kinds:
            chosen = await process.choose(1 + len(kinds) * script["places"], "fault")
            if chosen:
                place, kind = divmod(chosen - 1, len(kinds))
                self._faults.kind, self._faults.place = kinds[kind], place + 1
        if "given" in script:
            self.kind.give(script["given"])
        if "first" in script:
            self.order = Order(self.kind.rule, self.kind.holding(script["first"]), left=self.kind.left)
        self._script = script

    async def _user(self, adapter: Any, calls: Sequence[tuple[Any, ...]]) -> None:
        for name, *arguments in calls:
            if not await self._call(adapter, Call(name, tuple(arguments))):
                return

    async def _call(self, adapter: Any, call: Call) -> bool:
        """Do a call. False if nothing more is to be said: the rest of what the user does hangs on it."""
        if not self.kind.can(call):
            return False
        self._number += 1
        self._steps = 0
        number, before, words = self._number, self._faults.happened, ""
        self.order.begins(number, call)
        self._open.add(number)
        answer: Hashable
        try:
            answer = await self._perform(adapter, call)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            assert task is not None
            task.uncancel()
            self._open.discard(number)
            self.kind.leaves(call)
            return True
        except (ImplementationError, ValueError) as failure:
            answer, words = Raised(type(failure).__name__), str(failure)
        self._open.discard(number)
        refuses, happened = self.kind.refuses(call), self._faults.happened > before
        if answer in _FAILURES and (happened or refuses is not False):
            due = (self.kind.failure(), self._faults.words) if happened else ("StoreError", "")
            if answer != Raised(due[0]) or (self._alone() and due[1] not in words):
                self._wrong = (
                    f"{NO_FAILURE_WITHOUT_A_FAULT}: {call.name}{call.arguments} fails with {words!r}"
                )
                return False
            self.kind.failed(call)
            return call.name != "campaign"
        if refuses:
            self._wrong = f"{NO_ANSWER_AFTER_A_FAILURE}: {call.name}{call.arguments} answers {answer}"
            return False
        self._ends(number, call, answer)
        return self._wrong is None

    async def _perform(self, adapter: Any, call: Call) -> Hashable:
        if call.name == "damaged":
            name, *arguments = call.arguments
            return await self.kind.perform(adapter, Call(name, tuple(arguments)))
        return await self.kind.perform(adapter, call)

    def _ends(self, number: int, call: Call, answer: Hashable) -> None:
        expected = self.order.expected(number)
        if not self.order.ends(number, answer):
            claim = CALLS_HAVE_AN_ORDER
            if answer in _FAILURES:
                claim = NO_FAILURE_WITHOUT_A_FAULT
            words = " or ".join(map(str, expected)) or "nothing"
            self._wrong = f"{claim}: {call.name}{call.arguments} answers {answer}, not {words}"
        self._answers.append(answer)

    # What is looked at.

    def observe(self) -> Observation:
        """Return how far the calls have come."""
        return {MACHINE: (tuple(self._answers), tuple(sorted(self._open)), self._wrong)}

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """No answer is without an explanation."""
        del before, after, label
        return self._complaint()

    def on_stutter(self, label: str) -> str | None:
        """Likewise."""
        del label
        return self._complaint()

    def _complaint(self) -> str | None:
        self._steps += 1
        if self._wrong is None and self._steps > _MANY:
            return f"{EVERY_CALL_ENDS}: {self._steps} operations, and no call has ended"
        if self._wrong is not None:
            return self._wrong
        if self._open or not self.world.lanes[MACHINE].alive:
            return None
        left = self.kind.left_open()
        return f"{EVERYTHING_IS_CLOSED}: {left} is open, and no call is under way" if left else None

    def check_final(self) -> str | None:
        """Whoever still waits has nothing to wait for."""
        if not self.world.lanes[MACHINE].alive or self._script is None:
            return None
        if self.world.firings_exhausted and not self._alone():
            return None
        late = [number for number in sorted(self._open) if not self.order.may_wait(number)]
        return f"{EVERY_CALL_ENDS}: call {late[0]} never ends" if late else self._complaint()

    def _alone(self) -> bool:
        """Whether there is one user."""
        assert self._script is not None
        return len(self._script["users"]) == 1

    def final(self) -> Hashable:
        """Return the answers."""
        return tuple(self._answers), len(self._open)
