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
   message that was delivered, what a crash ended) will never show a race. The step that took it along has
   excluded it: it is tried in place of that step. An execution that ends early, at a violation or a limit,
   takes everything with it.
3. Where a fault was taken, the execution without it is tried, too, since a spent budget may keep later faults
   from ever being enabled.

Source sets know no whole executions to be tried, and try every event that is enabled there instead.

A part of the tree that is searched elsewhere cannot add events above its root. Hence the roots of work items
are searched in full.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from tidemark.checks.interleave.strategies.depth_first import DepthFirst, Node
from tidemark.checks.interleave.trees.work import WHOLE, WorkItem
from tidemark.models.simulation import FaultKind, Footprint, Interner


class RaceSearch(DepthFirst):
    """Depth-first search of the subtree below a work item that tries what races ask for. See the module."""

    def __init__(self, interner: Interner, *, item: WorkItem = WHOLE) -> None:
        super().__init__(interner, item=item)
        self._whole = item == WHOLE
        self._budgets = interner.mask(f"budget {kind.value}" for kind in FaultKind)
        self._fresh = 0
        self._blocked_at: frozenset[str] = frozenset()
        # Events by what they have excluded; also what was tried elsewhere, since its races are not seen here.
        self._excluding: dict[str, set[str]] = {label: set() for label, _ in item.sleep}

    @abstractmethod
    def _exclude(self, order: "Order", step: int, gone: Sequence[str]) -> None:
        """See to it that what a step has excluded is tried where it was taken.

        ``gone``: the events that it took with it. There are none if it has only spent a budget.
        """

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
        order = Order(nodes)
        races = [order.add(step) for step in range(len(nodes))]
        self._look_for_exclusions(order)
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

    def _look_for_exclusions(self, order: "Order") -> None:
        """Note which events took others with them or spent a budget."""
        nodes = order.nodes
        found = []
        for place, node in enumerate(nodes):
            assert node.footprint is not None
            taken = label_of(node)
            later = nodes[place + 1].enabled if place + 1 < len(nodes) else self._blocked_at
            gone = [label for label in node.enabled if label != taken and label not in later]
            if gone or node.footprint.writes & self._budgets:
                self._excluding.setdefault(taken, set()).update(gone)
                found.append((place, gone))
        for place, gone in found:
            self._exclude(order, place, gone)


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
        assert node.footprint is not None
        for bit in _bits(node.footprint.writes):
            self._written[bit] = 1 << step
            self._read[bit] = 0
        for bit in _bits(node.footprint.reads & ~node.footprint.writes):
            self._read[bit] = self._read.get(bit, 0) | 1 << step
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
        return [*self.without(earlier), later]

    def without(self, step: int) -> list[int]:
        """Return the later steps that do not happen after a step."""
        return [later for later in range(step + 1, len(self._before)) if not self._before[later] >> step & 1]

    def before_excluded(self, label: str, step: int, excluding: Mapping[str, AbstractSet[str]]) -> list[int]:
        """Return what may come before an event that a step has excluded, when that step is left out.

        ``excluding``: events by what they exclude: other steps may exclude it as well, and are left out.
        """
        found, out = [], 0
        for later in self.without(step):
            if self._before[later] & out or label in excluding.get(label_of(self.nodes[later]), ()):
                out |= 1 << later
            else:
                found.append(later)
        return found

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


def label_of(node: Node) -> str:
    """Return the event that was taken at a node."""
    return node.enabled[node.current]


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
