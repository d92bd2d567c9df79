"""Mutants of query nodes, of the proxy's read path and of sessions: hazards and real bugs, each as an
override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.reads.program:reads``. Each is compared with the variant of the specification that
makes the same mistake, so that what is refuted is a property and not only the likeness; where there is no
such variant, with the specification itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tidemark.impl.client.session import Session
from tidemark.impl.proxy.reads import Reader, ReadTask
from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.pipeline import ShardPipeline, Work
from tidemark.impl.querynode.query_node import QueryNodeParts
from tidemark.impl.querynode.segments import Segment
from tidemark.impl.querynode.service_time import ServiceTime
from tidemark.impl.querynode.values import LoadSegment, ReadStage, ShardAnswer, ShardRead
from tidemark.impl.stream.packs import StreamPack
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName, Row
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.reads.program import ReadsProgram, reads

_VARIANTS = "tidemark.models.protocols.reads.mutants.specification"
_PAIRS = "tidemark.models.protocols.reads.mutants.pairs"


def _with(delegator: type[ShardDelegator], **scenario: Any) -> ReadsProgram:
    return reads(parts=QueryNodeParts(delegator=delegator), **scenario)


# ---- service time and waiting ----


class DoesNotWait(ServiceTime):
    """Any service time is good enough."""

    def is_served(self, read: ShardRead) -> bool:
        del read
        return True


class DoesNotWaitDelegator(ShardDelegator):
    """Answers what it has."""

    service_time_class = DoesNotWait


@mutant(
    killer="reads.answers_reach_their_guarantee",
    source="facts 6.1: downgradeTsafe",
    instance="reads-impl-strong",
)
def reads_do_not_wait(**scenario: Any) -> ReadsProgram:
    """A read is answered at the service time that there is."""
    return _with(DoesNotWaitDelegator, protocol=f"{_VARIANTS}:AnswersWhatItHas", **scenario)


class _WokenIsServed(ServiceTime):
    def _wake(self) -> None:
        super()._wake()
        for read in self.sleepers:
            read.stage, read.moment = ReadStage.READING, self.value

    async def wait(self, read: ShardRead) -> Timestamp:
        await self._preemption.point("tsafe.check")
        if self.is_served(read):
            read.stage, read.moment = ReadStage.READING, self.moment_of(read)
        else:
            await self._sleep(read)
        return read.moment


class _WokenIsServedDelegator(ShardDelegator):
    service_time_class = _WokenIsServed


@mutant(killer="reads.answers_reach_their_guarantee", source="B39, H34", instance="reads-impl-strong")
def woken_is_served(**scenario: Any) -> ReadsProgram:
    """A read that was woken does not look again (B39)."""
    return _with(_WokenIsServedDelegator, protocol=f"{_VARIANTS}:WokenIsServed", **scenario)


class _RaisesSilently(ServiceTime):
    def advance(self, ts: Timestamp) -> None:
        self.value = max(self.value, ts)


class RaisesSilentlyDelegator(ShardDelegator):
    """Raises the service time, and tells nobody."""

    service_time_class = _RaisesSilently


@mutant(
    killer="execution",
    source="H34: the update without a broadcast",
    instance="reads-impl-strong",
)
def raise_wakes_nobody(**scenario: Any) -> ReadsProgram:
    """The service time is raised and the sleepers are not told: they sleep for ever."""
    return _with(RaisesSilentlyDelegator, protocol=f"{_VARIANTS}:RaiseWakesNobody", **scenario)


class _ClosesSilently(ServiceTime):
    def close(self) -> None:
        self.closed = True


class ClosesSilentlyDelegator(ShardDelegator):
    """Is closed, and tells nobody."""

    service_time_class = _ClosesSilently


@mutant(killer="execution", source="H34: close must broadcast too", instance="reads-impl-release")
def release_wakes_nobody(**scenario: Any) -> ReadsProgram:
    """A channel is released and the sleepers are not told."""
    return _with(ClosesSilentlyDelegator, protocol=f"{_VARIANTS}:CloseWakesNobody", **scenario)


class RaisedEarly(ShardPipeline):
    """The service time is raised before the deletes of the pack."""

    async def _apply(self, *, is_needed: bool) -> None:
        if self.waiting and not hasattr(self.waiting[0], "rows") and not self._raised:
            self._raised = True
            await self._preemption.point("pipeline.tsafe")
            self._delegator.finish_pack(self.pack)
        await super()._apply(is_needed=is_needed)

    async def process(self, pack: StreamPack) -> None:
        """Apply one pack."""
        self._raised = False
        await super().process(pack)


@mutant(
    killer="reads.service_time_is_applied",
    source="facts 6.1: the delete node",
    instance="reads-impl-one-pack",
)
def raised_before_the_deletes(**scenario: Any) -> ReadsProgram:
    """The insert node raises the service time; the deletes of the pack are still to come."""
    parts = QueryNodeParts(pipeline=RaisedEarly)
    return reads(parts=parts, protocol=f"{_VARIANTS}:RaisedBeforeTheDeletes", **scenario)


class _DeletesFirst(ShardPipeline):
    def _in_order(self, pack: StreamPack) -> list[Work]:
        return [*pack.deletes, *pack.inserts]


@mutant(
    killer="reads.deletes_find_the_rows_of_their_pack",
    source="seed 002, insert before delete",
    instance="reads-impl-one-pack",
)
def deletes_before_rows(**scenario: Any) -> ReadsProgram:
    """The deletes of a pack are applied before its rows: they hit nothing."""
    return reads(parts=QueryNodeParts(pipeline=_DeletesFirst), **scenario)


# ---- what an answer shows ----


class _RowsOfTheFuture(Segment):
    def visible(self, moment: Timestamp, keys: tuple[int, ...] | None = None) -> Iterator[Row]:
        del keys
        return (row for known in self.rows.values() for row in known if not self.is_deleted(row, moment))


class _RowsOfTheFutureDelegator(ShardDelegator):
    segment_class = _RowsOfTheFuture


@mutant(killer="reads.answers_are_exact", source="facts 6.1: rows without MVCC", instance="reads-impl-pages")
def rows_of_the_future(**scenario: Any) -> ReadsProgram:
    """All rows that are held are shown, also those above the moment of the answer."""
    return _with(_RowsOfTheFutureDelegator, protocol=f"{_VARIANTS}:RowsOfTheFuture", **scenario)


class _DeletesOfTheFuture(Segment):
    def is_deleted(self, row: Row, moment: Timestamp) -> bool:
        del moment
        return any(ts > row.ts for ts in self.deletes.get(row.key, []))


class _DeletesOfTheFutureDelegator(ShardDelegator):
    segment_class = _DeletesOfTheFuture


@mutant(
    killer="reads.answers_are_exact",
    source="facts 6.1: deletes without MVCC",
    instance="reads-impl-page-after-delete",
)
def deletes_of_the_future(**scenario: Any) -> ReadsProgram:
    """A delete above the moment of the answer hides its row."""
    return _with(_DeletesOfTheFutureDelegator, protocol=f"{_VARIANTS}:DeletesOfTheFuture", **scenario)


class DeletesAllRows(Segment):
    """A delete hides all rows of its key, older or younger."""

    def is_deleted(self, row: Row, moment: Timestamp) -> bool:
        return any(ts <= moment for ts in self.deletes.get(row.key, []))


class DeletesAllRowsDelegator(ShardDelegator):
    """Deletes without regard to timestamps."""

    segment_class = DeletesAllRows


@mutant(
    killer="reads.answers_are_exact",
    source="seed 002, insert before delete: without timestamps",
    instance="reads-impl-one-pack",
)
def deletes_ignore_timestamps(**scenario: Any) -> ReadsProgram:
    """A row that was inserted again after the delete, in the same pack, is deleted too."""
    return _with(DeletesAllRowsDelegator, **scenario)


# ---- guarantees ----


class NoGuarantee(Reader):
    """The guarantee does not reach the replica."""

    async def _guarantee(self, task: ReadTask) -> Timestamp:
        await super()._guarantee(task)
        return ZERO


@mutant(killer="reads.strong_sees_what_was_acknowledged", source="B40", instance="reads-impl-strong")
def part_without_its_guarantee(**scenario: Any) -> ReadsProgram:
    """A part of the request does not carry the guarantee (B40)."""
    return reads(reader=NoGuarantee, protocol=f"{_VARIANTS}:PartWithoutItsGuarantee", **scenario)


class _GraceTwice(Reader):
    async def _guarantee(self, task: ReadTask) -> Timestamp:
        return max(await super()._guarantee(task) - self._config.graceful_ts, ZERO)


@mutant(
    killer="reads.bounded_misses_only_what_is_recent",
    source="facts 6.2: Bounded; H35",
    instance="reads-impl-clock-behind",
)
def grace_is_taken_twice(**scenario: Any) -> ReadsProgram:
    """Client and proxy both take the grace off."""
    return reads(reader=_GraceTwice, protocol=f"{_VARIANTS}:TheGraceIsTakenTwice", **scenario)


class _NoGrace(Reader):
    async def _guarantee(self, task: ReadTask) -> Timestamp:
        return await super()._guarantee(task) + self._config.graceful_ts


@mutant(killer="reads.guarantees_were_issued", source="H35", instance="reads-impl-bounded")
def grace_is_forgotten(**scenario: Any) -> ReadsProgram:
    """A bounded read waits for the proxy's own clock."""
    return reads(reader=_NoGrace, protocol=f"{_VARIANTS}:TheGraceIsForgotten", **scenario)


