"""What keeps data beyond the life of a process, and may lose a part of it when the power fails."""

from collections.abc import Callable, Hashable
from typing import Protocol

from tidemark.models.simulation.loop.lane import Lane

Outcome = tuple[str, Callable[[], None]]
"""What a power failure leaves, in words, and the step that makes it so."""


class Medium(Protocol):
    """A disk of a machine, whatever lies on it."""

    def state(self) -> Hashable:
        """Return the content, and what of it is durable, in a form that can be compared."""

    def crash_outcomes(self) -> list[Outcome]:
        """Return what a power failure may leave behind. Empty: everything, always."""

    def caller_died(self, lane: Lane) -> None:
        """Forget what a dead process had open."""

    def dismantle(self) -> None:
        """Release what the medium holds of the real machine."""


def joint_outcomes(media: list[Medium]) -> list[Outcome]:
    """Return every combination of what is left of each medium. Empty: everything, always."""
    combined: list[Outcome] = [("", _nothing)]
    for medium in media:
        outcomes = medium.crash_outcomes()
        if outcomes:
            combined = [_both(one, other) for one in combined for other in outcomes]
    return [outcome for outcome in combined if outcome[0]]


def _both(one: Outcome, other: Outcome) -> Outcome:
    def act() -> None:
        one[1]()
        other[1]()

    return ("; ".join(filter(None, (one[0], other[0]))), act)


def _nothing() -> None:
    """Leave everything as it is."""
