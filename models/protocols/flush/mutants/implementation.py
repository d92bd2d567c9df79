"""Mutants of the flush implementation: hazards and real bugs."""

from collections.abc import Hashable, Iterable
from typing import Any

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datanode.data_node import DataNode, DataNodePorts
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, Position, SegmentId
from tidemark.models.mutation.declared import mutant
from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.flush.program import FlushProgram, FlushScenario, flush, over_files

DRIVEN = Host("driven", flush)
CHECKPOINTS = Host("driven-checkpoints", flush)

FLUSH = Host("flush-and-checkpoint", flush)
ON_SPARK = Host("flush-and-checkpoint-on-spark", flush)
RACE = Host("two-flushes-race", flush)
LATE = Host("late-requests", flush)
REPLAY = Host("crash-and-replay", flush)
APART = Host("one-cannot-be-stored", flush)

BUFFERS = "datanode/buffer_manager.py:BufferManager."
SYNCS = "datanode/sync_manager.py:SyncManager."
UPDATER = "datanode/checkpoint_updater.py:CheckpointUpdater."
BUFFER = "datanode/write_buffer.py:WriteBuffer."
COORDINATOR = "datacoord/coordinator.py:Coordinator."

MUTANTS = patches(
    __name__,
    Patch(
        "checkpoint-ignores-in-flight",
        at=f"{BUFFER}get_checkpoint",
        old="[*buffered, *self.in_flight.values()]",
        new="[*buffered]",
        killer="flush.positions_on_their_way_are_safe",
        on=ON_SPARK,
        walked=DRIVEN,
        source="H15, B13; seed 001, GetCheckpoint",
        says="Rows that are being synced do not hold the checkpoint back (H15, B13, seed 001).",
    ),
    Patch(
        "in-flight-removed-early",
        at=f"{SYNCS}_run",
        old="await self._upload(task)",
        new="await self._upload(task)\n            task.sink.in_flight.pop(task.key, None)",
        killer="flush.positions_on_their_way_are_safe",
        on=ON_SPARK,
        walked=CHECKPOINTS,
        source="H16",
        says="The start position is forgotten after the upload, before the rows are recorded (H16).",
    ),
    Patch(
        "upload-error-is-swallowed",
        at=f"{SYNCS}_upload_once",
        old="return False",
        new="return True",
        killer="binlogs_are_stored",
        on=Host("failed-upload", flush),
        walked=DRIVEN,
        source="B14",
        says="A failed upload counts as done (B14).",
    ),
    Patch(
        "metadata-are-written-before-the-object",
        at=f"{SYNCS}_run",
        old="await self._upload(task)",
        new='await self._preemption.point("sync.upload")',
        killer="binlogs_are_stored",
        on=Host("over-real-stores", over_files),
        source="facts 7.6",
        says="A sync is recorded first and uploaded then: a power failure in between loses its rows.",
        also=(Edit(f"{SYNCS}_save", "return True", "await self._upload(task)\n        return True"),),
    ),
    Patch(
        "start-position-is-the-end",
        at=f"{BUFFER}consume",
        old="pack.start",
        new="StartPosition(pack.end.ts)",
        killer="flush.positions_on_their_way_are_safe",
        on=FLUSH,
        walked=CHECKPOINTS,
        source="facts 7.1: start and end of a pack; facts 7.2",
        says="A buffer remembers the end of its first pack as its start.",
    ),
    Patch(
        "syncs-of-a-segment-overtake",
        at=f"{SYNCS}submit",
        old="task.segment_id)",
        new="task.segment_id, task.position.ts)",
        killer="flush.one_task_at_a_time",
        on=Host("two-syncs", flush),
        source="B55, H49",
        says="Two sync tasks of one segment run side by side (B55, H49).",
    ),
    Patch(
        "flush-ts-is-overwritten",
        at=f"{BUFFER}flush_up_to",
        old="max(self.flush_ts, flush_ts)",
        new="flush_ts",
        killer="flush.flush_request_not_lost",
        on=RACE,
        walked=DRIVEN,
        source="H6",
        says="A late request for an earlier flush replaces a later one (H6).",
    ),
    Patch(
        "a-message-of-a-stored-pack-is-lost",
        at="datanode/pipeline.py:ChannelPipeline.process",
        old="if pack.flush:",
        new="if pack.flush and self.recovery_filter.apply(pack) == pack:",
        on=Host("flush-message-and-a-crash", flush),
        source="seed 001, manual flush",
        says="A message that is read again counts as done if a row of its pack is stored.",
    ),
    Patch(
        "a-message-waits-for-no-other",
        at="datanode/pipeline.py:ChannelPipeline.process",
        old="if pack.flush:",
        new="if pack.flush and not self.write_buffer.flush_ts:",
        killer="flush.flush_request_not_lost",
        on=Host("flush-messages", flush),
        source="seed 001, manual flush; H6",
        says="A message that comes while a flush is pending is taken for a part of it.",
    ),
    Patch(
        "the-whole-batch-is-sent-again",
        at=f"{UPDATER}_update",
        old="whole = [task for task in tasks if task.channel not in self.apart]",
        new="whole, tasks = list(tasks), []",
        on=APART,
        source="H23",
        says="A batch that has failed is sent again as it is.",
    ),
    Patch(
        "what-failed-is-dropped",
        at=f"{UPDATER}_send",
        old=".channel] = None\n            return []",
        new=".channel] = None\n                self.tasks.pop(call.channel, None)\n            return []",
        on=APART,
        source="H23; seed 000: updateCheckpoints",
        says="A position whose request has failed is not reported any more.",
    ),
    Patch(
        "what-failed-replaces-what-came",
        at=f"{UPDATER}_send",
        old="return []",
        new="self.tasks.update({task.channel: task for task in batch})\n            return []",
        on=APART,
        source="H23; seed 000: AddTask",
        says="The position of a failed request takes the place of a later one that has come meanwhile.",
    ),
    Patch(
        "flush-ts-is-cleared-blindly",
        at=f"{BUFFERS}notify_checkpoint_updated",
        old=" and buffer.flush_ts == call.saw_flush_ts",
        new="",
        killer="flush.reset_only_by_greater_checkpoint",
        on=RACE,
        source="H5",
        says="The callback reads, decides, and clears whatever is there by then (H5).",
    ),
    Patch(
        "flush-ts-is-reset-by-an-equal-checkpoint",
        at=f"{BUFFERS}notify_checkpoint_updated",
        old="if call.position.ts > call.saw_flush_ts",
        new="if NO_FLUSH != call.saw_flush_ts <= call.position.ts",
        killer="flush.reset_only_by_greater_checkpoint",
        on=ON_SPARK,
        source="H7",
        says="At or above is enough for the reset (H7).",
    ),
    Patch(
        "flush-ts-is-never-reset",
        at=f"{BUFFERS}notify_checkpoint_updated",
        old="call.position.ts > call.saw_flush_ts and buffer.flush_ts == call.saw_flush_ts",
        new="False",
        on=ON_SPARK,
        source="B50",
        says="The callback leaves the flush timestamp alone (B50).",
    ),
    Patch(
        "recovery-filters-nothing",
        at="datanode/recovery.py:RecoveryFilter._should_filter",
        old="recorded is not None and row.ts <= recorded.ts",
        new="False",
        killer="flush.buffered_rows_are_not_recorded",
        on=REPLAY,
        walked=CHECKPOINTS,
        source="B63",
        says="Replayed rows are kept although they are stored (B63).",
    ),
    Patch(
        "recovery-boundary-is-strict",
        at="datanode/recovery.py:RecoveryFilter._should_filter",
        old="row.ts <= recorded.ts",
        new="row.ts < recorded.ts",
        killer="flush.buffered_rows_are_not_recorded",
        on=REPLAY,
        source="H46",
        says="The row at the recorded position counts as not stored (H46).",
    ),
    Patch(
        "save-of-a-dead-incarnation-counts",
        at=f"{COORDINATOR}_owner_may_write",
        old=" and record.term == owner.term",
        new="",
        killer="flush.stored_once",
        on=Host("crash-and-recover", flush),
        walked=CHECKPOINTS,
        source="H22, B27",
        says="The owner is compared by node, not by incarnation (H22, B27).",
    ),
    Patch(
        "repeated-save-appends",
        at=f"{COORDINATOR}_with_rows",
        old=" or request.position.ts <= record.dml_position.ts",
        new="",
        killer="flush.stored_once",
        on=Host("lost-answers", flush),
        walked=DRIVEN,
        source="B19, H48",
        says="A save that is repeated after a lost answer is recorded again (B19, H48).",
    ),
    Patch(
        "smaller-checkpoint-is-stored",
        at=f"{COORDINATOR}_accepts",
        old="reported.position.ts > record.checkpoint",
        new="True",
        killer="flush.stored_never_goes_back",
        on=LATE,
        source="B29",
        says="A late request takes the stored checkpoint back (B29).",
    ),
    Patch(
        "signal-sends-what-no-flush-waits-for",
        at=f"{UPDATER}_take_flagged",
        old="self.signal.clear()",
        new="return list(self.tasks.values())",
        on=FLUSH,
        source="facts 9",
        says="At a signal all is sent, as by the timer: the urgent tasks keep their mark.",
    ),
    Patch(
        "answer-counts-as-a-failure",
        at=f"{UPDATER}_send",
        old="self._config.checkpoint_rpc_timeout,\n            )",
        new='self._config.checkpoint_rpc_timeout,\n            )\n            raise RpcError("not stored")',
        on=FLUSH,
        walked=CHECKPOINTS,
        source="facts 9",
        says="A report of checkpoints that the coordinator has answered is treated as lost.",
    ),
    Patch(
        "flush-service-gives-up",
        at="datacoord/flush_service.py:FlushService._until_confirmed",
        old="while not await self._coordinator.confirm_flush(channel, flush_ts, segments):",
        new=(
            "for _ in range(2):\n"
            "            if await self._coordinator.confirm_flush(channel, flush_ts, segments):\n"
            "                return"
        ),
        killer="flush.flush_completes",
        on=Host("flush-endless", flush),
        source="facts 10.3",
        says="After two polls without success a flush is not asked for again: it is never confirmed.",
        tier="full",
    ),
    Patch(
        "rounds-overlap",
        at=f"{UPDATER}_run_round",
        old="async with self._round:",
        new="async with asyncio.Lock():",
        walked=DRIVEN,
        source="facts 9",
        says="Two rounds of the updater run at the same time.",
    ),
    Patch(
        "refusal-is-success",
        at=f"{SYNCS}_save",
        old="outcome not in (SaveOutcome.RECORDED, SaveOutcome.ALREADY_RECORDED)",
        new="False",
        walked=Host("driven-moves", flush),
        source="hazard 22",
        says="A save that the coordinator refuses counts as recorded.",
    ),
)


