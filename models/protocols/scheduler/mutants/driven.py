"""Wrong queues for conformance: one fault of the implementation."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.scheduler.driver import SchedulerAdapter
from tidemark.models.protocols.scheduler.mutants import implementation

MUTANTS = patches(
    __name__,
    *(
        replace(one, on=Host("scheduler-driven", SchedulerAdapter), killer="conformance")
        for one in implementation.MUTANTS
        if one.name == "a-task-without-caller-stays-active"
    ),
)
