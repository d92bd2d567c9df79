"""One execution of a program, driven from outside one pick at a time.

**Visible steps.** A check of (abstract state before, abstract state after) reads the state of several
processes at once, and a partial-order reduction may leave out the order in which it would fail. The rule that
keeps the reduction sound:

1. The abstract state is a *product of components*. Each component has an owner, a mediated object, and
depends on
   nothing else. This is checked: a component that changes in a step which does not write its owner is an
   error.
2. A step that changes a component is *visible*. Visible steps write the common object ``observation``, and so
depend on
   each other. Their order is thereby the same in all executions of one Mazurkiewicz trace.

By 1, whether a step is visible and how it changes its component does not depend on where independent steps
are placed; by 2, all executions of a trace then go through the same sequence of abstract states up to
stuttering, so that checking one of them is checking all.

Requirement 1 cannot be dropped. Let the abstract state be the single value ``x > 0 and y > 0``, let a step of
one process set x and a step of another process set y. At the start neither step changes the value, so that
both look invisible and independent; but whichever comes second changes it. With a third step between them,
the value changes in a different place in the two orders, and only one of them is explored. Name x and y as
two components, and compute the conjunction in ``on_step``.
"""

import asyncio
import contextlib
import sys
import weakref
from collections.abc import AsyncGenerator, Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from tidemark.models.judged import judged_place
from tidemark.models.simulation.closed_world import GUARD
from tidemark.models.simulation.errors import ProgramError, ScheduledError, SpinError
from tidemark.models.simulation.footprint import OBSERVATION, Footprint, Interner
from tidemark.models.simulation.loop.event_loop import ControlledLoop
from tidemark.models.simulation.loop.freezing import without_addresses
from tidemark.models.simulation.loop.history import memory_after, state_after
from tidemark.models.simulation.loop.lane import INSIDE, LOCKS, WAKERS, Event, Lane, waits_in, where
from tidemark.models.simulation.loop.memory import OpaqueError
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.settings import ClockOrder
from tidemark.models.simulation.snapshot import digest, world_state
from tidemark.models.simulation.spinning import SPIN, WATCH
from tidemark.models.simulation.world.world import World

EXECUTION = "execution"
"""Claim id: no deadlock, no unexpected exception, no leaked task, nothing outside of the closed world."""

CLOSED_WORLD = "closed-world"
"""Kind of violation: the program used what the simulation refuses. It says nothing about the program."""


