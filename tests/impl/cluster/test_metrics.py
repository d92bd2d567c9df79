"""The metrics of a served cluster, as Prometheus asks for them, against what the clients did."""

import asyncio
import json
import urllib.request
from contextlib import suppress

from tidemark.impl.cluster.child import Child, cluster_command, spawn
from tidemark.impl.timestamp import split

KINDS = {
    "milvus_datanode_flush_buffer_op_count": "gauge",
    "milvus_datanode_flushed_data_size": "gauge",
    "milvus_datanode_flushed_data_rows": "gauge",
    "milvus_datanode_save_latency": "summary",
    "milvus_datanode_update_channel_checkpoint_count": "counter",
    "milvus_rootcoord_timestamp_saved": "gauge",
    "milvus_querynode_wait_processing_msg_count": "gauge",
}


def scraped(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        lines = answer.read().decode().splitlines()
    kinds = dict(line.split()[2:] for line in lines if line.startswith("# TYPE"))
    return kinds, {name: float(value) for name, value in (line.split() for line in lines if line[0] != "#")}


async def test_metrics_say_what_was_done(tmp_path):
    process = await spawn(*cluster_command(tmp_path / "c", "--metrics", "--proxies", "1"))
    try:
        ports = json.loads(await process.stdout.readline())
        child = Child(process, ports["port"], 0)
        user = await child.client(0)
        await user.create("c")
        await user.insert("c", dict.fromkeys(range(100), "v"))
        flushed = await user.flush("c")
        (object_,) = (tmp_path / "c").rglob("*.parquet")
        kinds, found = await asyncio.to_thread(scraped, ports["metrics"])
        assert kinds == KINDS
        node = '{node_id="data-node-1"}'
        assert found["milvus_datanode_flush_buffer_op_count" + node] == 1
        assert found["milvus_datanode_flushed_data_size" + node] == object_.stat().st_size
        assert found["milvus_datanode_flushed_data_rows" + node] == 100
        assert found["milvus_datanode_save_latency_count" + node] >= 1
        assert found["milvus_datanode_save_latency_sum" + node] > 0
        assert found["milvus_datanode_update_channel_checkpoint_count" + node] >= 1
        assert 0 <= found["milvus_rootcoord_timestamp_saved"] - split(flushed).physical / 1000 + 1 < 60
        waiting = {name for name in found if name.startswith("milvus_querynode_wait")}
        assert waiting == {
            f'milvus_querynode_wait_processing_msg_count{{node_id="query-node-{node}",msg_type="{kind}"}}'
            for node in (1, 2)
            for kind in ("insert", "delete")
        }
        await child.end()
    finally:
        with suppress(ProcessLookupError):
            process.kill()
