"""A wrong compactor for conformance."""

from __future__ import annotations

from typing import ClassVar

from tidemark.models.protocols.deletes.driver import CompactorSteps, DeletesAdapter
from tidemark.models.protocols.deletes.mutants.compaction import KnowsNoKey


class _Steps(KnowsNoKey, CompactorSteps):
    pass


class TheFilterOfKeysMisses(DeletesAdapter):
    """The filter of a segment does not know a key of it."""

    compactor: ClassVar[type[CompactorSteps]] = _Steps
