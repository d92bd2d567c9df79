"""The three methods of a search strategy."""

from collections.abc import Sequence
from typing import Protocol

from models.scheduled import Footprint


class Strategy(Protocol):
    """Decides what happens next, execution after execution."""

    def new_execution(self) -> bool:
        """Prepare for the next execution. False: there is nothing left to run."""

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Choose from the enabled events.

        Args:
            enabled: labels of the enabled events, never empty, the default choice first.
            last: footprint of the step before, None at the start.

        Returns:
            The place of the choice, or None to give the execution up because others cover it.
        """

    def done(self, last: Footprint | None) -> None:
        """Take note that the execution ended, and of the footprint of its last step."""
