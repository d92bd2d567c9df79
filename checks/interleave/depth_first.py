"""Exhaustive depth-first search with sleep sets.

At each node the children are tried in the order of the enabled events. When the subtree of a child is
finished, its event goes to sleep in the node, with the footprint that it had. A child inherits the sleeping
events that are independent of the step that leads to it; a sleeping event is not tried, since the executions
that begin with it are equivalent to executions seen already. Footprints are recorded when a step is executed,
so that they are exact. The footprint of a sleeping event stays valid below: as long as it sleeps, nothing has
touched what it touches.
"""

from collections.abc import Sequence

from checks.interleave.errors import DivergenceError, UnsoundReductionError
from checks.interleave.strategy import Remembering
from checks.interleave.work import WHOLE, WorkItem
from models.scheduled import Footprint, Interner, independent


class Node:
    """A node of the tree on the way to the present leaf."""

    __slots__ = ("current", "enabled", "footprint", "sleep")

    def __init__(self, enabled: Sequence[str], sleep: dict[str, Footprint]) -> None:
        self.enabled = tuple(enabled)
        self.sleep = sleep
        self.current = -1
        self.footprint: Footprint | None = None

    def advance(self) -> bool:
        """Go to the next child that is not asleep."""
        for place in range(self.current + 1, len(self.enabled)):
            if self.enabled[place] not in self.sleep:
                self.current = place
                self.footprint = None
                return True
        return False

    def put_current_to_sleep(self) -> None:
        """Cover the current child: its subtree is finished."""
        if self.footprint is not None:
            self.sleep[self.enabled[self.current]] = self.footprint


class DepthFirst(Remembering):
    """Depth-first search of the subtree below a work item.

    Args:
        interner: table of mediated objects of the search.
        reduction: use sleep sets. Without them, every interleaving is run.
        item: where to start.
    """

    def __init__(self, interner: Interner, *, reduction: bool = True, item: WorkItem = WHOLE) -> None:
        self._interner = interner
        self._reduction = reduction
        self._base = item.picks
        self._root_sleep = {label: interner.pack(footprint) for label, footprint in item.sleep}
        self._stack: list[Node] = []
        self._base_footprints: list[Footprint] = []
        self._depth = 0
        self._began = False

    def new_execution(self) -> bool:
        """Go to the next leaf, in depth-first order."""
        self._depth = 0
        if not self._began:
            self._began = True
            return True
        while self._stack:
            node = self._stack[-1]
            if self._reduction:
                node.put_current_to_sleep()
            if node.advance():
                return True
            self._stack.pop()
        return False

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Follow the stack; below it, take the first child that is not asleep."""
        place = self._depth - len(self._base)
        if place <= 0:
            self._note_base(last)
        self._depth += 1
        if place < 0:
            return self._pick_base(enabled, self._depth - 1)
        if place < len(self._stack):
            node = self._stack[place]
            if node.enabled != tuple(enabled):
                raise DivergenceError(step=self._depth - 1, expected=node.enabled, seen=enabled)
            return node.current
        node = self._node(place, enabled, self._inherit(place, last))
        if not node.sleep.keys() <= set(node.enabled):
            self._complain(node)
        if not node.advance():
            return None
        self._stack.append(node)
        return node.current

    def done(self, last: Footprint | None) -> None:
        """Keep the footprint of the last step."""
        if self._depth > len(self._base):
            self._note(last)
        else:
            self._note_base(last)

    def known(self) -> list[Footprint]:
        """Return the footprints of the steps at the beginning of the next execution that were taken
        before.
        """
        if len(self._base_footprints) < len(self._base):
            return []
        found = list(self._base_footprints)
        for node in self._stack:
            if node.footprint is None:
                break
            found.append(node.footprint)
        return found

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
        picks = self._base + tuple(node.current for node in self._stack[:depth])
        return WorkItem(picks, tuple((label, self._interner.unpack(sleep[label])) for label in sorted(sleep)))

    def _pick_base(self, enabled: Sequence[str], depth: int) -> int:
        pick = self._base[depth]
        if pick >= len(enabled):
            raise DivergenceError(step=depth, expected=(), seen=enabled)
        return pick

    def _note(self, last: Footprint | None) -> None:
        if self._stack and self._stack[-1].footprint is None:
            self._stack[-1].footprint = last

    def _note_base(self, last: Footprint | None) -> None:
        """Keep the footprint of the step before, which led towards the root of the work item."""
        if last is not None and len(self._base_footprints) == self._depth - 1:
            self._base_footprints.append(last)

    def _inherit(self, place: int, last: Footprint | None) -> dict[str, Footprint]:
        if place == 0:
            return dict(self._root_sleep)
        parent = self._stack[-1]
        self._note(last)
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
