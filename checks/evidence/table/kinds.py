"""The kinds of event, with what their columns mean. A reader makes no other kinds; a test sees to it."""

KINDS: dict[str, str] = {
    # log lines
    "symptom": "a line that people report: text = name of the symptom, channel",
    "server.start": "a process starts",
    "server.exit": "a process says that it ends",
    "session.put": "a process writes its session: key = store key, node = server id, text = version",
    "session.add": "the root coordinator learns a proxy: node = server id",
    "session.remove": "it forgets one: node = server id",
    "report.refused": "it refuses a report: node = server id",
    "tick.back": "a round would go back: ts2 = before, ts = now, node = source id",
    "tso.init": "an allocator starts: seq = saved end found, ts = first object, ts2 = end saved",
    "tso.lag": "the clock is ahead of the published object: ts2 = object, ts = clock",
    "task.insert": "an insert task has its timestamp: ts",
    "task.pop": "a task leaves the proxy's queue: ts",
    "read.query": "a query node got a read: ts2 = guarantee, ts = snapshot (0 if none)",
    "fetch.insert": "a query node fetched rows: segment, rows, ts = least, ts2 = greatest timestamp",
    "fetch.delete": "a query node fetched deletes: rows, ts, ts2, key = collection",
    "tsafe.start": "a channel's service time begins: channel, ts",
    "tsafe.next": "deletes of a pack are applied: channel, ts = service time about to be set, key = replica",
    "segment.buffer": "rows of a segment are buffered: segment, channel, rows",
    "segment.add": "a data node learns a segment: segment, channel, text = New, Normal, Flushed; ts "
    "= recover ts",
    "segment.state": "the coordinator moves a segment: segment, text = state",
    "segment.saved": "the coordinator has stored what it received: segment",
    "segment.flushed": "the coordinator has completed a flush: segment",
    "segment.compacted": "compaction has replaced a segment: segment",
    "flush.order": "a flush seals a segment: key = collection, segment, ts = flushTs",
    "flush.deliver": "a data node got a flush: channel, ts = flushTs",
    "flush.reset": "a data node forgets a flush, which has ended: channel",
    "flush.state": "a flush was asked after: key = collection, ts = flushTs, text = open or done, "
    "rows = open ones",
    "sync.start": "a sync task takes a segment's buffer: segment, channel, ts = end position, text = "
    "flush or part",
    "save.receive": "the coordinator got binlogs: segment, channel, ts = end position, rows = all "
    "rows so far, text = flush or part, value = segments and positions",
    "checkpoint.store": "the coordinator stores a channel checkpoint: channel, ts",
    "checkpoint.answer": "a data node's checkpoint request was answered: channel, ts",
    "seek.checkpoint": "recovery begins at the stored checkpoint: channel, ts",
    "seek.other": "recovery begins elsewhere: channel, ts, text = where",
    "seek.pipeline": "a query node's pipeline begins: channel, ts",
    "wal.append": "a streaming node appended a message: channel, seq = term, ts, key = message id, text = "
    "type",
    "wal.checkpoint": "recovery storage has stored how far a channel is read: channel, seq = term, ts, key = "
    "message id",
    # store history
    "etcd.window": "the oracle saves a window: ts = saved end",
    "etcd.allocator": "an id allocator saves a window: key, ts = saved end",
    "etcd.checkpoint": "a channel checkpoint is stored: channel, ts, msg_id",
    "etcd.segment": "a segment's record: segment, channel, text = state, rows, ts = end position, "
    "ts2 = start position",
    "etcd.binlog": "a binlog record: segment, key = field, rows = entries, ts, ts2 = least and "
    "greatest timestamp, text = insert, delta or stats, value = files",
    "etcd.session": "a session appears: key, node = server id, seq = lease, text = version",
    "etcd.session_end": "a session is removed: key",
    "etcd.ddl": "a schema change: key, ts",
    "etcd.watch": "a channel's owner: channel, node",
    "etcd.collection": "the root coordinator's record of a collection: text = state, ts = its creation, "
    "value = its channels",
    "etcd.mark": "the data coordinator's mark of a channel: channel, text = non-removed or removed",
    "etcd.vchannel": "a channel that a streaming node recovers: channel, text = state, ts = its last change",
    "etcd.consumed": "where recovery of a log begins: channel, ts",
    "etcd.pchannel": "to which streaming node a log is given: channel, node, seq = term, text = state",
    "etcd.snapshot": "the end of a dump: line = its revision, rows = keys",
    "etcd.other": "anything else: key",
    # broker
    "broker.tick": "a time tick: channel, msg_id, ts, node = source",
    "broker.insert": "rows: channel, msg_id, ts, rows, segment, key = shard, node = source",
    "broker.delete": "deletes: channel, msg_id, ts, rows, key = shard, node = source",
    "broker.ddl": "another message: channel, msg_id, ts, text = type, node = source",
    # clients
    "op.insert": "a client inserted: key = client, node = process, channel = collection, seq, ts = "
    "answer's, value",
    "op.upsert": "a client upserted",
    "op.delete": "a client deleted",
    "op.query": "a client read keys: level, ts2 = guarantee, value = start, end, outcome, keys, seen",
    "op.count": "a client counted: level, rows = count",
    "op.flush": "a client flushed",
    "op.other": "another client operation: text",
    # traces
    "trace.begin": "a trace names its protocol: text, value = who is who",
    "trace.step": "a step of a program: node, seq, text = action, channel, ts, value = arguments and "
    "what was seen",
    "trace.dropped": "the writer lost steps: node, rows = how many",
}
"""Kind -> what its columns hold."""
