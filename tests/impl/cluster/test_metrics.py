"""The metrics of a served cluster, as Prometheus asks for them, against what the client did."""

import asyncio
import json
import urllib.request
from contextlib import suppress

from tidemark.impl.cluster.child import Child, cluster_command, spawn
from tidemark.impl.timestamp import split


def scraped(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        lines = answer.read().decode().replace('{node_id="data-node-1"}', "").splitlines()
    kinds = {line.split()[2].removeprefix("milvus_"): line.split()[3] for line in lines if "# TYPE" in line}
    return kinds, {line.split()[0][7:]: float(line.split()[1]) for line in lines if line[0] != "#"}


async def test_metrics_say_what_was_done(tmp_path):
    process = await spawn(*cluster_command(tmp_path / "c", "--metrics", "--query-nodes", "1"))
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
