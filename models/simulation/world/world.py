"""The world of one execution: its processes, what may happen next in it, and what a step touched.

Everything that can happen is an ``Event``. The world keeps the events that exist, says which of them are
enabled and fires the one that was picked. Between two picks nothing happens: that is the whole control.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

from tidemark.models.simulation.errors import ProgramError
from tidemark.models.simulation.footprint import Footprint, Interner, as_footprint
from tidemark.models.simulation.loop.history import History
from tidemark.models.simulation.loop.lane import Ending, Event, Lane, LaneTimer, task_of
from tidemark.models.simulation.settings import ClockOrder, FaultKind, Order, Settings
from tidemark.models.simulation.virtual import THREADS, Machine
from tidemark.models.simulation.world.cancellation import can_be_cancelled, cancel_event, wind_up
from tidemark.models.simulation.world.environment import Environment
from tidemark.models.simulation.world.executors import start_thread
from tidemark.models.simulation.world.media import Medium, joint_outcomes
from tidemark.models.simulation.world.network import Network
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.storage import Disk, Store

T = TypeVar("T")

Main = Callable[[Process], Coroutine[Any, Any, None]]


class Definition(NamedTuple):
    """How a process is (re)built: its main coroutine and whether it may run forever."""

    main: Main
    daemon: bool
    restarts: bool
    ends_with_main: bool


class World(Environment):
    """Processes, network, storage and clock of one execution, and the events that may happen next."""

    def __init__(self, settings: Settings, interner: Interner) -> None:
        super().__init__(settings, interner)
        self.every_lane: list[Lane] = []
        self.restarts = 0
        self.firings_exhausted = False
        self.fired: Event | None = None
        self._firings: dict[str, int] = {}
        self._known: dict[str, Event] = {}  # events that stay the same for as long as they are possible
        self._definitions: dict[str, Definition] = {}
        self._stores: dict[str, Store] = {}
        self._disks: dict[str, Disk] = {}
        self._media: list[tuple[str | None, Medium]] = []
        self._drains = settings.order is Order.ATOMIC
        self._crashable = settings.crashable
        self.loop.cancels = settings.faults.cancellations > 0
        self._cancellable = settings.cancellable
        self.machine: Machine | None = None
        if settings.virtual:
            self.machine = Machine(self.loop.time, self._let_time_pass)
            self.loop.start_thread = self._start_thread

    @cached_property
    def network(self) -> Network:
        """The messages of this execution."""
        return Network(self)

    # Building.

    def process(
        self,
        name: str,
        main: Main,
        *,
        daemon: bool = False,
        restarts: bool = True,
        ends_with_main: bool = False,
    ) -> None:
        """Add a process with a unique name, its address in the network. ``main`` builds and runs it, with a
        new ``Process`` after each restart. ``daemon``: it may wait forever; the main coroutine of any other
        process must end. ``restarts``: a new incarnation may follow a crash. ``ends_with_main``: its other
        tasks are then cancelled, as by ``asyncio.run``.
        """
        if name in self._definitions:
            raise ProgramError(f"process {name!r} is defined twice: give each process its own name")
        self._definitions[name] = Definition(main, daemon, restarts, ends_with_main)
        self._spawn(name, incarnation=1)

    def store(self, name: str, *, remote: bool = True) -> Store:
        """Return the shared durable store of that name. If ``remote``, an operation outlives a crash."""
        known = self._stores.get(name)
        if known is None:
            known = self._stores[name] = Store(self, name, remote=remote)
        return known

    def disk(self, process: str) -> Disk:
        """Return the local disk of a process. It outlives the process."""
        known = self._disks.get(process)
        if known is None:
            known = self._disks[process] = Disk(self, process)
        return known

    def attach(self, medium: Medium, *, machine: str | None) -> None:
        """Add a medium, whose power fails when the process ``machine`` crashes; None: it never fails."""
        self._media.append((machine, medium))

    def _spawn(self, name: str, *, incarnation: int) -> None:
        definition = self._definitions[name]
        old = self.lanes.get(name)
        lane = Lane(
            name,
            incarnation=incarnation,
            bit=self.interner.bit(name),
            daemon=definition.daemon,
            clock=old.clock if old is not None else 0.0,
        )
        self.lanes[name] = lane
        if self.settings.histories:
            lane.history = History()
        self.every_lane.append(lane)
        self.loop.current = lane
        lane.main = self.loop.start(lane, definition.main(Process(self, lane)), f"{lane.title}/main")
        lane.ending = Ending.WATCHED if definition.ends_with_main else Ending.NO

    def check(self) -> None:
        """Complain about settings that name a process which does not exist."""
        for setting, names in (("crashable", self._crashable), ("cancellable", self._cancellable)):
            unknown = sorted(names - self._definitions.keys()) if names else []
            if unknown:
                known = ", ".join(sorted(self._definitions)) or "none"
                raise ProgramError(f"{setting} names no process: {unknown[0]!r}; the processes are: {known}")

    # What may happen, and making it happen.

    def start(self) -> None:
        """Bring each process to its first wait, unless single callbacks are steps."""
        if self._drains:
            for lane in list(self.lanes.values()):
                self.loop.current = lane
                self.drain(lane)

    def enabled(self) -> list[Event]:
        """Return what may happen next: the oldest ordinary event first, faults last. The first one is the
        default choice, so that a run without deviations is a natural one.
        """
        found: list[Event] = []
        timed = False
        if self.loop.cancelled:
            self._forget_cancelled()
        for lane in self.lanes.values():
            if lane.timers:
                timed = True
            if lane.ready and not self._drains:
                if lane.turn is not None:
                    found.append(lane.turn)
                else:
                    found += self._ready_events(lane)
        if self.events:
            found += self.events.values()
        if timed:
            found += self._timer_events()
        if self.faults:
            budget = self.budget
            found += [event for kind, event in self.faults.values() if budget[kind] > 0]
        if self._crashable or self.loop.cancels:
            found += self._faults_of_processes()
        return found

    def _faults_of_processes(self) -> list[Event]:
        """Return the crashes and the cancellations that may happen."""
        found: list[Event] = []
        if self._crashable and self.budget[FaultKind.CRASH] > 0:
            for name, lane in self.lanes.items():
                if lane.alive and name in self._crashable:
                    found += self._crash_events(lane)
        if self.loop.cancels and self.budget[FaultKind.CANCELLATION] > 0:
            found += self._cancel_events()
        return found

    def fire(self, event: Event) -> Footprint:
        """Let one event happen and return what it touched."""
        loop = self.loop
        lane = event.lane
        loop.current = lane
        self.fired = event
        lane.positions = None  # its code runs now, and that of no other
        loop.reads = 0
        loop.writes = lane.bit
        if lane.history is not None and not event.label.startswith(("run ", "timer ")):
            lane.history.happened(event.label)
        event.fire()
        if self._drains:
            self.drain(loop.current)
        if lane.ending is not Ending.NO:
            wind_up(lane, self.drain if self._drains else None)
        return as_footprint((loop.reads, loop.writes))

    def dismantle(self) -> None:
        """Cut the references that would keep a finished execution alive until the next garbage collection."""
        self.events.clear()
        self.faults.clear()
        if "network" in self.__dict__:
            self.network.dismantle()
            del self.network
        for store in self._stores.values():
            store.dismantle()
        for _, medium in self._media:
            medium.dismantle()
        for lane in self.every_lane:
            lane.dismantle()
        self._definitions.clear()
        self._known.clear()
        # Without these cycles all of it goes at once, and the garbage collector finds nothing.
        self.fired = self.machine = self.loop.start_thread = None
        del self.environment, self.loop.current

    def drain(self, lane: Lane) -> None:
        """Run a lane until nothing is ready in it."""
        ready = lane.ready
        allowed = self.settings.callbacks_per_step
        while ready:
            handle = ready.popleft()
            if not handle._cancelled:  # noqa: SLF001  # on the hot path
                handle._run()  # noqa: SLF001  # the loop's own business, as in BaseEventLoop._run_once
            allowed -= 1
            if not allowed:
                words = (
                    f"process {lane.title} ran {self.settings.callbacks_per_step} callbacks in one step: "
                    "it spins without waiting for anything that the world controls"
                )
                self.loop.complaints.append(("livelock", words))
                return

    def _forget_cancelled(self) -> None:
        self.loop.cancelled = False
        for lane in self.lanes.values():
            lane.forget_cancelled()

    def _ready_events(self, lane: Lane) -> list[Event]:
        order = self.settings.order
        if order is not Order.RELAXED:
            run = lane.run_pass if order is Order.ASYNCIO else lane.run_oldest
            lane.turn = Event(f"run {lane.title}", lane, run)
            return [lane.turn]

        return [
            Event(
                f"run {lane.title} [{place}]",
                lane,
                partial(lane.run_at, place),
                owner=task_of(handle),
            )
            for place, handle in enumerate(lane.ready)
        ]

    def _start_thread(
        self, executor: object, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> asyncio.Future[Any]:
        if self.machine is not None:
            self.machine.used.add(THREADS)
        return start_thread(self.events, self.loop, function, arguments, executor=executor)

    # Timers.

    def _let_time_pass(self, seconds: float) -> None:
        """Let the present process stand still: nothing else of it happens meanwhile."""
        self.loop.writes |= self.loop.clock_bit
        self.loop.current.clock += seconds
        self.loop.common_clock += seconds

    def _timer_events(self) -> list[Event]:
        found: list[Event] = []
        limit = self.settings.timer_firings
        lanes = [lane for lane in self.lanes.values() if lane.timers]
        if self.loop.clock_bit and lanes:
            earliest = min(timer.when() for lane in lanes for timer in lane.timers)
            lanes = [lane for lane in lanes if lane.earliest_timers()[0].when() == earliest]
        for lane in lanes:
            if limit is not None and self._firings.get(lane.name, 0) >= limit:
                self.firings_exhausted = True
                continue
            untimed = self.settings.clock is ClockOrder.UNTIMED
            timers = lane.timers if untimed else lane.earliest_timers()
            for timer in timers:
                if timer.label not in self._known:
                    self._known[timer.label] = Event(timer.label, lane, partial(self._fire_timer, timer))
                found.append(self._known[timer.label])
        return found

    def _fire_timer(self, timer: LaneTimer) -> None:
        lane = timer.lane
        lane.timers = [other for other in lane.timers if other is not timer]
        self._firings[lane.name] = self._firings.get(lane.name, 0) + 1
        lane.clock = max(lane.clock, timer.when())
        self.loop.common_clock = max(self.loop.common_clock, timer.when())
        self.loop.writes |= self.loop.clock_bit
        lane.ready.append(timer)

    def firings(self) -> tuple[tuple[str, int], ...]:
        """Return how many timers have fired, by process. Counted only if their number is limited."""
        return tuple(sorted(self._firings.items())) if self.settings.timer_firings is not None else ()

    def storage_state(self) -> tuple[Hashable, ...]:
        """Return what stores and disks hold."""
        stores = tuple((name, store.state()) for name, store in sorted(self._stores.items()))
        disks = tuple((name, disk.state()) for name, disk in sorted(self._disks.items()))
        return stores + disks + tuple(medium.state() for _, medium in self._media)

    # Cancellations.

    def _cancel_events(self) -> list[Event]:
        chosen = self._cancellable
        lanes = [
            lane for lane in self.lanes.values() if lane.alive and (chosen is None or lane.name in chosen)
        ]
        return [
            cancel_event(task, lane, self.spend)
            for lane in lanes
            for task in lane.tasks
            if can_be_cancelled(task, lane, self.settings.exempt)
        ]

    # Crashes.

    def _crash_events(self, lane: Lane) -> list[Event]:
        disk = self._disks.get(lane.name)
        media: list[Medium] = [] if disk is None else [disk]
        media += [medium for machine, medium in self._media if machine == lane.name]
        label = f"crash {lane.title}"
        if outcomes := joint_outcomes(media) if media else []:
            return [
                Event(f"{label}, {words}", lane, partial(self._crash, lane, outcome), fault=True)
                for words, outcome in outcomes
            ]
        if label not in self._known:
            self._known[label] = Event(label, lane, partial(self._crash, lane), fault=True)
        return [self._known[label]]

    def _crash(self, lane: Lane, outcome: Callable[[], None] | None = None) -> None:
        self.spend(FaultKind.CRASH)
        if outcome is not None:
            outcome()
        self._kill(lane)

    def _kill(self, lane: Lane) -> None:
        lane.alive = False
        lane.ready.clear()
        if lane.timers:
            lane.timers = []
            self.loop.writes |= self.loop.clock_bit
        for label in [label for label, event in self.events.items() if event.lane is lane]:
            del self.events[label]
        for label in [label for label, (_, event) in self.faults.items() if event.lane is lane]:
            del self.faults[label]
        for store in self._stores.values():
            store.caller_died(lane)
        for _, medium in self._media:
            medium.caller_died(lane)
        self.network.process_died(lane)
        lane.ready.clear()
        if self._definitions[lane.name].restarts:
            label = f"restart {lane.title}"
            self.events[label] = Event(label, lane, lambda: self._restart(label, lane))

    def _restart(self, label: str, lane: Lane) -> None:
        del self.events[label]
        self.restarts += 1
        self._spawn(lane.name, incarnation=lane.incarnation + 1)
        self.network.process_restarted(lane)
