"""Mutants of the root coordinator's implementation: hazards and real bugs, each one small method.

The functions return the root coordinator's program with the fault in it, and take the same arguments as
``tidemark.models.protocols.timetick.program:timetick``. Where a variant of the specification makes the same
mistake, the mutant is compared with that, so that what is refuted is a property and not only the likeness.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidemark.impl.errors import RpcError
from tidemark.impl.rootcoord.report import SourceId, TimeTickReport
from tidemark.impl.rootcoord.root_coord import RootCoord, RootCoordParts
from tidemark.impl.rootcoord.round_queue import Round
from tidemark.impl.rootcoord.session_watch import SessionWatch
from tidemark.impl.rootcoord.tick_sender import TickSender
from tidemark.impl.rootcoord.time_tick_sync import Fence, TimeTickSync
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.timetick.program import TimeTickProgram, timetick

_VARIANTS = "tidemark.models.protocols.timetick.mutants.specification"


# ---- sessions ----


class MissesOne(SessionWatch):
    """The last session is not in the list."""

    def _known_at_start(self, sources: Sequence[SourceId]) -> Sequence[SourceId]:
        return sources[:-1]


@mutant(killer="timetick.whoever_serves_is_waited_for", source="B46", instance="timetick-impl-restarts")
def session_is_missed_at_restart(**scenario: Any) -> TimeTickProgram:
    """The list of sessions from which a coordinator starts lacks a live proxy (B46)."""
    return timetick(
        parts=RootCoordParts(watch=MissesOne), protocol=f"{_VARIANTS}:InitSessionsMissesOne", **scenario
    )


class _DoesNotFence(TimeTickSync):
    async def _fence(self, source: SourceId, fence: Fence) -> None:
        del source, fence


@mutant(
    killer="timetick.whoever_may_append_is_waited_for",
    source="hazard 11",
    instance="timetick-impl-lease-ends",
)
def removed_session_is_not_fenced(**scenario: Any) -> TimeTickProgram:
    """A session is removed, and the logs go on to take what its process appends (hazard 11)."""
    return timetick(
        parts=RootCoordParts(sync=_DoesNotFence),
        protocol=f"{_VARIANTS}:RemovedBeforeItsLeaseEnds",
        **scenario,
    )


class _TakesAll(TimeTickSync):
    async def update(self, report: TimeTickReport) -> None:
        self.entries.setdefault(self._key(report), None)
        await super().update(report)


@mutant(killer="refinement", source="facts 4", instance="timetick-impl-joins")
def reports_of_strangers_are_taken(**scenario: Any) -> TimeTickProgram:
    """A report makes its sender known (facts 4)."""
    return timetick(parts=RootCoordParts(sync=_TakesAll), **scenario)


class Collides(TimeTickSync):
    """The DDL source has the key of proxy 1."""

    def _ddl_key(self) -> SourceId:
        return 1


@mutant(killer="timetick.whoever_serves_is_waited_for", source="B45", instance="timetick-impl-joins")
def ddl_key_collides(**scenario: Any) -> TimeTickProgram:
    """The DDL source and a proxy have one key, so that the DDL report represents both (B45)."""
    return timetick(parts=RootCoordParts(sync=Collides), **scenario)


# ---- rounds and ticks ----


@mutant(
    killer="timetick.a_taken_round_leaves_none_behind",
    source="B9, hazard 29",
    instance="timetick-impl-lease-ends",
)
def queue_of_two_rounds(**scenario: Any) -> TimeTickProgram:
    """The queue holds more than one round and the oldest is sent first (B9)."""
    return timetick(**{**scenario, "round_capacity": 2})


class KeepsEntries(TimeTickSync):
    """Does not forget the reports of a closed round."""

    async def _close_if_complete(self) -> None:
        entries = dict(self.entries)
        await super()._close_if_complete()
        self.entries = entries


@mutant(killer="timetick.reports_are_used_once", source="facts 4", instance="timetick-impl-joins")
def entries_stay_after_a_round(**scenario: Any) -> TimeTickProgram:
    """The reports of a round count for the next one too."""
    return timetick(parts=RootCoordParts(sync=KeepsEntries), **scenario)


class _DoesNotWait(TimeTickSync):
    def _is_complete(self) -> bool:
        return any(report is not None for report in self.entries.values())


@mutant(
    killer="timetick.a_round_waits_for_every_session",
    source="seed 002, coordinator: no tick before everybody has reported",
    instance="timetick-impl-joins",
)
def round_does_not_wait(**scenario: Any) -> TimeTickProgram:
    """A round is made of the reports that there are."""
    return timetick(parts=RootCoordParts(sync=_DoesNotWait), **scenario)


class Greatest(TickSender):
    """The maximum over the sessions."""

    def _tick_of(self, channel: ChannelName, complete: Round) -> Timestamp:
        return max(report.value(channel) for report in complete.values())


@mutant(killer="timetick.a_round_is_sent_to_its_end", source="facts 4", instance="timetick-impl-two-proxies")
def tick_is_the_greatest_report(**scenario: Any) -> TimeTickProgram:
    """The tick is the maximum over the sessions."""
    return timetick(parts=RootCoordParts(sender=Greatest), **scenario)


class _OneForAll(TickSender):
    def _tick_of(self, channel: ChannelName, complete: Round) -> Timestamp:
        del channel
        return min(report.value(other) for report in complete.values() for other in self.last)


@mutant(
    killer="timetick.a_round_is_sent_to_its_end", source="seed 002", instance="timetick-impl-two-channels"
)
def one_minimum_for_all_channels(**scenario: Any) -> TimeTickProgram:
    """Every channel is ticked at the minimum over all channels (the words of seed 002)."""
    return timetick(parts=RootCoordParts(sender=_OneForAll), **scenario)


class _GoesBack(TickSender):
    def _goes_on(self, channel: ChannelName, ts: Timestamp) -> bool:
        del channel
        return ts > 0


@mutant(
    killer="timetick.ticks_never_go_back",
    source="hazard 30",
    instance="timetick-impl-joins-late",
    tier="full",
)
def ticks_are_not_compared(**scenario: Any) -> TimeTickProgram:
    """A tick below the last one is sent (hazard 30)."""
    return timetick(
        parts=RootCoordParts(sender=_GoesBack), protocol=f"{_VARIANTS}:TicksAreNotCompared", **scenario
    )


class _ForgetsTicks(TickSender):
    async def load(self) -> None:
        return


@mutant(
    killer="timetick.ticks_never_go_back",
    source="hazard 30",
    instance="timetick-impl-restarts-late",
    tier="full",
)
def restart_forgets_the_ticks(**scenario: Any) -> TimeTickProgram:
    """A coordinator that starts does not know the last ticks (hazard 30)."""
    return timetick(
        parts=RootCoordParts(sender=_ForgetsTicks), protocol=f"{_VARIANTS}:RestartForgetsTheTicks", **scenario
    )


class _CountsFailures(TickSender):
    def _failed(self, channel: ChannelName, ts: Timestamp) -> None:
        self._sent(channel, ts)


@mutant(
    killer="timetick.what_counts_as_sent_is_in_the_log", source="B10", instance="timetick-impl-failed-sends"
)
def failed_send_counts(**scenario: Any) -> TimeTickProgram:
    """A tick whose sending failed counts as sent (B10)."""
    return timetick(
        parts=RootCoordParts(sender=_CountsFailures), protocol=f"{_VARIANTS}:FailedSendCounts", **scenario
    )


class _ForgetsFailures(TickSender):
    def _failed(self, channel: ChannelName, ts: Timestamp) -> None:
        del channel, ts


@mutant(killer="refinement", source="B10, hazard 30", instance="timetick-impl-failed-sends")
def failed_send_is_forgotten(**scenario: Any) -> TimeTickProgram:
    """A tick that may be in the log all the same is not remembered."""
    return timetick(parts=RootCoordParts(sender=_ForgetsFailures), **scenario)


class _RemembersTheGreatest(TickSender):
    def _failed(self, channel: ChannelName, ts: Timestamp) -> None:
        super()._failed(channel, max(ts, *self.round.values()))


@mutant(killer="refinement", source="facts 4; B10", instance="timetick-impl-two-channels")
def a_failure_counts_for_the_greatest_tick(**scenario: Any) -> TimeTickProgram:
    """A failed tick is remembered as the greatest of its round: a slow channel is left out for long."""
    return timetick(parts=RootCoordParts(sender=_RemembersTheGreatest), **scenario)


# ---- failures that no fault explains; work that is not done ----


class _DeniesWhatItSent(TickSender):
    def _sent(self, channel: ChannelName, ts: Timestamp) -> None:
        raise RpcError(f"tick {ts} of {channel} was not sent")


@mutant(killer="refinement", source="facts 4; B10", instance="timetick-impl-two-channels")
def sent_tick_counts_as_failed(**scenario: Any) -> TimeTickProgram:
    """A tick that the log took is treated as one that failed."""
    return timetick(parts=RootCoordParts(sender=_DeniesWhatItSent), **scenario)


class _SendsOneRound(TickSender):
    async def run(self) -> None:
        await self._rounds.arrived()
        await self._preemption.point("sender.round")
        await self._send_round(self._rounds.take())


@mutant(killer="refinement", source="facts 4; property WL", instance="timetick-impl-lease-ends")
def sender_ends_after_a_round(**scenario: Any) -> TimeTickProgram:
    """The sender sends one round, and then no more: ticks stop for good, without any error."""
    return timetick(parts=RootCoordParts(sender=_SendsOneRound), **scenario)


class _ReportsDdlOnce(RootCoord):
    async def _run_ddl_ticks(self) -> None:
        while self.reporting is None:
            await self._ports.clock.sleep(self._config.ddl_tick_seconds)
            await self.report_ddl()


@mutant(
    killer="timetick.ticks_advance", source="facts 4; property WL", instance="timetick-endless", tier="full"
)
def ddl_source_reports_once(**scenario: Any) -> TimeTickProgram:
    """After its first report the DDL source makes no other: no round is complete, and ticks stop for good."""
    return timetick(coordinator=_ReportsDdlOnce, **scenario)
