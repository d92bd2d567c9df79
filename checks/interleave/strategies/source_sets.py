"""Dynamic partial-order reduction: depth-first search with source sets and sleep sets.

Sleep sets alone run every enabled event of a node and give up when all that is left is asleep. Source sets
try one event, and for each race some first step of the reversed order where the first of the two was taken.
Few executions are begun that are not needed. See ``tidemark.checks.interleave.trees.races`` for the
rules, and ``tidemark.checks.interleave.strategies.optimal`` for the search with hardly any.

What a step touches may depend on values. In the reversed order the second step of a race need not touch what
it touched, and so may no longer be a first step. This is known as soon as it was taken there: then another
first step is tried.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tidemark.checks.interleave.strategies.depth_first import Node
from tidemark.checks.interleave.trees.races import Order, RaceSearch
from tidemark.checks.interleave.trees.wakeup import Word, commutes
from tidemark.models.simulation import Footprint


class _Reversal(NamedTuple):
    """The reversed order of a race.

    Attributes:
        second: the second step of the race.
        others: all other steps.
        first: the first ones of these.
    """

    second: str
    others: Word
    first: tuple[str, ...]


class _SourceNode(Node):
    """A node with the events that have to be tried.

    Attributes:
        wanted: labels to be tried, those that were tried included.
        relying: reversals for which their second step is taken to be a first one.
    """

    __slots__ = ("relying", "tried", "wanted")

    def __init__(self, enabled: Sequence[str], sleep: dict[str, Footprint], *, full: bool) -> None:
        super().__init__(enabled, sleep)
        self.tried: set[str] = set()
        first = [label for label in enabled if label not in sleep]
        self.wanted: set[str] = set(enabled if full else first[:1])
        self.relying: list[_Reversal] = []

    def planned(self) -> int:
        """Return how many events are wanted, and neither asleep nor tried."""
        return len(self.wanted - self.tried - self.sleep.keys())

    def possible(self) -> int:
        """Return how many other events do not sleep: races may ask for any of them."""
        return sum(1 for label in self.enabled if label not in self.sleep) - 1

    def advance(self) -> bool:
        """Go to the next child that is wanted and not asleep."""
        for place, label in enumerate(self.enabled):
            if label in self.wanted and label not in self.sleep and label not in self.tried:
                self.tried.add(label)
                self.go_to(place)
                return True
        return False

    def put_current_to_sleep(self) -> None:
        """Cover the current child. Now it is known what its event touches here."""
        super().put_current_to_sleep()
        label = self.enabled[self.current]
        relying, self.relying = self.relying, []
        for reversal in relying:
            if reversal.second == label:
                self.want(reversal, may_begin=False)
            else:
                self.relying.append(reversal)

    def want(self, reversal: _Reversal, *, may_begin: bool) -> None:
        """Make sure that a first step is covered. The first one that is enabled is preferred.

        ``may_begin``: the second step of the race is taken to be a first one.
        """
        second, others, first = reversal
        if any(label in self.wanted or label in self.sleep for label in first):
            return
        asleep = self.sleep.get(second)
        if asleep is not None:
            may_begin = False
            if commutes(asleep, others):
                return
        enabled = [label for label in first if label in self.enabled]
        if may_begin and (second in self.wanted or not enabled):
            self.relying.append(reversal)
            enabled = [second]
        self.wanted.update(enabled[:1] or self.enabled)


class SourceSets(RaceSearch):
    """Depth-first search of the subtree below a work item, with source sets. See the module."""

    def _node(self, place: int, enabled: Sequence[str], sleep: dict[str, Footprint]) -> Node:
        return _SourceNode(enabled, sleep, full=self._is_full(place))

    def _exclude(self, order: Order, step: int, gone: Sequence[str]) -> None:
        del gone
        node = order.nodes[step]
        assert isinstance(node, _SourceNode)
        node.wanted.update(node.enabled)

    def _reverse(self, order: Order, earlier: int, later: int) -> None:
        node = order.nodes[earlier]
        assert isinstance(node, _SourceNode)
        steps = order.reversed(earlier, later)
        first = order.initials(steps)
        may_begin = first[-1] == later
        others = tuple([order.step(step) for step in steps[:-1]])
        labels = tuple([order.step(step)[0] for step in first if step != later])
        node.want(_Reversal(order.step(later)[0], others, labels), may_begin=may_begin)
