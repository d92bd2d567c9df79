"""Dynamic partial-order reduction: depth-first search with source sets and sleep sets.

Sleep sets alone run every enabled event of a node and give up when all that is left is asleep. Source sets
try one event, and a second one only where an execution shows that it matters: when two steps race, some first
step of the reversed order is added where the first of the two was taken. Source: Abdulla, Aronis, Jonsson,
Sagonas, "Optimal dynamic partial order reduction", 2014, there called Source-DPOR.

That algorithm speaks of threads with one next step. Here a step is an event with a name, and events come and
go, so that three rules are added, each of which only tries more:

1. A step happens after the one that made its event possible, whatever their footprints say. Such a pair is no
   race.
2. An event that was enabled and is gone without having been taken (another outcome of a draw, the loss of a
   message that was delivered, what a crash ended) will never show a race. It is tried where it was last
   enabled. When an execution ends early, at a violation or a limit, all that was enabled in its last step is
   tried there.
3. Where a fault was taken, everything enabled is tried, since a spent budget may keep later faults from ever
   being enabled.

A part of the tree that is searched elsewhere cannot add events above its root. Hence the roots of work items
are searched in full.
"""

from collections.abc import Iterator, Sequence

from checks.interleave.depth_first import DepthFirst, Node
from checks.interleave.work import WHOLE, WorkItem
from models.scheduled import FaultKind, Footprint, Interner


class _SourceNode(Node):
    """A node with the events that have to be tried.

    Attributes:
        wanted: labels to be tried, those that were tried included.
    """

    __slots__ = ("tried", "wanted")

    def __init__(self, enabled: Sequence[str], sleep: dict[str, Footprint], *, full: bool) -> None:
        super().__init__(enabled, sleep)
        self.tried: set[str] = set()
        first = [label for label in enabled if label not in sleep]
        self.wanted: set[str] = set(enabled if full else first[:1])

    def advance(self) -> bool:
        """Go to the next child that is wanted and not asleep."""
        for place, label in enumerate(self.enabled):
            if label in self.wanted and label not in self.sleep and label not in self.tried:
                self.tried.add(label)
                self.current = place
                self.footprint = None
                return True
        return False

    def want(self, labels: Sequence[str]) -> None:
        """Make sure that one of these first steps is covered. The first one that is enabled is preferred."""
        if any(label in self.wanted or label in self.sleep for label in labels):
            return
        enabled = [label for label in labels if label in self.enabled]
        self.wanted.update(enabled[:1] or self.enabled)


class SourceSets(DepthFirst):
    """Depth-first search of the subtree below a work item, with source sets. See the module."""

    def __init__(self, interner: Interner, *, item: WorkItem = WHOLE) -> None:
        super().__init__(interner, item=item)
        self._whole = item == WHOLE
        self._budgets = interner.mask(f"budget {kind.value}" for kind in FaultKind)
        self._fresh = 0
        self._blocked_at: frozenset[str] = frozenset()

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
        """Look for races in the execution."""
        super().done(last)
        self._want_what_is_gone()
        self._reverse_races()

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

    def _node(self, place: int, enabled: Sequence[str], sleep: dict[str, Footprint]) -> Node:
        return _SourceNode(enabled, sleep, full=place == 0 and not self._whole)

    def _nodes(self) -> list[_SourceNode]:
        return [node for node in self._stack if isinstance(node, _SourceNode) and node.footprint is not None]

    def _want_what_is_gone(self) -> None:
        nodes = self._nodes()
        for place in range(self._fresh, len(nodes)):
            node = nodes[place]
            assert node.footprint is not None
            later = nodes[place + 1].enabled if place + 1 < len(nodes) else self._blocked_at
            node.wanted.update(set(node.enabled).difference(later))
            if node.footprint.writes & self._budgets:
                node.wanted.update(node.enabled)

    def _reverse_races(self) -> None:
        nodes = self._nodes()
        before = _Order(nodes)
        for later in range(len(nodes)):
            races = before.add(later)
            if later < self._fresh:
                continue
            for earlier in races:
                nodes[earlier].want([_label(nodes[step]) for step in before.initials(earlier, later)])


class _Order:
    """Which step of an execution happens before which one. Sets of steps are bit sets."""

    def __init__(self, nodes: Sequence[_SourceNode]) -> None:
        self._nodes = nodes
        self._before: list[int] = []
        self._written: dict[int, int] = {}
        self._read: dict[int, int] = {}
        self._born: dict[str, int] = {}

    def add(self, step: int) -> list[int]:
        """Add the next step. Return the earlier ones with which it races."""
        node = self._nodes[step]
        self._note_births(step)
        born = self._born.get(_label(node), 0)
        direct = self._direct(node.footprint) | born
        steps = list(_bits(direct))
        behind = 0
        for place in steps:
            behind |= self._before[place]
        self._before.append(direct | behind)
        self._touch(node.footprint, step)
        return [place for place in steps if not (behind | born) >> place & 1]

    def initials(self, earlier: int, later: int) -> list[int]:
        """Return the first steps of the reversed race: of what need not wait for the earlier step."""
        found, seen = [], 0
        for step in range(earlier + 1, later + 1):
            before = self._before[step]
            if step != later and before >> earlier & 1:
                continue
            if not before & seen:
                found.append(step)
            seen |= 1 << step
        return found

    def _note_births(self, step: int) -> None:
        if not step:
            return
        parent = self._nodes[step - 1]
        taken = _label(parent)
        old = set(parent.enabled)
        for label in self._nodes[step].enabled:
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


def _label(node: Node) -> str:
    return node.enabled[node.current]


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
