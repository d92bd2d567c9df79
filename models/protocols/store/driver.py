"""Drives real adapters by the actions of ``tidemark.spec.store``, in the controlled world: the file log over
a simulated disk, and the oracle's window in SQLite.

Performing a step lets one task go on until the store, or what its users know, has changed. By chance a task
stands still in between: a read that has read and has not answered, a save that has found its term valid.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, ClassVar

from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.protocols.store.cells import MACHINE, Cell, Client, ElectorClient, Log, Window
from tidemark.models.protocols.store.program import StoreProgram, StoreScenario
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.settings import FaultBudget
from tidemark.models.simulation.world.process import Process

_HAND = "driver"
_MANY = 60
_GOES_ON = ("apply", "refuse", "answer", "see", "answer_read")
_CRASHES, _FAILURES, _TORN = 3, 4, 4


@dataclass(frozen=True, kw_only=True)
class DrivenScenario(StoreScenario):
    """No user comes by himself. ``most_reads``: how many reads there may be."""

    most_reads: int

    @property
    def reads(self) -> int:
        """How many reads there may be."""
        return self.most_reads


class DrivenStore(StoreProgram):
    """One machine. Its users do what the driver says.

    Attributes:
        order: what the driver's task does next.
    """

    order: Callable[[], None]

    async def _run(self, process: Process) -> None:
        await super()._run(process)
        self._process = process
        process.spawn(self._obey(process), _HAND)

    async def _obey(self, process: Process) -> None:
        while True:
            await process.point(_HAND)
            self.order()

    def user(self, name: str) -> Client:
        """Return the user of this name, who comes if he is not there."""
        if name not in self._clients:
            self._clients[name] = self.cell.client(self._process)
        return self._clients[name]

    def has_user(self, name: str) -> bool:
        """Whether the user is there: a power failure ends all."""
        return name in self._clients

    def save(self, name: str, number: int) -> None:
        """A user begins a save."""
        self._spawn(self._save(self._process, name, self.user(name), number), f"save {number}")

    def read(self, number: int) -> None:
        """Somebody begins a read."""
        reader = self.cell.client(self._process)
        self._spawn(self._read(self._process, reader, number), f"read {number}")

    def elect(self, name: str, verb: str) -> None:
        """A user campaigns or resigns."""
        self._spawn(self._elect(self._process, name, self.user(name), verb), name)

    def _spawn(self, work: Coroutine[Any, Any, object], name: str) -> None:
        async def run() -> None:
            await work

        self._process.spawn(run(), name)


class StoreAdapter(DrivenRun):
    """One run of a store. A subclass names the store, and what its saves and reads do."""

    cell: ClassVar[type[Cell]]
    faults_of: ClassVar[FaultBudget]
    looks: ClassVar[str]
    """The operation with which a task decides: what happens until it ends changes nothing of it."""

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        self._checker = checker
        self._values = [int(str(value)) for value in instance.map_constants["value"]]
        scenario = DrivenScenario(
            values=tuple(self._values),
            users=(),
            most_reads=int(str(instance.bounds["Read"])),
            terms=int(str(instance.bounds["Term"])),
            faults=self.faults_of,
        )
        self._task_of: dict[str, str] = {}
        self._decoded: tuple[State, Any] | None = None
        self._looked: dict[str, int | bool] = {}
        """What a task has found that stands still."""
        self._program = DrivenStore(scenario, cell=self.cell, protocol=instance.protocol)
        self._program.order = lambda: None
        super().__init__(self._program)
        self._obeyed()

    # What is looked at.

    @property
    def _now(self) -> Any:
        """The state by the names of variables."""
        if self._decoded is None or self._decoded[0] is not self._state:
            self._decoded = (self._state, self._checker.interpreter.decode(self._state))
        return self._decoded[1]

    # What the machine asks.

    def offers(self, step: Step) -> bool:
        """See ``Adapter``. A term ends beside a save, or else most would end without one."""
        args = tuple(map(int, step.args))
        if step.action in _GOES_ON and self._event_of(self._name(step)) is None:
            return False  # it waits for another one
        match step.action:
            case "begin":
                return self._may_begin(*args)
            case "apply":
                return self._now["stage"][args[0]] == "open" and self._applies(args[0])
            case "refuse":
                return not self._applies(args[0])
            case "force":
                return bool(self._who_forces())
            case "fail" | "fail_read":
                return bool(self._faults_of(self._name(step)))
            case "see":
                return self._will_see(args[0]) == args[1]
            case "crash":
                return bool(self._crashes(args[0]))
            case "raise_fence":
                return self.cell.terms and not step.args[0]
            case "lapse":
                return "open" in self._now["stage"].values() or "new" not in self._now["stage"].values()
        return True

    def _name(self, step: Step) -> str:
        return f"{'read' if 'read' in step.action or step.action == 'see' else 'save'} {step.args[0]}"

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        match step.action:
            case "begin":
                self._begin(int(step.args[0]), int(step.args[1]), chance)
            case "begin_read":
                self._order(lambda: self._program.read(int(step.args[0])))
                self._advance(self._name(step))
                self._stand_still(self._name(step), chance)
            case "force":
                tasks = self._who_forces()
                self._advance(tasks[chance % len(tasks)])
            case "fail" | "fail_read":
                self._fail(self._name(step), chance)
            case "crash":
                self._crash(int(step.args[0]), chance)
            case "raise_fence" | "lapse":
                self._change_term(step.action, chance)
            case _:
                self._looked.pop(self._name(step), None)
                self._advance(self._name(step))
        self._state = self._look()

    # What the kinds of store do.

    def _may_begin(self, save: int, term: int) -> bool:
        raise NotImplementedError

    def _applies(self, save: int) -> bool:
        """The save will be applied, or else refused."""
        raise NotImplementedError

    def _will_see(self, read: int) -> int | None:
        """What the read sees next; None if something else comes before."""
        raise NotImplementedError

    def _who_forces(self) -> list[str]:
        """The tasks whose next change is to force what is visible."""
        return []

    def _user_of(self, term: int) -> str:
        del term
        return "user"

    def _finding(self, name: str) -> int | bool:
        """What a task finds now when it looks."""
        raise NotImplementedError

    # Orders.

    def _begin(self, save: int, term: int, chance: int) -> None:
        self._order(lambda: self._program.save(self._user_of(term), save))
        self._advance(f"save {save}")
        self._stand_still(f"save {save}", chance)

    def _change_term(self, action: str, chance: int) -> None:
        if action == "raise_fence":
            name = self._user_of(self._now["fence"] + 1)
            self._order(lambda: self._program.elect(name, "campaign"))
            self._finish(name)
        elif chance % 2 and self._may_resign():
            name = self._user_of(self._now["fence"])
            self._order(lambda: self._program.elect(name, "resign"))
            self._finish(name)
        else:
            self._order(self._program.cell.lapse)

    def _may_resign(self) -> bool:
        """The leader is there, and none of its saves is under way: it does one thing at a time."""
        now = self._now
        busy = any(stage == "open" and now["term"][w] == now["fence"] for w, stage in now["stage"].items())
        return not busy and not self._looked and self._program.has_user(self._user_of(now["fence"]))

    def _order(self, order: Callable[[], None]) -> None:
        self._program.order = order
        self._obeyed()

    def _obeyed(self) -> None:
        event = next(one for one in self._world.enabled() if one.label.startswith(f"resume {_HAND}"))
        self._fire_of(_HAND, event)

    # Faults.

    def _faults_of(self, name: str) -> list[Event]:
        """The faults of the operation at which a task is."""
        at = self._event_of(name)
        if at is None or at.label.startswith("resume"):
            return []
        return [one for one in self._world.enabled() if one.fault and one.label.endswith(f" {at.label}")]

    def _fail(self, name: str, chance: int) -> None:
        faults = self._faults_of(name)
        self._looked.pop(name, None)
        self._fire_of(name, faults[chance % len(faults)])
        if self._look() == self._state:
            self._advance(name)

    def _crashes(self, left: int) -> list[Event]:
        raise NotImplementedError

    def _crash(self, left: int, chance: int) -> None:
        events = self._crashes(left)
        self._looked = {}
        self._fire_of(_HAND, events[chance % len(events)])
        restart = next(one for one in self._world.enabled() if one.label.startswith("restart"))
        self._fire_of(_HAND, restart)
        self._obeyed()

    # Letting things happen.

    def _event_of(self, name: str) -> Event | None:
        """The event for which a task waits."""
        found = (one for one in self._world.enabled() if not one.fault)
        return next((one for one in found if (one.owner or self._task_of.get(one.label)) == name), None)

    def _fire_of(self, name: str, event: Event) -> None:
        """Let an event of a task happen: what comes up with it is the task's."""
        known = set(self._world.events)
        self._fire(event)
        self._raise_failures()
        wrong = self._program.complaint()
        if wrong is not None:
            raise BrokenRunError(wrong)
        for label in self._world.events:
            if label not in known:
                self._task_of[label] = name

    def _advance(self, name: str) -> None:
        """Let a task go on until something has changed."""
        for _ in range(_MANY):
            event = self._event_of(name)
            if event is None:
                raise BrokenRunError(f"{name} waits, and nothing can happen")
            self._fire_of(name, event)
            if self._look() != self._state:
                return
        raise BrokenRunError(f"{name} changes nothing")

    def _finish(self, name: str) -> None:
        """Let a task go on until it is over."""
        for _ in range(_MANY):
            event = self._event_of(name)
            if event is None:
                return
            self._fire_of(name, event)
        raise BrokenRunError(f"{name} does not end")

    def _stand_still(self, name: str, chance: int) -> None:
        """By chance a task comes to where it has looked, and stands still there."""
        self._state = self._look()
        if not chance:
            return
        for _ in range(_MANY):
            event = self._event_of(name)
            if event is None or (chance % 2 == 0 and self._faults_of(name)):
                return
            looks = event.label.startswith(self.looks)
            found = self._finding(name) if looks else None
            if self._changes(event):
                return
            self._fire_of(name, event)
            if found is not None:
                self._looked[name] = found
                return

    def _changes(self, event: Event) -> bool:
        """Whether an event is one that may change the store."""
        return event.label.startswith(("append", "resume end", "insert", "commit"))


