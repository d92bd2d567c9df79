"""Wrong queues for the walks: one fault of the implementation."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.scheduler.mutants import implementation
from tidemark.models.protocols.scheduler.program import scheduler

MUTANTS = patches(
    __name__,
    *(
        replace(one, on=Host("scheduler-driven", scheduler), killer="conformance")
        for one in implementation.MUTANTS
        if one.name == "a-task-without-caller-stays-active"
    ),
)
