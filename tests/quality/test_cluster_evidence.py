"""What the embedded cluster leaves behind is judged like that of a real server, and a planted fault is found.

Each fault is one wrong function of the implementation; the cluster runs on real files and is restarted in
good order with the right one.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.impl.cluster.parts import play, running, until
from tidemark.checks.evidence.command import Options, read_and_judge
from tidemark.impl.broker.channel_log import ChannelLog
from tidemark.impl.client.client import Client
from tidemark.impl.client.history import History
from tidemark.impl.cluster.cluster import Cluster
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.leave import leave_messages
from tidemark.impl.cluster.server import LocalConnection
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.errors import LateRowError
from tidemark.impl.proxy.ticker import ChannelsTimeTicker
from tidemark.impl.values.consistency import ConsistencyLevel

CONFIG = ClusterConfig(tick_seconds=0.01, channels=1, checkpoint_ts=0)
"""Large buffers: rows stay in memory. A checkpoint is reported at each tick."""


@dataclass
class Evidence:
    """The folder, and a client in each process."""

    folder: Path
    clients: int = 0

    def client(self, cluster: Cluster) -> Client:
        self.clients += 1
        name = f"client {self.clients}"
        history = History(self.folder / "clients.jsonl", client=name, process=name)
        return Client(LocalConnection(cluster.gateways[0]), history=history)

    async def judge(self, root: Path) -> list[str]:
        """The claims that are refuted."""
        await leave_messages(root, self.folder / "messages.jsonl", config=CONFIG)
        _, found = read_and_judge([self.folder], Options())
        assert found.problems == []
        judged = {answer.property_id for answer in found.answers if answer.events}
        assert {"timetick.watermark_promise", "history.strong", "history.written"} <= judged
        return sorted(answer.property_id for answer in found.answers if answer.breaches)


async def two_lives(root: Path, evidence: Evidence, patch: pytest.MonkeyPatch | None) -> None:
    """Rows, an end without a flush, then a strong read. With ``patch`` the checkpoint of the first process is
    the end of the last pack, whatever is not stored yet.
    """
    if patch is not None:
        patch.setattr(WriteBuffer, "get_checkpoint", lambda buffer: buffer.consumed)
    async with running(root, CONFIG) as cluster:
        user = evidence.client(cluster)
        await user.create("c")
        await user.insert("c", dict.fromkeys(range(5), "v"))
        last = await user.delete("c", [1])
        found = await user.query("c", level=ConsistencyLevel.STRONG)
        assert set(found.rows) == {0, 2, 3, 4}
        [channel] = cluster.catalog.get("c").channels
        if patch is not None:
            await until(lambda: cluster.storage.coordinator.channel(channel).checkpoint >= last)
            patch.undo()
    async with running(root, CONFIG) as cluster:
        await evidence.client(cluster).query("c", level=ConsistencyLevel.STRONG)


@pytest.mark.parametrize(
    ("patched", "refuted"),
    [(False, []), (True, ["history.kept", "history.strong"])],
    ids=["as it is", "checkpoint past rows that are not stored"],
)
def test_a_checkpoint_past_unsynced_rows_is_found(tmp_path, monkeypatch, patched, refuted):
    evidence = Evidence(tmp_path / "evidence")
    evidence.folder.mkdir()

    async def scenario():
        await two_lives(tmp_path / "cluster", evidence, monkeypatch if patched else None)
        assert await evidence.judge(tmp_path / "cluster") == refuted

    play(scenario)


def test_a_tick_that_does_not_wait_for_a_message_is_found(tmp_path, monkeypatch):
    """The log is slow, so that a tick can overtake. The data node finds it as well, and stops."""
    evidence = Evidence(tmp_path / "evidence")
    evidence.folder.mkdir()
    append = ChannelLog.append

    async def late(self, source, message):
        if source > 0:
            await asyncio.sleep(0.06)
        return await append(self, source, message)

    async def scenario():
        monkeypatch.setattr(ChannelLog, "append", late)
        # A proxy reports the present time, whatever is unfinished.
        publish = ChannelsTimeTicker._publish
        monkeypatch.setattr(
            ChannelsTimeTicker, "_publish", lambda ticker, now, snapshot: publish(ticker, now, {})
        )
        cluster = Cluster(tmp_path / "cluster", config=CONFIG)
        await cluster.start()
        user = evidence.client(cluster)
        await user.create("c")
        await user.query("c", level=ConsistencyLevel.STRONG)
        await user.insert("c", {1: "v"})
        with pytest.raises(LateRowError, match="behind the tick"):
            await cluster.wait_failed()
        await cluster.stop()
        assert await evidence.judge(tmp_path / "cluster") == ["timetick.watermark_promise"]

    play(scenario)
