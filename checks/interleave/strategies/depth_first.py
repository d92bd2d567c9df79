"""Exhaustive depth-first search with sleep sets.

At each node the children are tried in the order of the enabled events. When the subtree of a child is
finished, its event goes to sleep in the node, with the footprint that it had. A child inherits the sleeping
events that are independent of the step that leads to it; a sleeping event is not tried, since the executions
that begin with it are equivalent to executions seen already. Footprints are recorded when a step is executed,
so that they are exact. The footprint of a sleeping event stays valid below: as long as it sleeps, nothing has
touched what it touches.
"""

from collections.abc import Sequence

from tidemark.checks.interleave.errors import UnsoundReductionError
from tidemark.checks.interleave.trees.tree import TreeNode, TreeWalk
from tidemark.checks.interleave.trees.work import WHOLE, WorkItem
from tidemark.models.simulation import Footprint, Interner, independent


class Node(TreeNode):
    """A node with the events that sleep there."""

    __slots__ = ("sleep",)

    def __init__(self, enabled: Sequence[str], sleep: dict[str, Footprint]) -> None:
        super().__init__(enabled)
        self.sleep = sleep

    def planned(self) -> int:
        """Return how many later children do not sleep now."""
        return sum(1 for label in self.enabled[self.current + 1 :] if label not in self.sleep)

    def advance(self) -> bool:
        """Go to the next child that is not asleep."""
        for place in range(self.current + 1, len(self.enabled)):
            if self.enabled[place] not in self.sleep:
                self.go_to(place)
                return True
        return False

    def put_current_to_sleep(self) -> None:
        """Cover the current child: its subtree is finished."""
        if self.footprint is not None:
            self.sleep[self.enabled[self.current]] = self.footprint


class DepthFirst(TreeWalk[Node]):
    """Depth-first search of the subtree below a work item.

    Args:
        interner: table of mediated objects of the search.
        reduction: use sleep sets. Without them, every interleaving is run.
        item: where to start.
    """

    def __init__(self, interner: Interner, *, reduction: bool = True, item: WorkItem = WHOLE) -> None:
        super().__init__(item)
        self._interner = interner
        self._reduction = reduction
        self._root_sleep = {label: interner.pack(footprint) for label, footprint in item.sleep}

    def _advance(self, node: Node) -> bool:
        if self._reduction:
            node.put_current_to_sleep()
        return node.advance()

    def _grow(self, place: int, enabled: Sequence[str], last: Footprint | None) -> Node | None:
        """Take the first child that is not asleep."""
        node = self._node(place, enabled, self._inherit(place, last))
        if not node.sleep.keys() <= set(node.enabled):
            self._complain(node)
        return node if node.advance() else None

    def remaining(self) -> list[WorkItem]:
        """Return what is left after the present execution. Call it between executions only."""
        if not self._began:
            return [self._item(0, self._root_sleep)]
        found = []
        for depth, node in enumerate(self._stack):
            sleep = dict(node.sleep)
            if self._reduction and node.footprint is not None:
                sleep[node.enabled[node.current]] = node.footprint
            later = node.enabled[node.current + 1 :]
            if self._reduction:
                if any(label not in sleep for label in later):
                    found.append(self._item(depth, sleep))
            else:
                tried = node.enabled[: node.current + 1]
                if later:
                    found.append(self._item(depth, dict.fromkeys(tried, Footprint(0, 0)) | sleep))
        return found

    def _node(self, place: int, enabled: Sequence[str], sleep: dict[str, Footprint]) -> Node:
        del place
        return Node(enabled, sleep)

    def _item(self, depth: int, sleep: dict[str, Footprint]) -> WorkItem:
        sleeping = tuple((label, self._interner.unpack(sleep[label])) for label in sorted(sleep))
        return WorkItem(self._picks(depth), sleeping)

    def _inherit(self, place: int, last: Footprint | None) -> dict[str, Footprint]:
        if place == 0:
            return dict(self._root_sleep)
        parent = self._stack[-1]
        if last is None or not self._reduction:
            return {}
        return {label: asleep for label, asleep in parent.sleep.items() if independent(asleep, last)}

    def _complain(self, node: Node) -> None:
        gone = sorted(node.sleep.keys() - set(node.enabled))
        raise UnsoundReductionError(
            f"step {self._depth - 1}: the sleeping event {gone[0]!r} is no longer enabled, though no step "
            f"since then touched {', '.join(self._interner.names(sum(node.sleep[gone[0]])))}",
            remedy="let the step that disables it write one of these objects (World.touch)",
        )
