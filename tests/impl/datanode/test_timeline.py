"""Data nodes on a clock that is wound by hand: each call of store and coordinator, each answer, and when."""

import re
from collections.abc import Sequence

import pytest

from tests.impl.parts import Scene, settle
from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datanode.data_node import DataNode, DataNodePorts
from tidemark.impl.types import (
    BinlogRecord,
    EndPosition,
    Owner,
    Pack,
    Position,
    RecoveryAnswer,
    Row,
    SaveBinlogPaths,
    SaveOutcome,
    SegmentRecord,
    StartPosition,
    UpdateCheckpoints,
)

ROW_BYTES = 24
OUTCOMES = {
    "ok": SaveOutcome.RECORDED, "already": SaveOutcome.ALREADY_RECORDED, "refused": SaveOutcome.NOT_OWNER
}  # fmt: skip
SIZES = {
    "full": 3, "stale": 40, "watermark": 100, "check": 1000, "interval": 100, "tick": 1000, "batch": 1,
    "parallel": 1, "tries": 0,
}  # fmt: skip


class World(Scene):
    """A log, a store and a coordinator. Scripts name

    - by channel, a letter, its packs ``seconds:end:rows``, where a row is ``timestamp@segment``; the last one
      may be followed by ``:close`` or ``:drop``, each by ``:flush``;
    - ``flush``, ``seal`` and ``recover``: ``seconds:channel``, and what the call has further; ``stop``: when;
    - ``held``: for how long a seal waits between two segments;
    - ``stored``: ``segment@position`` of what was recorded before, perhaps with ``:flushed`` or ``:dropped``;
      ``seek``: from where the channels are read;
    - the sizes of the configuration, in rows, seconds or units of message time.
    """

    def size(self, name: str) -> float:
        return float(self.script.get(name, [str(SIZES[name])])[0])

    def config(self) -> DataNodeConfig:
        return DataNodeConfig(
            full_buffer_bytes=int(self.size("full")) * ROW_BYTES,
            stale_after_ts=int(self.size("stale")),
            memory_watermark_bytes=int(self.size("watermark")) * ROW_BYTES,
            memory_check_seconds=self.size("check"),
            checkpoint_interval_ts=int(self.size("interval")),
            checkpoint_tick_seconds=self.size("tick"),
            max_positions_per_rpc=int(self.size("batch")),
            max_parallel_rpcs=int(self.size("parallel")),
            checkpoint_rpc_timeout=17.0,
            save_rpc_timeout=13.0,
            save_tries=int(self.size("tries")),
            retry_initial_seconds=1.0,
            retry_max_seconds=3.0,
        )

    def channels(self) -> list[str]:
        return [name for name in self.script if len(name) == 1]

    async def point(self, name: str) -> None:
        if name == "node.seal" and "held" in self.script:
            await self.sleep(float(self.script["held"][0]))

    async def next_pack(self, channel: str, after: Position) -> Pack:
        start, how = 0, ""
        for given in self.script[channel]:
            seconds, end, rows, how = (*given.split(":"), "", "")[:4]
            if int(end) > after.ts:
                await self.sleep(max(0.0, float(seconds) - self.hand.now))
                found = [tuple(map(int, row.split("@"))) for row in rows.split("+") if row]
                return Pack(
                    StartPosition(start),
                    EndPosition(int(end)),
                    tuple(Row(ts, segment, ts) for ts, segment in found),
                    close=how == "close",
                    drop=how == "drop",
                    flush=how == "flush",
                )
            start = int(end)
        if how in ("close", "drop"):
            self.note(f"reads {channel} on")
        await self.sleep(1000)
        raise AssertionError("the log has ended")

    async def put(self, path: str, rows: Sequence[Row]) -> None:
        await self.ask("put", f" {path.replace('term-000006-position-' + '0' * 18, '')}")

    async def get(self, path: str) -> tuple[Row, ...]:
        raise NotImplementedError(path)

    async def save_binlog_paths(self, request: SaveBinlogPaths, *, deadline: float) -> SaveOutcome:
        binlog, owner = request.binlog, request.owner
        rows = "" if binlog is None else f" {'+'.join(map(str, binlog.row_positions))}"
        end = " flushed" * request.flushed + " dropped" * request.dropped
        starts = "".join(f" {segment} from {start.ts}" for segment, start in request.starts)
        place = f" {request.channel}{owner.term} {request.segment_id}@{request.position.ts}"
        assert deadline == 13
        assert owner.node_id == "n"
        assert binlog is None or binlog.path.endswith(f"{request.position.ts:020d}")
        return OUTCOMES[await self.ask("save", f"{place}{rows}{end}{starts}")]

    async def update_channel_checkpoints(self, request: UpdateCheckpoints, *, deadline: float) -> None:
        assert deadline == 17
        assert {one.owner for one in request.positions} == {Owner("n", 6)}
        await self.ask("update", "".join(f" {one.channel}{one.position.ts}" for one in request.positions))

    async def recover_channel(self, channel, node_id, session, *, deadline):
        assert (node_id, session, deadline) == ("n", 2, 13)
        await self.ask("recover", f" {channel}")
        records = []
        for given in self.script.get("stored", []):
            place, _, phase = given.partition(":")
            segment, position = map(int, place.split("@"))
            records.append(
                SegmentRecord(
                    segment, channel, EndPosition(position),
                    flushed=phase == "flushed", dropped=phase == "dropped",
                    binlogs=(BinlogRecord("before", (position,)),),
                )
            )  # fmt: skip
        seek = EndPosition(int(self.script.get("seek", ["0"])[0]))
        return RecoveryAnswer(
            channel, Owner("n", 6), seek, tuple(records), asks_starts="tells" in self.script
        )

    async def drop_channel(self, channel: str, owner: Owner, *, deadline: float) -> None:
        assert (owner, deadline) == (Owner("n", 6), 13)
        await self.ask("drop", f" {channel}")


