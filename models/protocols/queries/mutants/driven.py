"""A wrong proxy for conformance."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.queries.requests import ResultCollector
from tidemark.models.protocols.queries.driver import QueriesAdapter


class _Keeps(ResultCollector):
    def leave(self, number: int) -> None:
        """Nothing."""


class ALateRequestStays(QueriesAdapter):
    """A request that has run out of time stays in the map of those that wait."""

    collector: ClassVar[type[ResultCollector]] = _Keeps