_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong with an execution, free of addresses, times and counters, so that equal faults are equal.
    ``kind``: "property", "deadlock", "lost-wake-up", "exception", "callback-exception",
    "unretrieved-exception", "task-leak", "livelock", "starvation", "spin", "shared-object", "unreadable" or
    "closed-world".
    """

    kind: str
    message: str

    @property
    def claim(self) -> str:
        """The id of the property that is broken, or ``EXECUTION`` for a fault of the execution itself."""
        return self.message.partition(":")[0] if self.kind == "property" else EXECUTION

    @property
    def identity(self) -> tuple[str, str]:
        """What makes two violations the same finding: the kind, and of a property the id before the first
        colon.
        """
        return (self.kind, self.message.partition(":")[0] if self.kind == "property" else "")


_Hook = Callable[[AsyncGenerator[Any, Any]], None] | None
Hooks = tuple[_Hook, _Hook]
"""What Python does with asynchronous generators."""


def take_asyncgens() -> Hooks:
    """Let the controlled loop finish asynchronous generators. Return the hooks that were there before."""
    before = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(firstiter=note_asyncgen, finalizer=finish_asyncgen)
    return (before.firstiter, before.finalizer)


def note_asyncgen(generator: AsyncGenerator[Any, Any]) -> None:
    """Note a generator that begins in its lane: the place that it waits at is part of a declared state."""
    loop = asyncio._get_running_loop()  # noqa: SLF001  # documented for authors of event loops
    if isinstance(loop, ControlledLoop):
        loop.current.begun.append(weakref.ref(generator))


def finish_asyncgen(generator: AsyncGenerator[Any, Any]) -> None:
    """Close a generator that is no longer used in its lane, as a loop does; one of a dead lane is kept."""
    loop = asyncio._get_running_loop()  # noqa: SLF001  # documented for authors of event loops
    if not isinstance(loop, ControlledLoop):
        return
    lane = loop.current
    if lane.alive:
        loop.create_task(generator.aclose())
    else:
        lane.asyncgens.append(generator)


class Execution:
    """A fresh program between its first and its last step. ``violation``: the first thing that was found
    wrong. ``visible_steps``: how many steps changed the abstract state. ``opaque``: the type of an object of
    which the contents cannot be seen, if a memory holds one.
    """

    def __init__(self, program: Program, interner: Interner) -> None:
        self.program = program
        self.violation: Violation | None = None
        self.visible_steps = 0
        self.world = World(program.settings, interner)
        self._complaints = self.world.loop.complaints
        self._interner = interner
        self._observation_bit = interner.bit(OBSERVATION)
        self._state: Observation | None = None
        self._hooks: Hooks | None = None
        self._stale = False
        self._began = False
        self.opaque = ""

    def start(self, *, checked: bool = False) -> None:
        """Build the program and bring each process to its first wait. ``checked``: an earlier execution has
        checked the first state.
        """
        world = self.world
        asyncio._set_running_loop(world.loop)  # noqa: SLF001  # documented for authors of event loops
        self._hooks = None if sys.get_asyncgen_hooks().finalizer is finish_asyncgen else take_asyncgens()
        GUARD.complaints = self._complaints
        GUARD.machine = world.machine
        WATCH.complain = world.loop.complain_of_step
        with WATCH:
            self._begin()
            if self._complaints:
                self._take_complaints()
            self._stale = checked
            if not checked:
                self._look_first()
            self._began = True
        if not self._began:
            raise ProgramError(self._complaints[0][1])

    def _begin(self) -> None:
        GUARD.armed = GUARD.installed
        try:
            self.program.build(self.world)
            self.world.check()
            if not self.world.every_lane:
                raise ProgramError(f"{type(self.program).__name__}.build defined no process")
            self.world.start()
        finally:
            GUARD.armed = False

    def _look_first(self) -> None:
        self.be_at(self.program.observe())
        if self._state is not None:
            self._judge(self.program.on_start(self._state))
        elif type(self.program).on_step is not Program.on_step:
            raise ProgramError(
                f"{type(self.program).__name__} checks steps (on_step) and observes nothing: no step "
                "would be checked. Return what is to be checked from `observe`, component by component"
            )

    def enabled(self) -> list[Event]:
        """Return what may happen next. Empty: the execution is complete."""
        return self.world.enabled()

    def step(self, event: Event) -> Footprint:
        """Let one event happen and check what it did."""
        self.catch_up()
        footprint = self._fire(event)
        if self._complaints:
            self._take_complaints()
        return self._read(lambda: self._look(footprint, event), footprint)

    def _read(self, read: Callable[[], _Read], otherwise: _Read) -> _Read:
        """Let the program look at the implementation, which is to blame if that fails or does not end."""
        try:
            with WATCH:
                return read()
        except Exception as error:
            if not self._unreadable(error):
                raise
        if self._complaints:
            self._take_complaints()
        return otherwise

    def _look(self, footprint: Footprint, event: Event) -> Footprint:
        """Check a step that has happened. Return its footprint, with what a visible step writes."""
        before = self._state
        if before is None:
            return footprint
        after = self.program.observe()
        if after is None or after == before:
            self._judge(self.program.on_stutter(event.label))
            return footprint
        self.be_at(after)
        self.visible_steps += 1
        self._judge(self.program.on_step(before, after, event.label))
        if self.violation is None:
            self._check_owners(before, after, footprint, event)
        return Footprint(footprint.reads, footprint.writes | self._observation_bit)

    def step_again(self, event: Event) -> None:
        """Let one event happen that an earlier execution has checked: nothing is observed."""
        self._fire(event)
        if self._complaints:
            self._take_complaints()
        self._stale = True

    def _fire(self, event: Event) -> Footprint:
        """Let code of the program run, within the guard and under the watch."""
        GUARD.armed = GUARD.installed
        WATCH.step += 1  # what ``with WATCH`` does, on the hot path
        try:
            return self.world.fire(event)
        except SpinError:
            return Footprint(0, 0)  # it did not end, outside of any task
        finally:
            WATCH.step += 1
            GUARD.armed = False

    def catch_up(self) -> None:
        """Observe the state after steps that were not observed."""
        if self._stale:
            self.be_at(self.program.observe())

    def be_at(self, state: Observation | None) -> None:
        """Take note of the present state: what it was when the same steps were observed."""
        self._stale = False
        self._state = state
        if state is not None:
            self.program._observed = state  # noqa: SLF001  # for `declared`

    def declared_state(self) -> bytes:
        """Return the digest of the declared state."""
        self.catch_up()
        return self._read(lambda: digest((self.program.declared(), world_state(self.world))), b"")

    def history_state(self, *, timed: bool) -> bytes:
        """Return the digest of what has run, and of what the loop holds. ``timed``: and of its clock."""
        return state_after(self.world, timed=timed or self.world.settings.clock is not ClockOrder.UNTIMED)

    def memory_state(self, *, timed: bool) -> bytes:
        """Return the digest of what the program remembers; of its history where that cannot be seen."""
        timed = timed or self.world.settings.clock is not ClockOrder.UNTIMED
        try:
            machine = self.world.machine
            return memory_after(self.world, timed=timed, drawn=machine.drawn() if machine is not None else ())
        except OpaqueError as error:
            self.opaque = str(error)
            return self.history_state(timed=timed)

    def history(self) -> bytes:
        """Return the digest of the callbacks that have run, in their order; empty if not recorded."""
        histories = [lane.history for lane in self.world.every_lane]
        return b"".join(history.digest() for history in histories if history is not None)

    @property
    def clock_read(self) -> bool:
        """Whether the program has asked what time it is."""
        return self.world.loop.clock_read

    def rest(self) -> bool:
        """Judge a state in which nothing can happen but faults, which need not come. Return whether it is
        right.
        """
        for lane in self.world.every_lane:
            if self.violation is None and lane.alive:
                self.violation = self._lane_violation(lane)
        if self.violation is None:
            self._judge(self._read(self.program.check_rest, None))
        return self.violation is None

    def failures(self) -> None:
        """Judge processes that have failed, in an execution that may have no end."""
        for lane in self.world.every_lane:
            if (
                self.violation is None
                and lane.alive
                and lane.main is not None
                and failed_task(lane) is lane.main
            ):
                self.violation = self._lane_violation(lane)

    def finish(self) -> Hashable:
        """Judge a complete execution and return its outcome."""
        self.rest()
        if self.violation is None:
            self._judge(self._read(self.program.check_final, None))
        return self._read(self.program.final, None)

    def close(self) -> None:
        """Take the execution down. Only now do coroutines that are left run their ``finally`` blocks."""
        world = self.world
        world.loop.close()
        suppressed = contextlib.suppress(BaseException)
        for lane in world.every_lane:
            lane.alive = False
        for lane in world.every_lane:
            world.loop.current = lane
            for task in lane.tasks:
                if task.done():
                    if task._log_traceback:  # noqa: SLF001
                        task.exception()
                    continue
                task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001
                WATCH.step += 1
                with suppressed:
                    task.get_coro().close()
                WATCH.step += 1
        world.dismantle()
        GUARD.machine = None
        if self._hooks is not None:
            sys.set_asyncgen_hooks(*self._hooks)
        asyncio._set_running_loop(None)  # noqa: SLF001
        endless = [words for kind, words in self._complaints if kind == SPIN]
        if endless:
            raise ProgramError(f"when the execution is taken down: {endless[0]}")

    def blame(self, kind: str, message: str) -> None:
        """Record what the driver of the execution finds wrong with its course."""
        if self.violation is None:
            self.violation = self._found(kind, message)

    def _unreadable(self, error: Exception) -> bool:
        """Blame the implementation for a state that the program cannot read; False if it is not to blame: the
        program has read the first state, so that errors of judged lines are those of the implementation.
        """
        place = judged_place(error)
        if not self._began or not place or isinstance(error, ScheduledError | NotImplementedError):
            return False
        words = f"{place}: {type(error).__name__}: {error}"
        self.blame("unreadable", f"{words}: the program cannot read this state of the implementation")
        return True

    def observation(self) -> Observation | None:
        """Return the present abstract state."""
        self.catch_up()
        return self._state

    def _found(self, kind: str, message: str) -> Violation:
        return Violation(kind, f"{without_addresses(message)}{self.world.settings.order.label}")

    def _judge(self, complaint: str | None) -> None:
        if complaint is not None and self.violation is None:
            self.violation = self._found("property", complaint)

    def _take_complaints(self) -> None:
        complaints = self._complaints
        if complaints and self.violation is None:
            self.violation = self._found(*complaints[0])
        complaints.clear()

    def _check_owners(
        self, before: Observation, after: Observation, footprint: Footprint, event: Event
    ) -> None:
        for key in before.keys() | after.keys():
            if before.get(key) == after.get(key) and (key in before) == (key in after):
                continue
            if not footprint.writes & self._interner.bit(key):
                written = ", ".join(self._interner.names(footprint.writes))
                raise ProgramError(
                    f"the observed component {key!r} changed in step {event.label!r}, which wrote "
                    f"only: {written}. Split the observation so that each component depends on the "
                    "object that its key names, and on nothing else"
                )

    def _lane_violation(self, lane: Lane) -> Violation | None:
        main = lane.main
        failed = failed_task(lane)
        if failed is not None:
            kind, how = (
                ("exception", "failed") if failed is main else ("unretrieved-exception", "failed unseen")
            )
            words = f"{failed.get_name()} {how}{_raised(failed)}: {failed.exception()!r}"
            return self._found(kind, words)
        if lane.daemon:
            return None
        pending = lane.pending_tasks()
        waiting = [where(task) for task in pending]
        if main is not None and not main.done():
            if self.world.firings_exhausted:
                return None
            kind = _kind_of_standstill({waits_in(task) for task in pending})
            return self._found(kind, f"nothing can happen any more; waiting: {'; '.join(waiting)}")
        waiting = waiting or list(lane.left_behind)
        if waiting and not self.world.firings_exhausted:
            return self._found("task-leak", f"{lane.title} ended and left tasks behind: {'; '.join(waiting)}")
        return None


def failed_task(lane: Lane) -> asyncio.Task[Any] | None:
    """Return the task that has failed: the main one, or another one whose failure was not seen so far."""
    main = lane.main
    if main is not None and main.done() and not main.cancelled() and main.exception() is not None:
        return main
    return next((task for task in lane.tasks if task._log_traceback), None)  # noqa: SLF001


def _kind_of_standstill(primitives: set[str]) -> str:
    """A task that waits for a lock, or for nothing of asyncio, makes it a deadlock."""
    if primitives & LOCKS or not primitives & WAKERS:
        return "deadlock"
    return "lost-wake-up"


def _raised(task: asyncio.Task[Any]) -> str:
    """Return the innermost line of the program that raised the error of a task, in words."""
    error = task.exception()
    trace = error.__traceback__ if error is not None else None
    place = ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not name.startswith(INSIDE):
            place = f" at {name.rpartition('/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
