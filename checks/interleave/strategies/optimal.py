"""Optimal dynamic partial-order reduction: depth-first search with wakeup trees and sleep sets.

Sleep sets run every enabled event of a node and give up when all that is left is asleep. A wakeup tree
(``tidemark.checks.interleave.trees.wakeup``) holds the whole beginning of the reversed order of a race.
Executions that follow it do not end in sleep, so that there is one execution for each Mazurkiewicz trace and
no other. Source: Abdulla, Aronis, Jonsson, Sagonas, "Optimal dynamic partial order reduction", 2014.

That algorithm expects that the next step of a thread is known before it is taken. Here what a step touches
may depend on values: a compare-and-swap that fails only reads. When a leaf of a wakeup tree touches something
else than was expected, something may sleep below it all the same. Then what it was to cover is followed to
the end instead, and without such it is given up.

Of an event that was excluded (rule 2 of ``tidemark.checks.interleave.trees.races``) nothing is known: it is
expected to touch everything. And an event that excludes others covers less when it sleeps, since what races
with them was not seen. So, with draws, faults and their budgets, and in parts of a tree, some executions may
be given up; none is lost.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from tidemark.checks.interleave.errors import UnsoundReductionError
from tidemark.checks.interleave.strategies.depth_first import DepthFirst, Node
from tidemark.checks.interleave.trees.races import Order, label_of
from tidemark.checks.interleave.trees.wakeup import (
    EVERYTHING,
    Branch,
    Word,
    after,
    begins_with,
    insert,
    prune,
)
from tidemark.checks.interleave.trees.work import WHOLE, WorkItem
from tidemark.models.simulation import FaultKind, Footprint, Interner


class _OptimalNode(Node):
    """A node with what is to be tried.

    Attributes:
        wakeup: the wakeup tree, without the branch that is being searched.
        branch: that branch.
    """

    __slots__ = ("_excluding", "branch", "wakeup")

    def __init__(
        self, enabled: Sequence[str], sleep: dict[str, Footprint], excluding: Mapping[str, AbstractSet[str]]
    ) -> None:
        super().__init__(enabled, sleep)
        self._excluding = excluding
        self.wakeup: list[Branch] = []
        self.branch: Branch | None = None

    def planned(self) -> int:
        """Return how many branches the wakeup tree has."""
        return len(self.wakeup)

    def possible(self) -> int:
        """Return how many other events do not sleep: races may ask for any of them."""
        return sum(1 for label in self.enabled if label not in self.sleep) - 1

    def advance(self) -> bool:
        """Go to the next branch that is not asleep."""
        if self.current < 0:
            self.prune(self.sleep)
        while self.wakeup:
            branch = self.wakeup.pop(0)
            if branch.label not in self.sleep:
                self.branch = branch
                self.go_to(self._place(branch.label))
                return True
        return False

    def put_current_to_sleep(self) -> None:
        """Cover the current child, and what it covers in the tree. What slept before covers nothing there."""
        super().put_current_to_sleep()
        if self.footprint is not None:
            self.prune({self.enabled[self.current]: self.footprint})

    def prune(self, asleep: Mapping[str, Footprint]) -> None:
        """Drop what sleeping events cover."""
        if asleep and self.wakeup:
            for word in list(prune(self.wakeup, asleep, self._excluding)):
                self.insert(word)

    def insert(self, word: Word) -> None:
        """See to it that some execution begins like this, unless what sleeps here covers it."""
        if word and not begins_with(self.sleep, word, self._excluding):
            insert(self.wakeup, word)

    def force(self, label: str) -> None:
        """See to it that an event is tried, unless it sleeps."""
        for branch in self.wakeup:
            if branch.label == label:
                branch.forced = True
                return
        if label not in self.sleep:
            self.wakeup.append(Branch(label, EVERYTHING))

    def _place(self, label: str) -> int:
        if label not in self.enabled:
            raise UnsoundReductionError(
                f"the event {label!r} can no longer happen, though nothing that it needs was left out; "
                f"what can happen: {', '.join(self.enabled)}",
                remedy="let each step record what it touches (World.touch), and let the names of events be "
                "functions of the history of their own process",
            )
        return self.enabled.index(label)


class Optimal(DepthFirst):
    """Depth-first search of the subtree below a work item, with wakeup trees. See the module."""

    def __init__(self, interner: Interner, *, item: WorkItem = WHOLE) -> None:
        super().__init__(interner, item=item)
        self._whole = item == WHOLE
        self._budgets = interner.mask(f"budget {kind.value}" for kind in FaultKind)
        self._fresh = 0
        self._blocked_at: frozenset[str] = frozenset()
        # Events by what they have excluded; also what was tried elsewhere, since its races are not seen here.
        self._excluding: dict[str, set[str]] = {label: set() for label, _ in item.sleep}

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

    def _node(self, place: int, enabled: Sequence[str], sleep: dict[str, Footprint]) -> Node:
        node = _OptimalNode(enabled, sleep, self._excluding)
        above = self._stack[-1] if place else None
        if isinstance(above, _OptimalNode) and above.branch is not None:
            branch = above.branch
            node.wakeup = [child for child in branch.children if child.label in enabled or not child.forced]
            if branch.forced:
                node.prune(node.sleep)
            if not branch.children and self._follow(above, branch, node) and not branch.forced:
                return node
        if not node.wakeup:
            first = [label for label in enabled if label not in sleep]
            for label in first if self._is_full(place) else first[:1]:
                node.force(label)
        return node

    def _follow(self, above: _OptimalNode, branch: Branch, node: _OptimalNode) -> bool:
        """Look again at the words that a leaf covers. Return whether nothing else is to be tried below it."""
        assert above.footprint is not None
        for word in branch.covered:
            rest = after(branch.label, above.footprint, above.footprint, word)
            if rest is None:
                above.insert(word)
            elif rest and not node.sleep.keys() <= self._excluding.keys():
                node.insert(rest)
        return not node.sleep.keys() <= self._excluding.keys()

    def _exclude(self, order: Order, step: int, gone: Sequence[str]) -> None:
        node = order.nodes[step]
        assert isinstance(node, _OptimalNode)
        assert node.footprint is not None
        for label in gone:
            steps = order.before_excluded(label, step, self._excluding)
            node.insert((*[order.step(later) for later in steps], (label, EVERYTHING)))
        if node.footprint.writes & self._budgets:
            node.insert(tuple([order.step(later) for later in order.without(step)]))

    def _reverse(self, order: Order, earlier: int, later: int) -> None:
        node = order.nodes[earlier]
        assert isinstance(node, _OptimalNode)
        node.insert(tuple([order.step(step) for step in order.reversed(earlier, later)]))
