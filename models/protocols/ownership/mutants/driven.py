"""A wrong coordinator for conformance."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.models.protocols.ownership.driver import OwnershipAdapter
from tidemark.models.protocols.ownership.mutants.implementation import TakesRowsAgain


class ASaveCountsTwice(OwnershipAdapter):
    """A save that arrives again is recorded again."""

    coordinator: ClassVar[type[Coordinator]] = TakesRowsAgain
