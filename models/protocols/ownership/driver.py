"""Drives the real coordinator by the actions of ``tidemark.spec.ownership``: each step is a call.

The nodes are scripts, as in ``program.py``. A collection of a channel is one call of the coordinator and two
steps: its segments are gone, then its record. By chance a request arrives that was taken before, or is of an
earlier tenure: it must change nothing. Checkpoints come from the last tenure; that the coordinator takes
those of earlier ones of the same node, too, is in ``program.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, ClassVar, TypeVar

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.errors import NotOwnerError
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.types import (
    BinlogRecord,
    ChannelPosition,
    ChannelRecord,
    EndPosition,
    Owner,
    SaveBinlogPaths,
    SaveOutcome,
    UpdateCheckpoints,
)
from tidemark.models.conformance.adapter import State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.ownership.refinement import CHANNEL, SEGMENT, Past, Tenure, abstract
from tidemark.models.refinement.step import StepChecker

T = TypeVar("T")
_AT_MOST = {"release": 2, "give_back": 2, "crash": 1}
"""How often these happen in a run."""


class _Meta(MemoryMetaStore):
    """Holds a collected channel's record back until it is told to store it."""

    def __init__(self) -> None:
        super().__init__()
        self.stores = asyncio.Event()

    async def save_channels(self, records: Sequence[ChannelRecord]) -> None:
        """See MetaStore."""
        if any(record.collected for record in records):
            await self.stores.wait()
        await super().save_channels(records)


