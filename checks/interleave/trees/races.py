"""Races of an execution: what the search by wakeup trees goes by.

Two steps race if they touch the same object, and nothing between them makes one wait for the other. The
search tries one event at a node, and another one only where an execution shows that it matters: when two
steps race, the reversed order is tried where the first of the two was taken. Source: Abdulla, Aronis,
Jonsson, Sagonas, "Optimal dynamic partial order reduction", 2014.

That algorithm speaks of threads with one next step. Here a step is an event with a name, and events come and
go, so that three rules are added, each of which only tries more:

1. A step happens after the one that made its event possible, whatever their footprints say. Such a pair is no
   race.
2. An event that was enabled and is gone without having been taken (another outcome of a draw, the loss of a
   message that was delivered, what a crash ended) will never show a race. The step that took it along has
   excluded it: it is tried in place of that step. An execution that ends early, at a violation or a limit,
   takes everything with it.
3. Where a fault was taken, the execution without it is tried, too, since a spent budget may keep later faults
   from ever being enabled.

A part of the tree that is searched elsewhere cannot add events above its root. Hence the roots of work items
are searched in full.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from tidemark.checks.interleave.strategies.depth_first import Node
from tidemark.models.simulation import Footprint


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
