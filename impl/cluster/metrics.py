"""The metrics that the sources list, in Prometheus' text form (0.0.4), under Milvus' names where it has them.

They are read from the roles when somebody asks. What only time tells, calls and latencies, is read off the
lines of the log: no role counts for them. The rows, bytes and objects are those that are recorded now, so
that compaction and drops lower them; Milvus counts up.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from logging import Handler, LogRecord

from tidemark.impl.cluster.cluster import Cluster
from tidemark.impl.timestamp import NANOSECONDS, Timestamp
from tidemark.impl.types import SegmentId
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, is_level_zero

Samples = Mapping[str, float]
"""Labels -> value."""


class Heard(Handler):
    """Counts lines by message, and times sync tasks from the buffer that they take to their save.

    saves: number of them. seconds: all of them together.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: Counter[str] = Counter()
        self.saves, self.seconds = 0, 0.0
        self._began: dict[tuple[SegmentId, Timestamp], float] = {}

    def emit(self, record: LogRecord) -> None:
        """Take a line."""
        self.lines[record.msg] += 1
        match vars(record).get("fields"):
            case {"segmentID": segment, "position": position}:
                self._began[segment, position.ts] = record.created
            case {"segmentID": segment, "checkpoints": [saved]}:
                began = self._began.pop((segment, saved.dml_position.ts), record.created)
                self.saves += 1
                self.seconds += record.created - began


def metrics_of(cluster: Cluster, heard: Heard) -> str:
    """All metrics, a sample a line.

    Milvus: DataNodeFlushBufferCount, DataNodeFlushedSize, DataNodeFlushedRows, DataNodeSave2StorageLatency,
    RootCoordTimestampSaved, QueryNodeWaitProcessingMsgCount
    """
    return "".join(f"{line}\n" for line in _lines(cluster, heard))


def _lines(cluster: Cluster, heard: Heard) -> Iterator[str]:
    storage = cluster.storage
    node = f'node_id="{storage.node.node_id}"'
    records = storage.coordinator.segments.values()
    stored = [one for record in records for one in (*record.binlogs, *record.compaction.deltas)]
    kept = [one for record in records if not is_level_zero(record.segment_id) for one in record.binlogs]
    rows = sum(len(binlog.row_positions) for binlog in kept)
    size = sum(storage.store.file_of(binlog.path).stat().st_size for binlog in stored)
    yield from _samples("datanode_flush_buffer_op_count", "objects recorded", {node: len(stored)})
    yield from _samples("datanode_flushed_data_size", "bytes of these objects", {node: size})
    yield from _samples("datanode_flushed_data_rows", "rows recorded", {node: rows})
    latency = {f"_sum{{{node}}}": heard.seconds * 1000, f"_count{{{node}}}": heard.saves}
    yield from _samples("datanode_save_latency", "ms from a buffer to its save", latency, kind="summary")
    calls = {node: heard.lines["UpdateChannelCheckpoint success"]}
    yield from _samples("datanode_update_channel_checkpoint_count", "answers", calls, kind="counter")
    saved = cluster.foundation.window / NANOSECONDS // 1000
    yield from _samples("rootcoord_timestamp_saved", "end of the saved window in s", {"": saved})
    yield from _samples("querynode_wait_processing_msg_count", "messages of packs", _waiting(cluster))


def _waiting(cluster: Cluster) -> Samples:
    """Messages that a node has and has not applied, by type."""
    return {
        f'node_id="{node.node_id}",msg_type="{kind}"': sum(
            isinstance(message, sort) for pipeline in node.pipelines.values() for message in pipeline.waiting
        )
        for node in cluster.replicas.nodes.values()
        for kind, sort in (("insert", InsertMessage), ("delete", DeleteMessage))
    }


def _samples(name: str, what: str, values: Samples, *, kind: str = "gauge") -> Iterator[str]:
    yield f"# HELP milvus_{name} {what}"
    yield f"# TYPE milvus_{name} {kind}"
    for labels, value in values.items():
        end = labels if labels.startswith("_") else f"{{{labels}}}" * bool(labels)
        yield f"milvus_{name}{end} {value:.17g}"