class OwnershipAdapter:
    """One run of a coordinator and its nodes."""

    ignored: ClassVar[tuple[str, ...]] = ("faults",)
    never_offered: ClassVar[dict[str, str]] = {"drop_segment": "no partition is dropped"}

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        self._checker = checker
        self._loop = asyncio.new_event_loop()
        self._rows = int(str(instance.bounds["Position"]))
        self._nodes = [f"node {node}" for node in instance.map_constants["of"]]
        self._tenures = [Tenure() for _ in self._nodes]
        self._past = Past()
        self._latest = self._sessions = 0
        self._left = dict(_AT_MOST)
        self._meta = _Meta()
        self._coordinator = Coordinator(meta=self._meta)
        self._collecting: asyncio.Task[None] | None = None

    def state(self) -> State:
        """See ``Adapter``."""
        tenures = [tenure.view() for tenure in self._tenures]
        segment = self._coordinator.segments.get(SEGMENT)
        values = abstract(self._channel(), segment, tenures, self._past.view(), rows=self._rows)
        return self._checker.encode(values)

    def offers(self, step: Step) -> bool:
        """See ``Adapter``. The specification says when a node sends, reports and asks."""
        if step.action in self.never_offered:
            return False
        if step.action == "give_back":
            return self._left["give_back"] > 0 and self._channel().session > 0
        if step.action == "send":
            return self._past.segment is None  # a later collection has segments of its own
        return self._left.get(step.action, 1) > 0

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        if step.action in self._left:
            self._left[step.action] -= 1
        getattr(self, f"_do_{step.action}")(*(int(value) for value in step.args))
        if chance and self._collecting is None:
            self._disturb(chance)

    def close(self) -> None:
        """See ``Adapter``."""
        if self._collecting is not None:
            self._do_collect()
        self._loop.close()

    def _now(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)

    def _channel(self) -> ChannelRecord:
        return self._coordinator.channels.get(CHANNEL, ChannelRecord(CHANNEL))

    def _of(self, t: int) -> Owner:
        owner = self._tenures[t].owner
        assert owner is not None  # it has begun
        return owner

    def _count(self, term: int) -> None:
        self._past.epochs += int(term > self._latest)
        self._latest = max(self._latest, term)

    # The channel moves.

    def _do_take(self, t: int) -> None:
        self._sessions += 1
        node = self._nodes[t]
        self._now(self._coordinator.assign(CHANNEL, node))
        answer = self._now(self._coordinator.recover_channel(CHANNEL, node, self._sessions))
        self._count(answer.owner.term)
        told = [answer.seek.ts, *(record.dml_position.ts for record in answer.segments)]
        if self._past.segment is not None:
            told.append(self._past.segment.dml_position.ts)
        epoch, seek = self._past.epochs, answer.seek.ts
        self._tenures[t].begin(owner=answer.owner, epoch=epoch, seek=seek, told=max(told))

    def _do_release(self) -> None:
        self._now(self._coordinator.unassign(CHANNEL))

    def _do_give_back(self) -> None:
        owner = self._channel().last_owner
        assert owner is not None  # it has been recovered
        self._now(self._coordinator.assign(CHANNEL, owner))

    def _do_crash(self, t: int) -> None:
        self._tenures[t].alive = False

    # Rows and checkpoints.

    def _do_consume(self, t: int) -> None:
        self._tenures[t].read += 1
        self._past.seen = max(self._past.seen, self._tenures[t].read)

    def _do_send(self, t: int, segment: int) -> None:
        del segment
        self._tenures[t].send()

    def _do_record_save(self, t: int, segment: int) -> None:
        del segment
        taken = self._save(t) is not SaveOutcome.NOT_OWNER
        if taken and self._tenures[t].save == "sent":
            self._tenures[t].save = "taken"

    def _save(self, t: int) -> SaveOutcome:
        low, high = self._tenures[t].low, self._tenures[t].high
        binlog = BinlogRecord(f"{low}-{high}", tuple(range(low + 1, high + 1)))
        request = SaveBinlogPaths(CHANNEL, self._of(t), SEGMENT, EndPosition(high), binlog)
        return self._now(self._coordinator.save_binlog_paths(request))

    def _do_learn(self, t: int, segment: int) -> None:
        del segment
        self._tenures[t].save = "idle"

    def _do_report(self, t: int) -> None:
        tenure = self._tenures[t]
        known = tenure.high if tenure.save == "idle" else tenure.low
        tenure.top = min(known, tenure.read)

    def _do_store(self, t: int, position: int) -> None:
        reported = ChannelPosition(CHANNEL, EndPosition(position), self._of(t))
        self._now(self._coordinator.update_channel_checkpoints(UpdateCheckpoints((reported,))))

    # The end of the channel, and the next of its name.

    def _do_drop_collection(self, position: int) -> None:
        self._past.ended, self._past.end, self._past.seen = True, position, position

    def _do_ask_drop(self, t: int) -> None:
        self._tenures[t].asks = True

    def _do_drop(self, t: int) -> None:
        self._now(self._coordinator.drop_channel(CHANNEL, self._of(t)))

    def _do_collect_segment(self, segment: int) -> None:
        del segment
        self._past.segment = self._coordinator.segments.get(SEGMENT)
        self._begin_to_collect()

    def _begin_to_collect(self) -> None:
        self._collecting = self._loop.create_task(self._coordinator.collect_channel(CHANNEL))
        for _ in range(3):
            self._now(asyncio.sleep(0))

    def _do_collect(self) -> None:
        if self._collecting is None:
            self._begin_to_collect()
        assert self._collecting is not None
        self._meta.stores.set()
        self._loop.run_until_complete(self._collecting)
        self._collecting = None
        self._meta.stores.clear()

    def _do_create(self) -> None:
        self._now(self._coordinator.create_channel(CHANNEL, EndPosition(self._past.end)))
        self._past.start, self._past.ended = self._past.end, False
        self._count(self._channel().term)

    # What must change nothing.

    def _disturb(self, chance: int) -> None:
        begun = [t for t, tenure in enumerate(self._tenures) if tenure.owner is not None]
        if not begun:
            return
        t = begun[chance % len(begun)]
        tenure, is_owner = self._tenures[t], self._is_owner(t)
        if tenure.low < tenure.high and (tenure.save != "sent" or not is_owner):
            self._save(t)
        if not is_owner and CHANNEL in self._coordinator.channels:
            with suppress(NotOwnerError):
                self._do_drop(t)

    def _is_owner(self, t: int) -> bool:
        channel = self._channel()
        is_living = not channel.dropped
        return is_living and Owner(channel.assigned_to or "", channel.term) == self._of(t)
