"""A wrong DDL source for conformance: one fault of the implementation."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.rootcoord.ddl_source import DdlSource
from tidemark.models.protocols.ddl.driver import DdlAdapter
from tidemark.models.protocols.ddl.mutants.implementation import NotesEarlySource


class NotedBeforeTheAppend(DdlAdapter):
    """The timestamp of a job is done with before its message is in the logs."""

    source: ClassVar[type[DdlSource]] = NotesEarlySource