@mutant(killer="footprints", source="property I", instance="tiny-footprints")
def node_and_coordinator_share_an_object(**scenario: Any) -> FlushProgram:
    """A poll leaves a mark where the node finds it, and no step says so: an order may be left out."""
    polls: list[ChannelName] = []
    seen: list[int] = []

    class Marks(Coordinator):
        async def confirm_flush(
            self, channel: ChannelName, flush_ts: Timestamp, segments: Iterable[SegmentId] = ()
        ) -> bool:
            polls.append(channel)
            return await super().confirm_flush(channel, flush_ts, segments)

    class Declares(FlushProgram):
        coordinator_class = Marks

        def make_node(self, ports: DataNodePorts, session: int) -> DataNode:
            node = super().make_node(ports, session)
            look = node.buffers.get_checkpoint

            async def looks(channel: ChannelName) -> tuple[Position, bool]:
                found = await look(channel)
                seen.append(len(polls))
                return found

            setattr(node.buffers, "get_checkpoint", looks)  # noqa: B010  a method, for this run
            return node

        def declared(self) -> Hashable:
            return super().declared(), tuple(seen)

    return Declares(FlushScenario(**scenario))


DATA_NODE = (
    Patch(
        "channels-share-an-interval",
        at="datanode/time_tick_node.py:TimeTickNode.operate",
        old="self.last_update is None or now - self.last_update >=",
        new="now - max((one.position.ts for one in self._updater.tasks.values()), default=-(2**64)) >=",
        source="facts 8",
        says="A checkpoint of one channel counts as a report of all: the others wait.",
    ),
    Patch(
        "memory-is-taken-from-the-first-channel",
        at="datanode/buffer_manager.py:BufferManager.check_memory",
        old="max(sorted(held), key=lambda channel: held[channel])",
        new="min(held)",
        source="facts 7.3: memory check",
        says="When memory is short the first channel by name is synced, whatever it holds.",
    ),
)

