"""Wrong stores for conformance."""

from __future__ import annotations

from typing import ClassVar

from tidemark.models.protocols.store.cells import Cell
from tidemark.models.protocols.store.driver import LogAdapter, WindowAdapter
from tidemark.models.protocols.store.mutants.implementation import (
    FallingWindow,
    LogOfKnownEnds,
    LookingAhead,
    WindowOfAnyTerm,
)


class TheEndIsKeptAfterAFailure(LogAdapter):
    """After an append that failed the writer does not look at the file again."""

    cell: ClassVar[type[Cell]] = LogOfKnownEnds


class AReaderDoesNotForce(LogAdapter):
    """A reader answers with a line that is not forced."""

    cell: ClassVar[type[Cell]] = LookingAhead


class TheWindowFalls(WindowAdapter):
    """The window is what was saved last."""

    cell: ClassVar[type[Cell]] = FallingWindow


class TheFenceIsIgnored(WindowAdapter):
    """Saves of any term are taken."""

    cell: ClassVar[type[Cell]] = WindowOfAnyTerm
