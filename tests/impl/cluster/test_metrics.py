"""Lines of a cluster's log, and the metrics of a served one against what the client did."""

import asyncio
import json
import logging
import urllib.request
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from tidemark.impl.cluster.child import Child, cluster_command, spawn
from tidemark.impl.cluster.lines import MilvusForm
from tidemark.impl.cluster.metrics import _waiting
from tidemark.impl.timestamp import split
from tidemark.impl.types import BinlogRecord, EndPosition, SegmentRecord
from tidemark.impl.values.messages import DeleteMessage, InsertMessage


def test_a_line_has_milvus_form():
    def line(level, message, **fields):
        record = logging.LogRecord("x", level, "/a/impl/tso/oracle.py", 7, message, None, None)
        record.fields = fields
        return MilvusForm(SimpleNamespace(now=lambda: 1_714_557_600_012_999_999)).format(record)

    head = "[2024/05/01 10:00:00.012 +00:00]"
    found = line(logging.WARNING, "a b", last=0, flag=True, names=["a", "b"], text='x"=', at=EndPosition(5))
    assert found == (
        f'{head} [WARN] [tso/oracle.py:7] ["a b"] [last=1970/01/01 00:00:00.000 +00:00] [flag=true]'
        ' [names="[a,b]"] [text="x\\"="] [at=timestamp:5]'
    )
    for number, rows in ((2, 3), (-2, 0)):
        binlogs = (BinlogRecord("x", (1, 2)), BinlogRecord("y", (4,)))
        segment = SegmentRecord(number, "c", EndPosition(9), binlogs=binlogs)
        found = line(logging.INFO, "m", checkpoints=[segment])
        value = json.loads(json.loads(found.partition("[checkpoints=")[2][:-1]))
        position = {"channel_name": "c", "timestamp": 9}
        assert value == [{"segmentID": number, "position": position, "num_of_rows": rows}]


def test_what_waits_at_a_query_node_is_counted_by_type():
    waiting = [InsertMessage(1, "c", ()), InsertMessage(2, "c", ()), DeleteMessage(3, "c", -1, (1,))]
    node = SimpleNamespace(node_id="n", pipelines={"c": SimpleNamespace(waiting=waiting)})
    cluster: Any = SimpleNamespace(replicas=SimpleNamespace(nodes={0: node}))
    assert _waiting(cluster) == {'node_id="n",msg_type="insert"': 2, 'node_id="n",msg_type="delete"': 1}


def scraped(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        lines = answer.read().decode().replace('{node_id="data-node-1"}', "").splitlines()
    kinds = {line.split()[2].removeprefix("milvus_"): line.split()[3] for line in lines if "# TYPE" in line}
    return kinds, {line.split()[0][7:]: float(line.split()[1]) for line in lines if line[0] != "#"}


async def test_metrics_say_what_was_done(tmp_path):
    process: Any = await spawn(*cluster_command(tmp_path / "c", "--metrics", "--query-nodes", "1"))
    try:
        ports = json.loads(await process.stdout.readline())
        child = Child(process, ports["port"], 0)
        user = await child.client(0)
        await user.create("c")
        await user.insert("c", dict.fromkeys(range(100), "v"))
        flushed = await user.flush("c")
        kinds, found = await asyncio.to_thread(scraped, ports["metrics"])
        await child.end()
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    (stored,) = (tmp_path / "c").rglob("*.parquet")
    assert found.pop("datanode_flush_buffer_op_count") == 1
    assert found.pop("datanode_flushed_data_size") == stored.stat().st_size
    assert found.pop("datanode_flushed_data_rows") == 100
    assert found.pop("datanode_save_latency_count") >= 1
    assert 0 < found.pop("datanode_save_latency_sum") < 60_000
    assert found.pop("datanode_update_channel_checkpoint_count") >= 1
    assert -1 <= found.pop("rootcoord_timestamp_saved") - split(flushed).physical / 1000 < 60
    waiting = 'querynode_wait_processing_msg_count{node_id="query-node-1",msg_type="%s"}'
    assert found == {waiting % "insert": 0, waiting % "delete": 0}
    assert kinds.pop("datanode_save_latency") == "summary"
    assert kinds.pop("datanode_update_channel_checkpoint_count") == "counter"
    assert [*kinds.values()] == ["gauge"] * 5