class LogAdapter(StoreAdapter):
    """The file log: one writer, whose saves go one by one; readers force what they see."""

    ignored: ClassVar[tuple[str, ...]] = ()
    never_offered: ClassVar[dict[str, str]] = {
        "lapse": "a file log has no terms",
        "raise_fence": "a file log has no terms",
        "refuse": "a file log has no terms",
    }
    cell: ClassVar[type[Cell]] = Log
    faults_of: ClassVar[FaultBudget] = FaultBudget(
        crashes=_CRASHES, storage_failures=_FAILURES, torn_writes=_TORN
    )
    looks: ClassVar[str] = "read "

    def _may_begin(self, save: int, term: int) -> bool:
        stages = self._now["stage"]
        return term == 0 and "open" not in stages.values() and all(stages[w] != "new" for w in range(save))

    def _applies(self, save: int) -> bool:
        return not self._now["applied"][save]

    def _finding(self, name: str) -> int | bool:
        return int(self._now["visible"]) if name.startswith("read") else True

    def _stand_still(self, name: str, chance: int) -> None:
        """See StoreAdapter. Who finds nothing in the log is over at once."""
        if name.startswith("save") or self._program.values()["visible"]:
            super()._stand_still(name, chance)

    def _forces_next(self, name: str) -> bool:
        """A reader that has read, or will, is about to force what is not durable."""
        now, at = self._now, self._event_of(name)
        if now["forced"] == now["visible"] or at is None:
            return False
        return at.label.startswith((self.looks, "resume begin")) or "sync channel" in at.label

    def _will_see(self, read: int) -> int | None:
        name = f"read {read}"
        if self._forces_next(name):
            return None
        return int(self._looked.get(name, self._now["visible"]))

    def _who_forces(self) -> list[str]:
        now = self._now
        savers = [
            f"save {w}"
            for w, stage in now["stage"].items()
            if stage == "open" and now["applied"][w] and self._values[w] > now["forced"]
        ]
        readers = [f"read {r}" for r, look in now["look"].items() if look == "open"]
        return savers + [name for name in readers if self._forces_next(name)]

    def _crashes(self, left: int) -> list[Event]:
        cell: Any = self._program.cell
        images = cell.left()
        events = [one for one in self._world.enabled() if one.label.startswith("crash")]
        if len(events) == 1:
            return events if images[0] == left else []
        return [one for one in events if images[_number_in(one.label) - 1] == left]


