"""The declared bounds of a world: how many faults, which order inside a lane, how timers behave."""

import functools
from dataclasses import dataclass, field
from enum import StrEnum

from tidemark.models.simulation.errors import ProgramError


class Order(StrEnum):
    """What one step of a process is. The choice belongs to the claim that an exploration makes."""

    ATOMIC = "atomic"
    """An event (a delivery, a timer, an operation that completes, a preemption point that resumes) runs its
    lane until nothing is ready. Code between two mediated awaits is one step. Coarse and fast: the
    default."""

    ASYNCIO = "asyncio"
    """One pass of asyncio's loop is a step: the callbacks that are ready when it begins, in their order.
    Timers and events become due between two passes, as in ``BaseEventLoop._run_once``."""

    FIFO = "fifo"
    """Each ready callback is a step, in asyncio's own order. An event may arrive between two ready
    callbacks."""

    RELAXED = "relaxed"
    """Any ready callback of a lane may be next. No real asyncio loop does this: findings depend on it and are
    labelled with it."""

    @property
    def label(self) -> str:
        """What is added to each finding that may depend on an order that no real loop takes."""
        return " [in a free order inside a process, as no asyncio loop runs]" if self is Order.RELAXED else ""


class ClockOrder(StrEnum):
    """Which armed timers may fire."""

    PER_PROCESS = "per-process"
    """The earliest timers of each process. Processes drift freely against each other."""

    UNTIMED = "untimed"
    """Any armed timer. Durations mean nothing: the most general order, that of an untimed specification."""

    GLOBAL = "global"
    """The earliest timers of the whole world. All clocks agree."""


class FaultKind(StrEnum):
    """Kinds of fault. Each has its own budget."""

    CRASH = "crashes"
    DROP = "drops"
    DELAY = "delays"
    LOST_REPLY = "lost_replies"
    DUPLICATE = "duplicates"
    REORDER = "reorders"
    STORAGE_FAILURE = "storage_failures"
    STORAGE_LOST_ACK = "storage_lost_acks"
    STORAGE_TORN = "torn_writes"
    CANCELLATION = "cancellations"

    __hash__ = str.__hash__  # that of an enumeration is no C function, and budgets are asked all the time


MESSAGE_FAULTS = (
    FaultKind.DROP,
    FaultKind.DELAY,
    FaultKind.LOST_REPLY,
    FaultKind.DUPLICATE,
    FaultKind.REORDER,
)
"""Kinds of fault of a message: those that a link may bound by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultBudget:
    """How many faults of each kind one execution may contain. Zero of everything unless said otherwise."""

    crashes: int = 0
    """Crashes of the processes that are declared as ``crashable``."""
    drops: int = 0
    """Requests that vanish before delivery: the caller sees a time-out, the request never takes effect."""
    delays: int = 0
    """Requests whose caller sees a time-out while they are still under way and are delivered later."""
    lost_replies: int = 0
    """Replies that vanish: the caller sees a time-out although the request took effect."""
    duplicates: int = 0
    """Requests of which a copy is under way as well. It arrives at any later time, even after a crash of its
    sender; the reply to it is discarded."""
    reorders: int = 0
    """Messages that overtake earlier ones of an ordered link. On other links any order is free."""
    storage_failures: int = 0
    """Store operations that fail without effect."""
    storage_lost_acks: int = 0
    """Store operations that take effect and are reported as failed."""
    torn_writes: int = 0
    """Writes to a store that fail and leave a part of the value behind."""
    cancellations: int = 0
    """Tasks that are cancelled at an await at which they wait, by ``Task.cancel``: each task of the processes
    that ``Settings.cancellable`` names, at each of its awaits."""
    messages: int | None = None
    """Faults of messages, all kinds together. None: only the budgets of the kinds bound them."""

    def remaining(self) -> dict[FaultKind, int]:
        """Return the counters with which an execution starts."""
        return dict(_counters(self))

    def text(self) -> str:
        """Return the bounds in words, for a verdict line."""
        spent = [f"{count} {kind.value}" for kind, count in self.remaining().items() if count]
        if self.messages is not None:
            spent.append(f"at most {self.messages} faults of messages in all")
        return ", ".join(spent) if spent else "no faults"


@functools.lru_cache(maxsize=64)
def _counters(budget: FaultBudget) -> tuple[tuple[FaultKind, int], ...]:
    return tuple((kind, int(getattr(budget, kind.value))) for kind in FaultKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What is special about the messages from one process to another one, replies to them included.

    Attributes:
        ordered: they arrive in the order of sending; a reorder is a fault.
        faults: their own budget, within that of the world. None: only the budget of the world bounds them.
    """

    source: str
    destination: str
    ordered: bool = False
    faults: FaultBudget | None = None

    def __post_init__(self) -> None:
        kinds = self.faults.remaining().items() if self.faults is not None else ()
        for kind, count in kinds:
            if count and kind not in MESSAGE_FAULTS:
                raise ProgramError(
                    f"the link {self.source} to {self.destination} has a budget of {kind.value}, which are "
                    "no faults of messages: put them in the budget of the world"
                )

    def text(self) -> str:
        """Return the link in words, for a verdict line."""
        order = "in order" if self.ordered else "in any order"
        faults = "" if self.faults is None else f", {self.faults.text()}"
        return f"{self.source} to {self.destination}: {order}{faults}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that bounds a world."""

    faults: FaultBudget = field(default_factory=FaultBudget)
    links: tuple[Link, ...] = ()
    """Links that differ from the rest: unordered, and bounded by the budget of the world alone."""
    crashable: frozenset[str] = frozenset()
    """Names of the processes that may crash. A name that no process has is an error."""
    cancellable: frozenset[str] | None = None
    """Names of the processes whose tasks may be cancelled. None: all of them."""
    exempt: tuple[str, ...] = ()
    """Names of tasks, or of their coroutine functions, that no fault cancels; patterns of ``fnmatch``."""
    order: Order = Order.ATOMIC
    clock: ClockOrder = ClockOrder.PER_PROCESS
    timer_firings: int | None = None
    """Largest number of timers that fire in one process, all its incarnations together. None: no limit."""
    virtual: bool = False
    """Whether clocks, random numbers, the process id and executors of Python are stood in for. If not, they
    are refused: the program is to be given objects for them."""
    histories: bool = False
    """Whether the history of each process is recorded, for a search that merges equal ones."""
    callbacks_per_step: int = 10_000
    """A lane that runs more callbacks than this in one step is reported as a livelock."""

    def text(self) -> str:
        """Return the bounds in words, for a verdict line."""
        parts = [
            self.faults.text(),
            f"{self.order.value} order inside a process",
            f"{self.clock.value} clocks",
        ]
        if self.timer_firings is not None:
            parts.append(f"at most {self.timer_firings} timer firings a process")
        if self.exempt:
            parts.append(f"never cancelled: {', '.join(self.exempt)}")
        parts += [link.text() for link in self.links]
        return ", ".join(parts)
