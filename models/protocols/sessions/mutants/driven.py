"""Wrong followers of sessions for conformance, each with one fault of the implementation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from tidemark.impl.rootcoord.report import SourceId
from tidemark.impl.rootcoord.session_watch import SessionWatch
from tidemark.models.protocols.sessions.driver import SessionsAdapter
from tidemark.models.protocols.sessions.program import SessionsParts


class _MissesTheLast(SessionWatch):
    def _known_at_start(self, sources: Sequence[SourceId]) -> Sequence[SourceId]:
        return sources[:-1]


class TheListMissesOne(SessionsAdapter):
    """The last session of the list is not taken over."""

    parts: ClassVar[SessionsParts] = SessionsParts(watch=_MissesTheLast)
