"""Slips in a proxy's workers, gateway, pages and writes."""

from __future__ import annotations

from tidemark.models.mutation.patches import Patch, patches

WORKERS = patches(
    __name__,
    Patch(
        "a-write-ends-with-its-first-refusal",
        at="proxy/scheduler.py:TaskScheduler.execute",
        old="await asyncio.gather(*produces)",
        new="""for produce in produces:
            await produce
            if AppendOutcome.REFUSED in task.outcomes.values():
                break""",
        source="facts 3.1",
        says="A client is answered when one log has refused, while others may still take the rows.",
    ),
)

GATEWAY = patches(
    __name__,
    Patch(
        "reads-wait-for-changes",
        at="proxy/gateway.py:Gateway._call",
        old="submit(task, kind)",
        new="submit(task, QueueKind.DDL)",
        source="seed 004, 6.6.1: three queues",
        says="Reads are tasks of the queue of changes.",
    ),
    Patch(
        "keys-run-on-behind-a-batch",
        at="proxy/gateway.py:Gateway.insert_values",
        old="range(first, last + 1) for first, last in await ids.take(len(values))",
        new="range(first, first + len(values)) for first, _ in (await ids.take(len(values)))[:1]",
        source="seed 004, 6.0",
        says="Rows get the ids that follow the first one, whoever has those.",
    ),
    Patch(
        "pages-are-cut-by-keys-as-text",
        at="proxy/pages.py:Page.cut",
        old="sorted(dict(rest))",
        new="sorted(dict(rest), key=str)",
        source="facts 6.2",
        says="A page has the first keys in the order of texts: 10 comes before 2.",
    ),
    Patch(
        "a-page-ends-within-a-key",
        at="proxy/pages.py:Page.cut",
        old="in keys)",
        new="in keys)[: self.limit]",
        source="facts 6.2: iterators",
        says="The limit of a page counts rows: the other rows of its last key are on no page.",
    ),
    Patch(
        "a-page-after-zero-is-the-first",
        at="proxy/pages.py:Page.cut",
        old="self.after is None",
        new="not self.after",
        source="facts 6.2",
        says="The key 0 counts as none.",
    ),
    Patch(
        "a-key-goes-elsewhere-with-another-release",
        at="proxy/writes.py:shard_of",
        old='zlib.crc32(key.to_bytes(8, "little", signed=True))',
        new="key",
        source="seed 004, 6.3",
        says="The shard is the key modulo the number of shards: deletes miss the rows that lie elsewhere.",
    ),
    Patch(
        "a-task-is-not-looked-at-again",
        at="proxy/writes.py:WriteTask.prepare",
        old="if self.known is None or self.metadata is None:",
        new="if True:",
        source="hazard 37",
        says="A collection that has changed before the timestamp is written by its old schema.",
    ),
    Patch(
        "a-message-is-made-whenever-it-is-sent",
        at="proxy/writes.py:WriteTask.message",
        old="if channel not in self.made:",
        new="if True:",
        source="hazard 12",
        says="A message that is settled has another segment than the one that was sent.",
    ),
)
