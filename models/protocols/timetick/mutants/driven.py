"""Wrong root coordinators, for the walks."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.timetick.mutants import implementation
from tidemark.models.protocols.timetick.program import timetick

DRIVEN = Host("timetick-driven", timetick)

MUTANTS = patches(
    __name__,
    *(
        replace(one, on=DRIVEN, killer="conformance")
        for one in implementation.MUTANTS
        if one.name in ("tick-is-the-greatest-report", "entries-stay-after-a-round")
    ),
    Patch(
        "watch-skips-a-change",
        at=implementation.WATCH + "run",
        old="= event.revision",
        new="= event.revision + 1",
        killer="conformance",
        on=DRIVEN,
        source="B46",
        says="The watch counts a change twice: it never passes the next one on.",
    ),
)