class _OwnTime(Reader):
    async def _ask(self, task: ReadTask, channel: ChannelName) -> ShardAnswer:
        (replica,) = self._replicas.of(channel)
        return await replica.query(
            channel, guarantee=task.guarantee, mvcc=None, keys=None, deadline=self._config.deadline
        )


@mutant(killer="reads.pages_are_of_one_moment", source="B40: iterators", instance="reads-impl-pages")
def pages_have_their_own_time(**scenario: Any) -> ReadsProgram:
    """A further page is answered at the service time that there is (B40)."""
    return reads(reader=_OwnTime, protocol=f"{_VARIANTS}:PagesHaveTheirOwnTime", **scenario)


class _KeepsNoWrites(Session):
    def wrote(self, ts: Timestamp) -> None:
        del ts


@mutant(
    killer="reads.session_sees_its_own_writes", source="facts 6.2: Session", instance="reads-impl-two-nodes"
)
def writes_are_not_kept(**scenario: Any) -> ReadsProgram:
    """A session does not keep the timestamps of its writes."""
    return reads(session=_KeepsNoWrites, protocol=f"{_VARIANTS}:WritesAreNotKept", **scenario)


class _KeepsNoAnswers(Session):
    def saw(self, moment: Timestamp) -> None:
        del moment


