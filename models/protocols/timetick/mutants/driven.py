"""Wrong root coordinators for conformance, each with one fault of the implementation."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.rootcoord.root_coord import RootCoordParts
from tidemark.models.protocols.timetick.driver import TimeTickAdapter
from tidemark.models.protocols.timetick.mutants.implementation import Greatest, KeepsEntries


class TickIsTheGreatestReport(TimeTickAdapter):
    """The tick is the maximum over the sessions."""

    parts: ClassVar[RootCoordParts] = RootCoordParts(sender=Greatest)


class EntriesStayAfterARound(TimeTickAdapter):
    """The reports of a round count for the next one too."""

    parts: ClassVar[RootCoordParts] = RootCoordParts(sync=KeepsEntries)
