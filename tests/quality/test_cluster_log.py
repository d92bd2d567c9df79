"""The log of a cluster, in Milvus' form, is judged as that of a Milvus; planted faults are found in it."""

import asyncio
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.impl.cluster.parts import client, play, running, until
from tidemark.checks.evidence.command import Options, read_and_judge
from tidemark.checks.evidence.table.files import find
from tidemark.checks.evidence.understood import Understood
from tidemark.impl.cluster.child import child_cluster
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.lines import heard_by, lines_into
from tidemark.impl.cluster.metrics import Heard
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datanode.buffer_manager import BufferManager
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.logs import ROLES
from tidemark.impl.querynode.pipeline import ShardPipeline
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.stream.packs import StreamPack
from tidemark.impl.tso.oracle import TimestampOracle
from tidemark.impl.types import EndPosition
from tidemark.impl.values.consistency import ConsistencyLevel

CONFIG = ClusterConfig(tick_seconds=0.01, channels=1, proxies=1, query_nodes=1, checkpoint_ts=0)
"""A checkpoint is reported at each tick."""
ROLES_HEARD = {"cluster", "datacoord", "datanode", "querynode", "rootcoord", "tso"}
HELD = {
    "tso.restart_never_reissues", "timetick.watermark_promise", "flush.flushed_is_complete",
    "flush.checkpoint_before_earliest_unsynced", "flush.stored_never_goes_back",
    "flush.an_answer_to_the_owner_means_stored", "flush.reset_only_by_greater_checkpoint",
    "flush.recovery_begins_at_the_checkpoint", "flush.flushed_is_final", "flush.confirmed_means_durable",
    "reads.service_time_never_goes_back",
}  # fmt: skip
"""What these lines decide."""


def judged(log: Path) -> tuple[set[str], set[str]]:
    """The claims about which something was compared, and the refuted ones."""
    _, found = read_and_judge([log], Options())
    assert found.problems == []
    assert [(one.monitor, one.left_out) for one in found.answers if one.left_out or one.unsure] == []
    compared = {one.property_id for one in found.answers if one.events}
    return compared, {one.property_id for one in found.answers if one.broken}


async def two_lives(root: Path, log: Path) -> None:
    """Of two processes the first one is killed with a row that is not stored."""
    for turn in range(2):
        async with child_cluster(root, "--log", str(log), "--query-nodes", "1") as child:
            user = await child.client(turn)
            if turn == 0:
                await user.create("c", shards=2)
            for key in range(turn * 10, turn * 10 + 4):
                await user.insert("c", {key: "v"})
            await user.delete("c", [turn * 10])
            await user.flush("c")
            await user.insert("c", {turn * 10 + 9: "not stored"})
            found = await user.query("c", level=ConsistencyLevel.STRONG)
            assert {key % 10 for key in found.rows} == {1, 2, 3, 9}
            await (child.end() if turn else child.kill())


def test_the_log_of_a_sound_cluster_holds(tmp_path):
    log = tmp_path / "cluster.log"
    play(lambda: two_lives(tmp_path / "c", log))
    assert judged(log) == (HELD, set())
    understood = Understood(find([log]))
    assert next(understood.lines()).endswith("have a rule (100.0 %)")
    assert understood.ruled.keys() == ROLES_HEARD
    head = r"\[\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3} \+00:00\] \[(INFO|DEBUG)\] \[\w+/\w+\.py:\d+\] \["
    text = log.read_text()
    assert all(re.match(head, line) for line in text.splitlines())
    fetched = re.findall(r"insertRowNum=(\d+)\] \[timestampMin=(\d+)\] \[timestampMax=(\d+)", text)
    assert fetched
    assert all((rows, least) == ("1", greatest) for rows, least, greatest in fetched)


def late(patch: pytest.MonkeyPatch) -> None:
    """Objects are stored slowly, so that reports come before them."""
    put = ParquetStore.put

    async def slowly(store: ParquetStore, *given: Any) -> None:
        await asyncio.sleep(0.1)
        await put(store, *given)

    patch.setattr(ParquetStore, "put", slowly)


def reset_early(patch: pytest.MonkeyPatch) -> None:
    late(patch)
    honest = BufferManager.notify_checkpoint_updated
    patch.setattr(
        BufferManager,
        "notify_checkpoint_updated",
        lambda manager, call: honest(manager, replace(call, position=EndPosition(1 << 62))),
    )


def told_early(patch: pytest.MonkeyPatch) -> None:
    late(patch)
    patch.setattr(Coordinator, "get_flush_state", lambda *_given: True)


def not_stored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Coordinator, "_accepts", lambda *_given: False)


def passed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(WriteBuffer, "get_checkpoint", lambda buffer: buffer.consumed)


def not_ahead(patch: pytest.MonkeyPatch) -> None:
    honest = TimestampOracle._save_window
    patch.setattr(TimestampOracle, "_save_window", lambda o, physical: honest(o, physical - 10**9))


def sought_beyond(patch: pytest.MonkeyPatch) -> None:
    honest = Coordinator.seek_position
    patch.setattr(
        Coordinator, "seek_position", lambda *given: EndPosition(honest(*given).ts + (60_000 << 18))
    )


def back(patch: pytest.MonkeyPatch) -> None:
    """Each third pack of a query node ends earlier than it does."""
    honest, count = ShardPipeline.process, iter(range(1 << 20))

    async def process(line: ShardPipeline, pack: StreamPack) -> None:
        earlier = (100 << 18) * (next(count) % 3 == 2)
        await honest(line, replace(pack, finish=replace(pack.finish, ts=pack.end - earlier)))

    patch.setattr(ShardPipeline, "process", process)


@pytest.mark.parametrize(
    ("plant", "refuted"),
    [
        (reset_early, "flush.reset_only_by_greater_checkpoint"),
        (told_early, "flush.confirmed_means_durable"),
        (not_stored, "flush.an_answer_to_the_owner_means_stored"),
        (passed, "flush.checkpoint_before_earliest_unsynced flush.confirmed_means_durable"),
        (not_ahead, "tso.restart_never_reissues"),
        (sought_beyond, "flush.recovery_begins_at_the_checkpoint"),
        (back, "reads.service_time_never_goes_back"),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_a_planted_fault_is_found_in_the_log(tmp_path, monkeypatch, plant, refuted):
    """The fault is there from the start, that of recovery in the second process."""
    log, heard = tmp_path / "cluster.log", Heard()
    answer = "UpdateChannelCheckpoint success"

    async def first() -> None:
        async with running(tmp_path / "c", CONFIG) as cluster:
            user = client(cluster, 0)
            await user.create("c")
            await user.insert("c", {1: "v"})
            with suppress(TimeoutError):
                await asyncio.wait_for(user.flush("c"), timeout=1.0)
            await user.insert("c", {2: "not stored"})
            answers = heard.lines[answer]
            await until(lambda: heard.lines[answer] > answers + 5)

    async def second() -> None:
        plant(monkeypatch)
        async with running(tmp_path / "c", CONFIG):
            pass

    with heard_by(lines_into(log), heard):
        if plant is not sought_beyond:
            plant(monkeypatch)
        play(first)
        if plant is sought_beyond:
            play(second)
    assert judged(log)[1] == {*refuted.split()}
    assert not ROLES.handlers
