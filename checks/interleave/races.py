"""Races of an execution: what the searches by source sets and by wakeup trees have in common.

Two steps race if they touch the same object, and nothing between them makes one wait for the other. Both
searches try one event at a node, and another one only where an execution shows that it matters: when two
steps race, the reversed order is tried where the first of the two was taken. Source: Abdulla, Aronis,
Jonsson, Sagonas, "Optimal dynamic partial order reduction", 2014.

Those algorithms speak of threads with one next step. Here a step is an event with a name, and events come and
go, so that three rules are added, each of which only tries more:

1. A step happens after the one that made its event possible, whatever their footprints say. Such a pair is no
   race.
2. An event that was enabled and is gone without having been taken (another outcome of a draw, the loss of a
   message that was delivered, what a crash ended) will never show a race. Where it was last enabled,
   everything enabled is tried. An execution that ends early, at a violation or a limit, takes everything with
   it.
3. Where a fault was taken, everything enabled is tried, since a spent budget may keep later faults from ever
   being enabled.

A part of the tree that is searched elsewhere cannot add events above its root. Hence the roots of work items
are searched in full.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from checks.interleave.depth_first import DepthFirst, Node
from checks.interleave.work import WHOLE, WorkItem
from models.scheduled import FaultKind, Footprint, Interner


class RaceSearch(DepthFirst):
    """Depth-first search of the subtree below a work item that tries what races ask for. See the module."""

    def __init__(self, interner: Interner, *, item: WorkItem = WHOLE) -> None:
        super().__init__(interner, item=item)
        self._whole = item == WHOLE
        self._budgets = interner.mask(f"budget {kind.value}" for kind in FaultKind)
        self._fresh = 0
        self._blocked_at: frozenset[str] = frozenset()
        # Also what sleeps since it was tried elsewhere: its races are not seen here.
        self._excluding: set[str] = {label for label, _ in item.sleep}

    @abstractmethod
    def _try_all(self, node: Node) -> None:
        """See to it that each event that is enabled is tried at a node."""

    @abstractmethod
    def _reverse(self, order: "Order", earlier: int, later: int) -> None:
        """See to it that the reversed order of a race is tried where the earlier step was taken."""

    def new_execution(self) -> bool:
        """Go to the next leaf that is wanted."""
        self._blocked_at = frozenset()
        more = super().new_execution()
        self._fresh = max(len(self._stack) - 1, 0)
        return more

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Pick, and keep what was enabled where everything was asleep."""
        place = super().pick(enabled, last)
        if place is None:
            self._blocked_at = frozenset(enabled)
        return place

    def done(self, last: Footprint | None) -> None:
        """Look for races in the execution: for all of them, since what comes after the second step counts."""
        super().done(last)
        nodes = [node for node in self._stack if node.footprint is not None]
        self._look_for_exclusions(nodes)
        order = Order(nodes)
        races = [order.add(step) for step in range(len(nodes))]
        for later, found in enumerate(races):
            for earlier in found:
                self._reverse(order, earlier, later)

    def remaining(self) -> list[WorkItem]:
        """Return what is left. Other parts may race with anything on the way, so that all of it is left."""
        if not self._began:
            return super().remaining()
        found = []
        for depth, node in enumerate(self._stack):
            sleep = dict(node.sleep)
            if node.footprint is not None:
                sleep[node.enabled[node.current]] = node.footprint
            if any(label not in sleep for label in node.enabled):
                found.append(self._item(depth, sleep))
        return found

    def _is_full(self, place: int) -> bool:
        """Tell whether everything is tried at a place of the stack: at the root of a part."""
        return place == 0 and not self._whole

    def _look_for_exclusions(self, nodes: Sequence[Node]) -> None:
        """Note which events took others with them or spent a budget, and try everything there."""
        for place in range(self._fresh, len(nodes)):
            node = nodes[place]
            assert node.footprint is not None
            taken = label_of(node)
            later = nodes[place + 1].enabled if place + 1 < len(nodes) else self._blocked_at
            gone = any(label != taken and label not in later for label in node.enabled)
            if gone or node.footprint.writes & self._budgets:
                self._excluding.add(taken)
                self._try_all(node)


class Order:
    """Which step of an execution happens before which one. Sets of steps are bit sets.

    Attributes:
        nodes: the nodes at which the steps were taken.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self._before: list[int] = []
        self._written: dict[int, int] = {}
        self._read: dict[int, int] = {}
        self._born: dict[str, int] = {}

    def add(self, step: int) -> list[int]:
        """Add the next step. Return the earlier ones with which it races."""
        node = self.nodes[step]
        self._note_births(step)
        born = self._born.get(label_of(node), 0)
        direct = self._direct(node.footprint) | born
        steps = list(_bits(direct))
        behind = 0
        for place in steps:
            behind |= self._before[place]
        self._before.append(direct | behind)
        self._touch(node.footprint, step)
        return [place for place in steps if not (behind | born) >> place & 1]

    def initials(self, steps: Sequence[int]) -> list[int]:
        """Return those of some steps that need not wait for another one of them."""
        found, seen = [], 0
        for step in steps:
            if not self._before[step] & seen:
                found.append(step)
            seen |= 1 << step
        return found

    def step(self, step: int) -> tuple[str, Footprint]:
        """Return the event of a step, and what it touched."""
        node = self.nodes[step]
        assert node.footprint is not None
        return label_of(node), node.footprint

    def reversed(self, earlier: int, later: int) -> list[int]:
        """Return the reversed order of a race: what need not wait for the earlier step, then the later one.

        What comes after the later step is part of it, so that the later one comes last.
        """
        steps = range(earlier + 1, len(self._before))
        return [step for step in steps if not self._before[step] >> earlier & 1] + [later]

    def _note_births(self, step: int) -> None:
        if not step:
            return
        parent = self.nodes[step - 1]
        taken = label_of(parent)
        old = set(parent.enabled)
        for label in self.nodes[step].enabled:
            if label not in old or label == taken:
                self._born[label] = 1 << (step - 1)

    def _direct(self, footprint: Footprint | None) -> int:
        assert footprint is not None
        found = 0
        for bit in _bits(footprint.writes):
            found |= self._written.get(bit, 0) | self._read.get(bit, 0)
        for bit in _bits(footprint.reads):
            found |= self._written.get(bit, 0)
        return found

    def _touch(self, footprint: Footprint | None, step: int) -> None:
        assert footprint is not None
        for bit in _bits(footprint.writes):
            self._written[bit] = 1 << step
            self._read[bit] = 0
        for bit in _bits(footprint.reads & ~footprint.writes):
            self._read[bit] = self._read.get(bit, 0) | 1 << step


def label_of(node: Node) -> str:
    """Return the event that was taken at a node."""
    return node.enabled[node.current]


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
