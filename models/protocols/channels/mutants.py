"""Mutants that show with several channels, a slow metadata store, a drop or a deadline."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.channels.owners import owners
from tidemark.models.protocols.channels.program import channels

RESTARTS = Host("channels-coordinator-restarts", channels)
DROP = Host("channels-drop", channels)

COORDINATOR = "datacoord/coordinator.py:Coordinator."
SERVICE = "datacoord/flush_service.py:FlushService."
UPDATER = "datanode/checkpoint_updater.py:CheckpointUpdater."

MUTANTS = patches(
    __name__,
    Patch(
        "positions-of-the-last-call",
        at=f"{UPDATER}_send",
        old="call.channel, call.position",
        new="call.channel, calls[-1].position",
        killer="checkpoint_is_durable",
        on=Host("channels-batch", channels),
        source="facts 9",
        says="All positions of a batch are that of its last call.",
    ),
    Patch(
        "tail-is-left-out",
        at=f"{UPDATER}_update",
        old="len(whole), size)",
        new="len(whole) - size + 1, size)",
        killer="a_round_sends_all",
        on=Host("channels-tail", channels),
        source="facts 9",
        says="The last, shorter batch is not sent.",
    ),
    Patch(
        "memory-pressure-takes-the-smallest",
        at="datanode/buffer_manager.py:BufferManager.check_memory",
        old="max(",
        new="min(",
        killer="the_biggest_goes_first",
        on=Host("channels-memory", channels),
        source="facts 7.3",
        says="Memory pressure syncs a buffer of the channel that holds least.",
    ),
    Patch(
        "drop-does-not-wait",
        at="datanode/pipeline.py:ChannelPipeline._drop",
        old="await task.finished.wait()",
        new="pass",
        killer="checkpoint_is_durable",
        on=DROP,
        source="facts 10.1",
        says="The drop is reported while its last syncs are under way.",
    ),
    Patch(
        "object-lacks-rows",
        at="datanode/sync_manager.py:SyncManager._upload_once",
        old="task.rows)",
        new="task.rows[-1:])",
        killer="objects_hold_their_rows",
        on=Host("channels-pack-of-two", channels),
        source="facts 7.6; B14",
        says="An object is written with one row of several; its record names all of them.",
    ),
    Patch(
        "timeout-is-a-success",
        at="rpc.py:Calls.call",
        old="except TimeoutError as late:",
        new=(
            "except TimeoutError as late:\n            from tidemark.impl.types import SaveOutcome\n"
            "            return SaveOutcome.RECORDED"
        ),
        killer="answered_is_stored",
        on=Host("channels-deadline", channels),
        source="facts 7.6; B14",
        says="A call whose deadline passes is answered as if it had been carried out.",
    ),
    Patch(
        "check-and-store-without-the-lock",
        at="stepped_lock.py:SteppedLock.holding",
        old="async with self._lock:",
        new="async with asyncio.Lock():",
        killer="records_only_grow",
        on=Host("channels-two-flushes", channels),
        source="facts 10.1",
        says="Two requests read the same record; the one that is stored later takes the other one back.",
    ),
    Patch(
        "memory-before-the-store",
        at=f"{COORDINATOR}_save_channels",
        old="await self._meta",
        new=("self.channels |= {record.channel: record for record in records}\n        await self._meta"),
        killer="records_are_stored",
        on=Host("channels-slow-store", channels),
        source="facts 10.1",
        says="The coordinator remembers what its store does not have yet.",
    ),
    Patch(
        "dropped-channel-is-recovered",
        at=f"{COORDINATOR}_living",
        old="if record.dropped:",
        new="if False:",
        killer="dropped_is_gone",
        on=DROP,
        source="hazard 14",
        says="A dropped channel is given out at the sentinel, and its flushes are accepted (hazard 14).",
    ),
    Patch(
        "resumed-flush-forgets-its-segments",
        at=f"{SERVICE}resume",
        old="request.segments",
        new="()",
        killer="a_done_flush_is_confirmed",
        on=RESTARTS,
        source="facts 10.3",
        says="After a restart of the coordinator a flush goes on without its segments.",
    ),
    Patch(
        "flushes-are-not-resumed",
        at=f"{SERVICE}resume",
        old="sorted(self._coordinator.channels)",
        new="()",
        killer="a_done_flush_is_confirmed",
        on=RESTARTS,
        source="facts 10.3",
        says="After a restart of the coordinator its flushes are not continued.",
    ),
    Patch(
        "session-of-another-node-is-kept",
        at=f"{COORDINATOR}assign",
        old=", session=0",
        new="",
        killer="the_owner_is_served",
        on=Host("channels-move", owners),
        source="facts 10.4",
        says="A channel that moves keeps the number of the incarnation that had it.",
    ),
    Patch(
        "recovery-keeps-the-term",
        at=f"{COORDINATOR}recover_channel",
        old=" if 0 < session == known else record.term + 1",
        new="",
        killer="the_fenced_do_not_write",
        on=Host("channels-new-incarnation", owners),
        source="H22, B27",
        says="A new incarnation writes in the term of the earlier one.",
    ),
)
