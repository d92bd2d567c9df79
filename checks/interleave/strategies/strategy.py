"""The three methods of a search strategy."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from tidemark.models.simulation import Execution, Footprint


class Strategy(Protocol):
    """Decides what happens next, execution after execution."""

    def new_execution(self) -> bool:
        """Prepare for the next execution. False: there is nothing left to run."""

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Choose from the enabled events.

        ``enabled``: labels of the enabled events, never empty, the default choice first. ``last``: footprint
        of the step before, None at the start. Returns the place of the choice, or None to give the execution
        up because others cover it.
        """

    def done(self, last: Footprint | None) -> None:
        """Take note that the execution ended, and of the footprint of its last step."""


class Remembering(ABC):
    """A strategy that begins an execution with steps that it has taken before."""

    @abstractmethod
    def known(self) -> Sequence[Footprint]:
        """Return the footprints of those steps. They were checked then, and are not observed again."""


class StateStrategy(ABC):
    """A strategy that looks at the declared state before it picks."""

    @abstractmethod
    def arrive(self, execution: Execution) -> bool:
        """Look at the state in which the next pick is due. False: its futures are covered elsewhere."""