def _number_in(label: str) -> int:
    """The number of an outcome: ``crash machine, 3 of 5 things on disk``."""
    return int(label.partition(", ")[2].split()[0])


class WindowAdapter(StoreAdapter):
    """The oracle's window in SQLite: one user for each term."""

    ignored: ClassVar[tuple[str, ...]] = ()
    never_offered: ClassVar[dict[str, str]] = {
        "force": "what SQLite has committed is forced",
        "fail": "SQLite does not fail here",
        "fail_read": "SQLite does not fail here",
    }
    cell: ClassVar[type[Cell]] = Window
    faults_of: ClassVar[FaultBudget] = FaultBudget(crashes=_CRASHES)
    looks: ClassVar[str] = "select"

    def _user_of(self, term: int) -> str:
        return f"leader {term}"

    def _may_begin(self, save: int, term: int) -> bool:
        del save
        name = self._user_of(term)
        if self._looked or not self._program.has_user(name):
            return False
        leader = self._program.user(name)
        assert isinstance(leader, ElectorClient)
        return leader.leadership is not None

    def _finding(self, name: str) -> int | bool:
        return self._is_led(int(name.partition(" ")[2]))

    def _is_led(self, save: int) -> bool:
        return bool(self._now["term"][save] == self._now["fence"] and not self._now["lapsed"])

    def _applies(self, save: int) -> bool:
        name = f"save {save}"
        if self._looked and name not in self._looked:
            return False
        return bool(self._looked.get(name, self._is_led(save)))

    def offers(self, step: Step) -> bool:
        """See ``Adapter``. Beside a save that stands still no other transaction ends."""
        alone = not self._looked or step.action in ("lapse", "begin_read", "crash")
        if not alone and self._name(step) not in self._looked:
            return False
        return super().offers(step)

    def _will_see(self, read: int) -> int | None:
        del read
        return int(self._now["visible"])

    def _stand_still(self, name: str, chance: int) -> None:
        """See StoreAdapter. A save that opens the file first, or waits for another one, does not."""
        if name.startswith("read") or self._looked or self._event_of(name) is None:
            return
        term = self._program.values()["term"][int(name.partition(" ")[2])]
        leader: Any = self._program.user(self._user_of(term))
        _, is_open = leader.declared()
        if is_open:
            super()._stand_still(name, chance)

    def _crashes(self, left: int) -> list[Event]:
        if left != self._now["visible"]:
            return []
        return [one for one in self._world.enabled() if one.label.startswith(f"crash {MACHINE}")]
