"""Slips of people in the root coordinator: tried with the mutants that rules make."""

from __future__ import annotations

from tidemark.models.mutation.patches import Patch

SLIPS = (
    Patch(
        "revisions-are-counted",
        at="rootcoord/session_watch.py:SessionWatch.run",
        old="self.revision = event.revision",
        new="self.revision += 1",
        source="B46",
        says="The watch takes revisions to rise by one: where they do not, it is told of a change again.",
    ),
    Patch(
        "an-old-minimum-is-not-reported-again",
        at="rootcoord/root_coord.py:RootCoord.report_ddl",
        old="if not least:",
        new="if least <= (self.reporting.default if self.reporting else 0):",
        source="facts 4",
        says="The DDL source reports only what has grown: until then no round is complete.",
    ),
    Patch(
        "the-first-report-of-a-round-counts",
        at="rootcoord/time_tick_sync.py:TimeTickSync.update",
        old="self.entries[source] = report",
        new="self.entries[source] = self.entries[source] or report",
        source="facts 4",
        says="A proxy that reports again before the round is complete is not heard: its ticks are late.",
    ),
    Patch(
        "the-least-is-of-those-who-name-a-channel",
        at="rootcoord/tick_sender.py:TickSender._send_round",
        old="report in complete.values()",
        new="""report in [one for one in complete.values() if channel in dict(one.channels)]
            or complete.values()""",
        source="facts 4",
        says="A proxy without a task for a channel does not count there: its next task is below the tick.",
    ),
)
