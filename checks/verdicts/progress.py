"""Progress of a running check, as seen by a judge: one callable; and of a run, as seen by the gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tidemark.checks.verdicts.plan import Task
    from tidemark.checks.verdicts.result import Unjudged
    from tidemark.checks.verdicts.verdict import Judgement


class Progress(Protocol):
    """How far a judge is. Called as often as convenient (a few times a second is plenty)."""

    def __call__(self, done: int, *, total: int | None = None, unit: str = "", note: str = "") -> None:
        """``done`` units of ``total`` (None if unknown); ``note`` is a short text such as ``depth 12``."""


def silent(done: int, *, total: int | None = None, unit: str = "", note: str = "") -> None:
    """A progress that shows nothing."""


class Reporter(Protocol):
    """Who shows a run while it goes on."""

    def begin(self, tasks: Sequence[Task]) -> None:
        """The run starts."""

    def started(self, task: Task) -> Progress:
        """A task starts; returns where its judge reports to."""

    def judged(self, task: Task, found: Sequence[Judgement], *, seconds: float) -> None:
        """A task has verdicts."""

    def unjudged(self, task: Task, why: Unjudged) -> None:
        """A task ended without verdicts."""

    def end(self) -> None:
        """The run is over (also if it was stopped)."""


class Quiet:
    """A reporter that shows nothing."""

    def begin(self, tasks: Sequence[Task]) -> None:
        """See ``Reporter``."""

    def started(self, task: Task) -> Progress:  # noqa: ARG002  the signature is the protocol's
        """See ``Reporter``."""
        return silent

    def judged(self, task: Task, found: Sequence[Judgement], *, seconds: float) -> None:
        """See ``Reporter``."""

    def unjudged(self, task: Task, why: Unjudged) -> None:
        """See ``Reporter``."""

    def end(self) -> None:
        """See ``Reporter``."""
