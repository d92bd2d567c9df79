"""What drives an implementation by the names of the specification's actions."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from tidemark.models.interpreted.interpreter import Step

State = tuple[Any, ...]


class BrokenRunError(Exception):
    """The implementation failed, or did not come to rest: no state of the specification says that."""


@runtime_checkable
class CountsFaults(Protocol):
    """An adapter that lets faults happen which change nothing in the abstract state."""

    def faults(self) -> Mapping[str, int]:
        """How often each kind of fault has happened in this run, by name; 0 for one that may still happen."""


class Adapter(Protocol):
    """One run of an implementation. A fresh one is built for every example."""

    def state(self) -> State:
        """The abstract state, by the refinement mapping."""

    def offers(self, step: Step) -> bool:
        """Whether the implementation can be made to do this step now.

        It may offer less than the specification allows (a policy that has no reason to sync), never more.
        """

    def perform(self, step: Step, chance: int) -> None:
        """Do it, and let everything run that changes nothing in the abstract state. ``chance`` decides what
        the specification leaves open; 0 is the plainest way. Raises BrokenRunError.
        """

    def close(self) -> None:
        """End the run."""
