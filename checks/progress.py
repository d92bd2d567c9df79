"""Progress of a running check, as seen by a judge: one callable."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """How far a judge is. Called as often as convenient (a few times a second is plenty)."""

    def __call__(self, done: int, *, total: int | None = None, unit: str = "", note: str = "") -> None:
        """``done`` units of ``total`` (None if unknown); ``note`` is a short text such as ``depth 12``."""


def silent(done: int, *, total: int | None = None, unit: str = "", note: str = "") -> None:
    """A progress that shows nothing."""