@mutant(
    killer="reads.session_never_goes_back", source="facts 6.2: Session", instance="reads-impl-two-readers"
)
def answers_are_not_kept(**scenario: Any) -> ReadsProgram:
    """A session keeps the timestamps of its writes alone, as Milvus's clients do."""
    return reads(session=_KeepsNoAnswers, protocol=f"{_PAIRS}:WritesAlone", **scenario)


# ---- loads ----


class _OneBatch(ShardDelegator):
    async def _replay(self, segment: Segment, since: Timestamp) -> None:
        batch, _ = self.deletes.batch(since, 0, len(self.deletes.kept))
        await self._preemption.point("load.replay")
        for delete in batch:
            segment.delete(delete.key, delete.ts)


@mutant(killer="refinement", source="B38: a high-water mark", instance="reads-impl-load")
def delete_falls_between_replay_and_service(**scenario: Any) -> ReadsProgram:
    """A delete that comes after the last look at the buffer misses the segment (B38)."""
    return _with(_OneBatch, **scenario)


class _FromNow(ShardDelegator):
    async def load(self, request: LoadSegment) -> None:
        await super().load(
            LoadSegment(request.record, request.level_zero, replay_from=self.service_time.value)
        )


@mutant(killer="reads.service_time_is_applied", source="B34", instance="reads-impl-load")
def replay_from_the_present(**scenario: Any) -> ReadsProgram:
    """Deletes are replayed from where the channel is now, not from where the segment needs them (B34)."""
    return _with(_FromNow, **scenario)


class _NoReplay(ShardDelegator):
    async def _replay(self, segment: Segment, since: Timestamp) -> None:
        del segment, since


@mutant(killer="refinement", source="B34, B35, B37, B38", instance="reads-impl-load")
def nothing_is_replayed(**scenario: Any) -> ReadsProgram:
    """A segment is served without the deletes that came before it was loaded."""
    return _with(_NoReplay, **scenario)


class GrowsAgain(ShardDelegator):
    """The insert node does not look whether the segment was loaded since the filter did."""

    def _is_still_needed(self, row: Row) -> bool:
        del row
        return True


@mutant(
    killer="a_segment_is_served_once", source="facts 6.1: excluded timestamps", instance="reads-impl-load"
)
def loaded_segment_grows_again(**scenario: Any) -> ReadsProgram:
    """A segment that was loaded between filter and insert node begins to grow again."""
    return _with(GrowsAgain, **scenario)
