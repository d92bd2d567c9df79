"""Wrong sides of ids for conformance, each with one fault of the implementation."""

from __future__ import annotations

from typing import ClassVar

from tidemark.models.protocols.ids.driver import IdsAdapter
from tidemark.models.protocols.ids.mutants.implementation import Overlaps
from tidemark.models.protocols.ids.program import IdsParts


class ARunBeginsWhereAnotherEnded(IdsAdapter):
    """The last id of a run is the first of the next one."""

    parts: ClassVar[IdsParts] = IdsParts(cache=Overlaps)