CORE = (
    Patch(
        "a-drop-is-not-sent",
        at="datacoord/direct.py:DirectCoordinatorClient.drop_channel",
        old='await self._calls.call(handler, name="DropChannel", deadline=deadline)',
        new="handler.close()",
        source="seed 000",
        says="A caller hears that its channel is dropped, and nobody was asked.",
    ),
    Patch(
        "who-gives-up-stops-the-callee",
        at="rpc.py:Calls.call",
        old="asyncio.shield(task)",
        new="task",
        source="seed 000",
        says="A call whose caller has left ends half-way.",
    ),
    Patch(
        "a-failure-is-told-once",
        at="runtime.py:Supervisor.check",
        old="raise self.failure",
        new="told, self.failure = self.failure, None\n            raise told",
        source="seed 000",
        says="A failure that was raised once is forgotten.",
    ),
    Patch(
        "everybody-passes-a-point",
        at="stepped_lock.py:SteppedLock.holding",
        old="if waits:",
        new="if True:",
        source="facts 1",
        says="Who has not waited passes the point of those who have.",
    ),
    Patch(
        "requests-wait-for-each-other",
        at="system/line_server.py:LineServer._take_requests",
        old="task.add_done_callback(self._requests.discard)",
        new="task.add_done_callback(self._requests.discard)\n            await asyncio.wait([task])",
        source="seed 002",
        says="A slow request holds back those behind it.",
    ),
)

