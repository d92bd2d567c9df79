"""Mutants of the root coordinator: hazards, real bugs, and slips of the kind that people make.

The two functions compare their fault with the variant of the specification that makes the same mistake: so
what is refuted is a property and not only the likeness.
"""

from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.timetick.program import timetick

DRIVEN = Host("timetick-driven", timetick)

WATCH = "rootcoord/session_watch.py:SessionWatch."
SYNC = "rootcoord/time_tick_sync.py:TimeTickSync."
SENDER = "rootcoord/tick_sender.py:TickSender."
ROOT = "rootcoord/root_coord.py:RootCoord."

_VARIANTS = "tidemark.models.protocols.timetick.mutants.specification"

JOINS = Host("timetick-impl-joins", timetick)
SENDS = Host("timetick-impl-failed-sends", timetick)
LEASE = Host("timetick-impl-lease-ends", timetick)
CHANNELS = Host("timetick-impl-two-channels", timetick)

MUTANTS = patches(
    __name__,
    # Sessions.
    Patch(
        "session-is-missed-at-restart",
        at=WATCH + "load",
        old="init_sessions(sources)",
        new="init_sessions(sources[:-1])",
        killer="timetick.whoever_serves_is_waited_for",
        on=Host("timetick-impl-restarts", timetick),
        source="B46",
        says="The list of sessions from which a coordinator starts lacks a live proxy.",
    ),
    Patch(
        "removed-session-is-not-fenced",
        at=SYNC + "del_session",
        old="await fence(source)",
        new="pass",
        killer="timetick.whoever_may_append_is_waited_for",
        on=LEASE,
        source="hazard 11",
        says="A session is removed, and the logs go on to take what its process appends.",
    ),
    Patch(
        "reports-of-strangers-are-taken",
        at=SYNC + "update",
        old="if source not in self.entries:",
        new="if False:",
        killer="timetick.whoever_serves_is_waited_for",
        on=JOINS,
        source="facts 4",
        says="A report makes its sender known.",
    ),
    Patch(
        "ddl-key-collides",
        at=SYNC + "update",
        old="source = report.source",
        new="source = 1 if report.source == DDL_SOURCE else report.source",
        also=(
            Edit(SYNC + "init_sessions", "DDL_SOURCE", "1"),
            Edit(SYNC + "list_again", "DDL_SOURCE", "1"),
        ),
        killer="timetick.whoever_serves_is_waited_for",
        on=JOINS,
        source="B45",
        says="The DDL source and proxy 1 have one key, so that the DDL report represents both.",
    ),
    # Rounds and ticks.
    Patch(
        "queue-of-two-rounds",
        at="rootcoord/round_queue.py:RoundQueue.put",
        old=">= self._capacity",
        new="> self._capacity",
        killer="timetick.a_taken_round_leaves_none_behind",
        on=LEASE,
        source="B9, hazard 29",
        says="The queue holds one round more, and the oldest is sent first.",
    ),
    Patch(
        "entries-stay-after-a-round",
        at=SYNC + "_close_if_complete",
        old="self.entries = dict.fromkeys(self.entries)",
        new="pass",
        killer="timetick.reports_are_used_once",
        on=JOINS,
        walked=DRIVEN,
        source="facts 4",
        says="The reports of a round count for the next one too.",
    ),
    Patch(
        "round-does-not-wait",
        at=SYNC + "_close_if_complete",
        old="not self.entries or None in self.entries.values()",
        new="not any(self.entries.values())",
        killer="timetick.a_round_waits_for_every_session",
        on=JOINS,
        source="seed 002, coordinator: no tick before everybody has reported",
        says="A round is made of the reports that there are.",
    ),
    Patch(
        "tick-is-the-greatest-report",
        at=SENDER + "_send_round",
        old="min(",
        new="max(",
        killer="timetick.a_round_is_sent_to_its_end",
        on=Host("timetick-impl-two-proxies", timetick),
        walked=DRIVEN,
        source="facts 4",
        says="The tick is the maximum over the sessions.",
    ),
    Patch(
        "one-minimum-for-all-channels",
        at=SENDER + "_send_round",
        old="channel) for report in complete.values()",
        new="other) for report in complete.values() for other in self.last",
        killer="timetick.a_round_is_sent_to_its_end",
        on=CHANNELS,
        source="seed 002",
        says="Every channel is ticked at the minimum over all channels, as seed 002 has it.",
    ),
    Patch(
        "failed-send-counts",
        at=SENDER + "_send",
        old="self.last[channel] = ts  #",
        new="self.last[channel] = self.synced[channel] = ts  #",
        killer="timetick.what_counts_as_sent_is_in_the_log",
        on=SENDS,
        source="B10",
        says="A tick whose sending failed counts as sent.",
    ),
    Patch(
        "failed-send-is-forgotten",
        at=SENDER + "_send",
        old="self.last[channel] = ts  #",
        new="pass  #",
        on=SENDS,
        source="B10, hazard 30",
        says="The sender does not remember a failed tick, which may be in the log all the same.",
    ),
    Patch(
        "a-failure-counts-for-the-greatest-tick",
        at=SENDER + "_send",
        old="= ts  #",
        new="= max(self.round.values())  #",
        on=CHANNELS,
        source="facts 4; B10",
        says="A failed tick is remembered as the greatest of its round: a slow channel is left out for long.",
    ),
    # Failures that no fault explains; work that is not done.
    Patch(
        "sent-tick-counts-as-failed",
        at=SENDER + "_send",
        old="self.last[channel] = self.synced[channel] = ts",
        new='raise RpcError("it was not sent")',
        on=CHANNELS,
        source="facts 4; B10",
        says="A tick that the log took is treated as one that failed.",
    ),
    Patch(
        "sender-ends-after-a-round",
        at=SENDER + "run",
        old="while True:",
        new="for _ in range(1):",
        on=LEASE,
        source="facts 4; property WL",
        says="The sender sends one round, and then no more: ticks stop for good, without any error.",
    ),
    Patch(
        "ddl-source-reports-once",
        at=ROOT + "_run_ddl_ticks",
        old="while True:",
        new="while self.reporting is None:",
        killer="timetick.ticks_advance",
        on=Host("timetick-endless", timetick),
        source="facts 4; property WL",
        tier="full",
        says="After its first report the DDL source makes no other: no round is complete, and ticks stop.",
    ),
    Patch(
        "ticks-are-not-compared",
        at=SENDER + "_goes_on",
        old="ts > self.last[channel] or self.synced[channel] < ts == self.last[channel]",
        new="ts > 0",
        killer="timetick.ticks_never_go_back",
        on=Host("timetick-impl-joins-late", timetick).like(protocol=f"{_VARIANTS}:TicksAreNotCompared"),
        source="hazard 30",
        tier="full",
        says="A tick below the last one is sent.",
    ),
    Patch(
        "restart-forgets-the-ticks",
        at=SENDER + "load",
        old="in self.last:",
        new="in ():",
        killer="timetick.ticks_never_go_back",
        on=Host("timetick-impl-restarts-late", timetick).like(
            protocol="tidemark.spec.timetick.variants.other_rules:TicksMayGoBack"
        ),
        source="hazard 30",
        tier="full",
        says="A coordinator that starts does not know the last ticks.",
    ),
    Patch(
        "watch-skips-a-change",
        at=WATCH + "run",
        old="= event.revision",
        new="= event.revision + 1",
        walked=DRIVEN,
        source="B46",
        says="The watch counts a change twice: it never passes the next one on.",
    ),
)

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
