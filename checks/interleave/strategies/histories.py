"""Exhaustive search that merges executions when the same callbacks have run in the same order.

It is ``MergingSearch`` with another state: the history of a process and what its loop holds
(``tidemark.models.simulation.loop.history``). Nothing is promised by the program but that its code is
deterministic, which every search checks on a sample. The audit is that of declared states.

Whether the clock belongs to the state depends on the program: if some execution asks what time it is, the
search without the clock is given up, and one with it begins.
"""

from tidemark.checks.interleave.strategies.states import MergingSearch, Met
from tidemark.checks.interleave.trees.work import WHOLE, WorkItem
from tidemark.models.simulation import Execution, Footprint


class HistorySearch(MergingSearch):
    """Depth-first search of the subtree below a work item, each history being continued once.

    Args:
        timed: the clock is a part of the state.
    """

    def __init__(self, met: Met, *, timed: bool, item: WorkItem = WHOLE) -> None:
        super().__init__(met, item=item)
        self.timed = timed
        self.clock_read = False
        self._execution: Execution | None = None

    @property
    def in_vain(self) -> bool:
        """Whether the search has to begin again, with the clock in its states."""
        return self.clock_read and not self.timed

    def new_execution(self) -> bool:
        """Go to the next leaf, unless the search leads to nothing new."""
        return not self.in_vain and super().new_execution()

    def arrive(self, execution: Execution) -> bool:
        """Merge as ``MergingSearch`` does."""
        self._execution = execution
        return super().arrive(execution)

    def state_of(self, execution: Execution) -> bytes:
        """Return the digest of the history and of what the loop holds."""
        return execution.history_state(timed=self.timed)

    def done(self, last: Footprint | None) -> None:
        """Note whether the clock was looked at."""
        super().done(last)
        if self._execution is not None:
            self.clock_read = self.clock_read or self._execution.clock_read
            self._execution = None