def left(node: DataNode) -> str:
    found, running = [], set()
    for name, buffer in node.buffers.buffers.items():
        phases = [f"{one.segment_id} {one.phase.value}" for one in buffer.metacache.segments.values()]
        held = [f"{segment}x{len(one.rows)}" for segment, one in buffer.buffers.items()]
        tasks = [f"{segment}@{at} {task.stage.value}" for (segment, at), task in buffer.tasks.items()]
        running |= {(name, segment) for segment, _ in buffer.tasks}
        flush = f" of {buffer.flush_ts}" * bool(buffer.flush_ts)
        words = ", ".join([*held, *tasks, *phases])
        found.append(f"{name}{buffer.consumed.ts}-{buffer.get_checkpoint().ts}{flush} {words}".strip())
    pending = [f"{name}{task.position.ts}{'!' * task.flush}" for name, task in node.updater.tasks.items()]
    assert list(node.buffers.buffers) == list(node.pipelines)
    assert set(node.sync_manager.queues) == running
    sent = [f"; {name}{call.position.ts} in flight" for name, call in node.updater.in_flight.items()]
    return f"{', '.join(found) or 'nothing'}; pending {', '.join(pending) or 'nothing'}{''.join(sent)}"


async def played(what: str) -> str:
    """Run a node for 12 s; return what was seen, how it failed if it did, and what it held then."""
    scene = World(what)
    ports = DataNodePorts(clock=scene, log=scene, store=scene, coordinator=scene, preemption=scene)
    node = DataNode(node_id="n", session=2, ports=ports, config=scene.config())
    node.start()

    async def call(name: str, given: str) -> None:
        seconds, *arguments = given.split(":")
        await scene.sleep(float(seconds))
        try:
            if name == "recover":
                await node.recover_channel(*arguments)
            elif name == "flush":
                node.flush_channel(arguments[0], int(arguments[1]))
            elif name == "seal":
                channel, segments, expires = arguments
                numbers = [int(one) for one in segments.split("+")]
                answer = await node.seal_segments(channel, numbers, expires=int(expires))
                scene.note(f"seals: {answer}")
            else:
                await node.stop()
        except Exception as failure:  # noqa: BLE001
            scene.note(f"{name}: {type(failure).__name__}")

    calls = [call("recover", f"0:{name}") for name in scene.channels()]
    for name in ("recover", "flush", "seal", "stop"):
        places = scene.script.get(name, []) if name != "recover" else scene.script.get("again", [])
        calls += [call(name, given) for given in places]
    seen = await scene.played(12, *calls)
    failure = node.supervisor.failure
    ends = "" if failure is None else f" fails: {type(failure).__name__};"
    seen = f"{seen};{ends} {left(node)}"
    await node.stop()
    await settle()
    return seen


