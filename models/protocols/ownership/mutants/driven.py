"""A wrong coordinator for conformance."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.types import SaveBinlogPaths, SegmentRecord
from tidemark.models.protocols.ownership.driver import OwnershipAdapter


class _TakesRowsAgain(Coordinator):
    def _brings_rows(self, record: SegmentRecord, request: SaveBinlogPaths) -> bool:
        return not record.flushed and not record.dropped and request.position.ts >= record.dml_position.ts


class ASaveCountsTwice(OwnershipAdapter):
    """A save that arrives again is recorded again."""

    coordinator: ClassVar[type[Coordinator]] = _TakesRowsAgain
