"""Wrong dispatchers for conformance: one fault of the implementation."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.stream.manager import DispatcherParts
from tidemark.models.protocols.dispatch.driver import DispatchAdapter
from tidemark.models.protocols.dispatch.mutants.implementation import SplitsFromTheEnd


class SplitsFromTheEndOfThePack(DispatchAdapter):
    """A target that is split off goes on behind the pack that it did not take."""

    parts: ClassVar[DispatcherParts] = DispatcherParts(main=SplitsFromTheEnd)