CLUSTER = (
    Patch(
        "two-processes-have-one-directory",
        at="cluster/directory.py:ClusterDirectory.take",
        old="self._calls.close(lock)",
        new="self._calls.close(lock)\n            return",
        source="facts 2.2",
        says="A second cluster writes into the files of the first.",
    ),
    Patch(
        "a-log-that-cannot-be-read-is-empty",
        at="cluster/leave.py:leave_messages",
        old="""    lines = [
        json.dumps(line_of(channel, entry), separators=(",", ":"))
        for channel in config.channel_names
        for entry in await read_entries(directory.logs, channel, files=files)
    ]
""",
        new="""    from tidemark.impl.errors import StoreError

    try:
        lines = [
            json.dumps(line_of(channel, entry), separators=(",", ":"))
            for channel in config.channel_names
            for entry in await read_entries(directory.logs, channel, files=files)
        ]
    except StoreError:
        return 6
""",
        source="facts 10.1",
        says="Evidence without the messages of a log that the disk does not give.",
    ),
    Patch(
        "a-write-without-an-answer-has-not-happened",
        at="cluster/promises.py:Promises._visible",
        old="there or False in unknown",
        new="there and True not in unknown",
        source="facts 6.1",
        says="A row whose insert was not acknowledged must not be seen.",
    ),
    Patch(
        "any-guarantee-will-do",
        at="cluster/promises.py:Promises.broken",
        old="if write.ts is not None and write.ts > result.guarantee",
        new="if False",
        source="facts 6.1",
        says="A strong read may miss what was acknowledged before.",
    ),
)

REPLICAS = (
    Patch(
        "deletes-are-let-go-of-first",
        at="cluster/replicas.py:ReplicaSet.load_flushed",
        old="with suppress(ReplicaClosedError):",
        new=(
            "with suppress(ReplicaClosedError):\n"
            "                    node.trim_deletes(channel, described.seek.ts)"
        ),
        source="facts 6.3",
        says="A segment is loaded after the deletes were dropped that it needs.",
    ),
    Patch(
        "a-node-that-comes-misses-a-load",
        at="cluster/replicas.py:ReplicaSet.revive",
        old=(
            "node = self.nodes[number] = self._make(number)\n"
            "        await asyncio.gather(*("
            "self._serve(node, collection) for collection in self.collections))"
        ),
        new=(
            "node = self._make(number)\n"
            "        await asyncio.gather(*("
            "self._serve(node, collection) for collection in self.collections))\n"
            "        self.nodes[number] = node"
        ),
        source="facts 6.3",
        says="A collection that is loaded while a node starts is never served by that node.",
    ),
)

SERVICE = (
    Patch(
        "a-node-that-comes-again-is-not-told",
        at="datacoord/flush_service.py:FlushService._until_confirmed",
        old="term != told_term",
        new="told_term is None",
        source="seed 004, 6.3",
        says="A node that has forgotten the flush, since it died, is not told again.",
    ),
    Patch(
        "one-request-of-a-channel-is-resumed",
        at="datacoord/flush_service.py:FlushService.resume",
        old=".flush_requests:",
        new=".flush_requests[:1]:",
        source="facts 7.8: after a restart",
        says="Of several requests of a channel that were recorded only the first one is resumed.",
    ),
    Patch(
        "a-resumed-flush-forgets-its-segments",
        at="datacoord/flush_service.py:FlushService.resume",
        old="request.segments",
        new="()",
        source="seed 004, 6.3",
        says="After a restart of the coordinator a flush is for its timestamp alone.",
    ),
)