CASES = """
full, stale, and neither, and the boundary of each:
    c=1:10:1@1+2@1+3@2,2:20:11@1+12@2,3:40,4:41:41@3,5:80:50@3 => 0 recover c; 2 put c/segment-1/20; 2 save
    c6 1@20 1+2+11; 4 put c/segment-2/41; 4 save c6 2@41 3+12; c80-40 3x2, 1 growing, 2 growing, 3 growing;
    pending c0
syncs of a segment follow each other, and fail in each way: c=1:10:1@1+2@1+3@1,2:20:11@1+12@1+13@1,3:30:21@2
    put=fail,ok save=drop,refused,drop,1.5:already,ok => 0 recover c; 1 put c/segment-1/10; 2 put
    c/segment-1/10; 2 save c6 1@10 1+2+3; 4 save c6 1@10 1+2+3; 7 save c6 1@10 1+2+3; 10 save c6 1@10 1+2+3;
    11.5 put c/segment-1/20; 11.5 save c6 1@20 11+12+13; c30-20 2x1, 1 growing, 2 growing; pending c0
the store breaks: c=1:10:1@1+2@1+3@1 put=broken => 0 recover c; 1 put c/segment-1/10; fails: RuntimeError;
    c10-0 1@10 queued, 1 growing; pending c0
the coordinator breaks at a save: c=1:10:1@1+2@1+3@1 save=broken => 0 recover c; 1 put c/segment-1/10; 1
    save c6 1@10 1+2+3; fails: RuntimeError; c10-0 1@10 sending, 1 growing; pending c0
what was recorded is left out, in each phase: seek=5 recover=drop,ok stored=1@8,2@9:flushed,3@9:dropped
    c=2:10:6@1+8@1+9@1+9@2+10@3,3:20:12@3+13@1,6:30 seal=4:c:1+2+3+4:20 again=5:c => 0 recover c; 1 recover
    c; 4 seals: True; 5 recover c; 5 recover: ValueError; 6 put c/segment-1/30; 6 save c6 1@30 9+13 flushed;
    6 save c6 4@30 flushed; c30-30 1 flushed, 2 flushed, 3 dropped, 4 flushed; pending c0
a seal is held up, and says no of the first: c=1:10:1@1+2@2,4:20 seal=2:c:1+2:15 held=3 stop=6 => 0 recover
    c; 5 seals: False; c20-0 1x1, 2x1, 1 growing, 2 sealed; pending c0
seals twice, too early, and of no channel: c=1:10:1@1+2@2,4:20:11@2,5:30
    seal=2:c:1+2:11,3:c:1:10,3.2:c:1:10,3.5:d:1:1 flush=3.6:d:1 => 0 recover c; 2 seals: False; 3 seals:
    True; 3.2 seals: True; 3.5 seal: UnknownChannelError; 3.6 flush: UnknownChannelError; 4 put
    c/segment-1/20; 4 save c6 1@20 1 flushed; c30-0 2x2, 1 flushed, 2 growing; pending c0
a row for a segment that is being flushed: c=1:10:1@1+2@2,4:20:11@2,5:30:21@1 seal=2:c:1:10 save=1.5:ok => 0
    recover c; 2 seals: True; 4 put c/segment-1/20; 4 save c6 1@20 1 flushed; fails: LateRowError; c20-0
    2x2, 1 flushed, 2 growing; pending c0
an urgent report fails, and the next one is late: c=1:10:1@1,3:20:11@2,5:30,6:40 flush=2:c:20
    update=1.5:drop,1.5:ok => 0 recover c; 3 put c/segment-1/20; 3 save c6 1@20 1; 3 put c/segment-2/20; 3
    save c6 2@20 11; 5 update c30; 6.5 update c40; c40-40 1 growing, 2 growing; pending nothing
the log asks for a flush, of the message's own pack too: c=1:10:1@1,3:20:11@1+12@2:flush,5:30 => 0 recover c;
    3 put c/segment-1/20; 3 save c6 1@20 1+11; 3 put c/segment-2/20; 3 save c6 2@20 12; 5 update c30; c30-30
    1 growing, 2 growing; pending nothing
two flushes, one below what is read: c=1:10,3:20:11@1,5:30 flush=2:c:10,4:c:25 => 0 recover c; 3 update c10;
    5 put c/segment-1/30; 5 save c6 1@30 11; c30-30 of 25 1 growing; pending nothing
a flush between two ticks: c=1:10,3:20:11@1,5:30 flush=2:c:25 => 0 recover c; 5 put c/segment-1/30; 5 save
    c6 1@30 11; c30-30 of 25 1 growing; pending c10
urgent reports of two channels, one after another: batch=2 c=1:10,3:20 d=1.2:10,5:20 flush=2:c:20,4:d:20
    update=drop,ok => 0 recover c; 0 recover d; 3 update c20; 5 update d20; c20-20 of 20, d20-20 of 20;
    pending c20
reports at each interval, one that fails, and a close: interval=10 tick=2.5 c=1:10,2:19,3:20,6:25::close
    update=drop,ok => 0 recover c; 2.5 update c10; 5 update c20; 7.5 update c25; c25-25; pending nothing
a close starts no sync: c=1:10:1@1+2@1+3@1:close => 0 recover c; c10-0 1x3, 1 growing; pending c0
batches in turn, so many at a time, and those of a failed one apart: tick=3 interval=0 batch=2 parallel=2
    c=1:10,5:20,9:30 d=1.125:10,5.125:20,9:30 e=1.25:10,5.25:20,9:30 f=1.375:10,5.375:20,9:30
    g=1.5:10,5.5:20 update=ok,drop,1.5:ok,ok => 0 recover c; 0 recover d; 0 recover e; 0 recover f;
    0 recover g; 3 update c10 d10; 3 update e10 f10; 3 update g10; 7.5 update c20 d20; 7.5 update g20;
    7.5 update e20; 7.5 update f20; 10.5 update c30 d30; 10.5 update e30 f30; c30-30, d30-30, e30-30, f30-30,
    g20-20; pending nothing
the coordinator breaks at a report: tick=4 interval=0 c=1:10 update=broken => 0 recover c; 4 update c10;
    fails: RuntimeError; c10-10; pending c10; c10 in flight
memory is taken from the channel that holds most, its oldest segment: full=40 watermark=5 check=2
    c=1:10:1@2,1.5:20:11@1+12@1,3:30:21@1 d=1:10:1@3+2@3 => 0 recover c; 0 recover d; 4 put c/segment-2/30;
    4 save c6 2@30 1; c30-10 1x3, 2 growing, 1 growing, d10-0 3x2, 3 growing; pending c0, d0
the first channel and the smaller segment of equals: full=40 watermark=3 check=2 d=1:10:1@4+2@3
    c=1:10:1@2+2@1 => 0 recover d; 0 recover c; 2 put c/segment-1/10; 2 save c6 1@10 2; d10-0 4x1, 3x1, 4
    growing, 3 growing, c10-0 2x1, 2 growing, 1 growing; pending d0, c0
the last channel holds most: full=40 watermark=3 check=2 c=1:10:1@2 d=1:10:1@4+2@3+3@3 => 0 recover c; 0
    recover d; 2 put d/segment-3/10; 2 save d6 3@10 2+3; c10-0 2x1, 2 growing, d10-0 4x1, 4 growing, 3
    growing; pending c0, d0
a drop waits for the syncs, and is reported until that is heard: tick=4 interval=0
    c=1:10:1@1+2@1+3@1+4@2,2:20:11@1+12@3:drop put=1.5:ok,ok drop=drop,drop,ok => 0 recover c; 1 put
    c/segment-1/10; 2 put c/segment-2/20; 2 save c6 2@20 4 dropped; 2 put c/segment-3/20; 2 save c6 3@20 12
    dropped; 2.5 save c6 1@10 1+2+3; 2.5 put c/segment-1/20; 2.5 save c6 1@20 11 dropped; 2.5 drop c; 3.5
    drop c; 4.5 drop c; nothing; pending nothing
a drop while a report is under way: tick=1.5 interval=0 c=1:10,2:20::drop update=1.5:ok stop=4 => 0 recover
    c; 1.5 update c10; 2 drop c; nothing; pending nothing
the coordinator breaks at a recovery: recover=broken c=1:10 => 0 recover c; 0 recover: RuntimeError;
    nothing; pending nothing
the coordinator breaks at a drop: c=1:10::drop drop=broken => 0 recover c; 1 drop c; fails: RuntimeError;
    c10-10; pending nothing
an urgent report is merged with a later one, and sent after the round: tick=1.5 interval=20 c=1:10,2:15,3:40
    flush=1.75:c:12 update=3.5:ok,ok => 0 recover c; 1.5 update c10; 5 update c40; c40-40; pending nothing
a save that is refused is sent again after a pause: c=1:10:1@1+2@1+3@1 save=refused stop=1.5 => 0 recover c;
    1 put c/segment-1/10; 1 save c6 1@10 1+2+3; c10-0 1@10 uploaded, 1 growing; pending c0
"""


@pytest.mark.parametrize("case", re.split(r"\n(?=\S)", CASES.strip()))
async def test_a_node_does_what_it_must_when_it_must(case):
    what, _, wanted = " ".join(case.split()).partition(" => ")
    assert await played(what) == wanted
