"""Links that differ from the rest: which ones keep order, and how many faults each may still have.

A fault of a message is paid three times: from the budget of its kind, from that of its link if the link has
one, and from that of all messages together if there is one. The last two bind faults of different kinds and
of messages that have nothing else in common, so that such faults write a common object.
"""

from collections import deque
from collections.abc import Callable, Hashable

from tidemark.models.simulation.errors import ProgramError
from tidemark.models.simulation.settings import FaultKind, Settings
from tidemark.models.simulation.world.environment import Environment
from tidemark.models.simulation.world.message import Message

Ends = tuple[str, str]


class Links:
    """Queues and budgets of the links of one execution."""

    def __init__(self, world: Environment, settings: Settings) -> None:
        self._world = world
        self._queues: dict[Ends, deque[Message]] = {}
        self._left: dict[Ends, dict[FaultKind, int]] = {}
        self._together: dict[Ends, int] = {}
        self._all = settings.faults.messages
        for link in settings.links:
            ends = (link.source, link.destination)
            if link.ordered:
                self.order(ends)
            if link.faults is None:
                continue
            if ends in self._left:
                raise ProgramError(f"the link {' to '.join(ends)} is listed twice: give it one budget")
            self._left[ends] = link.faults.remaining()
            if link.faults.messages is not None:
                self._together[ends] = link.faults.messages

    def names(self) -> list[str]:
        """Return the names of processes that links speak of."""
        return sorted({name for ends in (*self._queues, *self._left) for name in ends})

    def clear(self) -> None:
        """Forget the messages."""
        self._queues.clear()

    # Order.

    def order(self, ends: Ends) -> None:
        """Deliver in the order of sending from now on."""
        self._queues[ends] = deque()

    def queue(self, message: Message) -> deque[Message] | None:
        """Return the messages of an ordered link, the oldest first; None if the link keeps no order."""
        return self._queues.get((message.sender.name, message.destination))

    # Budgets.

    def allows(self, message: Message, kind: FaultKind) -> bool:
        """Tell whether a fault of a message is still within all budgets."""
        ends = (message.sender.name, message.destination)
        return (
            self._world.budget[kind] > 0
            and self._all != 0
            and self._together.get(ends) != 0
            and (ends not in self._left or self._left[ends][kind] > 0)
        )

    def spend(self, message: Message, kind: FaultKind) -> None:
        """Take one fault from all budgets."""
        world, ends = self._world, (message.sender.name, message.destination)
        world.spend(kind)
        if self._all is not None:
            self._all -= 1
            world.touch(writes=world.interner.bit("budget messages"))
        if ends in self._together:
            self._together[ends] -= 1
            world.touch(writes=world.interner.bit(f"budget messages {' '.join(ends)}"))
        if ends in self._left:
            self._left[ends][kind] -= 1

    def state(self, shown: Callable[[Message], Hashable]) -> Hashable:
        """Return what is left and what waits in which order, in a form that can be compared."""
        if not (self._queues or self._left or self._together):
            return self._all
        queues = tuple((ends, tuple(map(shown, queue))) for ends, queue in sorted(self._queues.items()))
        left = tuple((ends, tuple(counts.values())) for ends, counts in sorted(self._left.items()))
        return queues, left, self._all, tuple(sorted(self._together.items()))
