"""Wrong collectors and readers for conformance."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.datacoord.garbage import FileReaders, GarbageCollector
from tidemark.models.protocols.garbage.driver import GarbageAdapter
from tidemark.models.protocols.garbage.mutants.implementation import Impatient, LastOnly


class ReadersAreNotWaitedFor(GarbageAdapter):
    """The files of a dropped collection are deleted under their readers."""

    collector: ClassVar[type[GarbageCollector]] = Impatient


class AReaderHasWhatItWasGivenLast(GarbageAdapter):
    """What a reader was given before is forgotten when it is given more, and deleted under it."""

    lending: ClassVar[type[FileReaders]] = LastOnly
