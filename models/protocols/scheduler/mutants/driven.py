"""Wrong queues for conformance: one fault of the implementation."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.proxy.queues import QueueParts
from tidemark.models.protocols.scheduler.driver import SchedulerAdapter
from tidemark.models.protocols.scheduler.mutants.implementation import KeepsTheGone


class ATaskWithoutCallerStaysActive(SchedulerAdapter):
    """A task whose caller has left stays in the map of active tasks."""

    parts: ClassVar[QueueParts | None] = QueueParts(queue=KeepsTheGone)
