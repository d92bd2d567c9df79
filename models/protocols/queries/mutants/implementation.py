"""Mutants of proxy and query node: requests and their results."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.queries.program import queries

DEADLINE = Host("queries-impl-deadline", queries)
RELEASE = Host("queries-impl-release", queries)

REQUESTS = "queries/requests.py:"
STREAMS = "queries/streams.py:QueryStreams."

MAP = "seed 004, 6.6.1"

MUTANTS = patches(
    __name__,
    # Requests, and the streams to which they are written.
    Patch(
        "a-request-that-is-late-stays-in-the-map",
        at=REQUESTS + "ResultCollector.leave",
        old="self.pending.pop(number, None)",
        new="pass",
        killer="queries.nothing_is_kept_of_what_is_over",
        on=DEADLINE,
        source=MAP,
        says="A request that has run out of time is not taken out of the map.",
    ),
    Patch(
        "numbers-are-not-compared",
        at=REQUESTS + "ChannelReader.follow",
        old="self.collector.take(await results.next_result())",
        new="result = await results.next_result()\n"
        "            for number in list(self.collector.pending):\n"
        "                self.collector.take(QueryResult(number, result.shards))",
        killer="queries.results_reach_their_own_request",
        on=DEADLINE,
        source=MAP,
        says="A result is handed to every request that waits.",
    ),
    Patch(
        "entered-after-the-write",
        at=REQUESTS + "ChannelReader._write",
        old="self.collector.enter(request.number, query)\n"
        "            assert stream.writer is not None\n"
        "            nodes = await stream.writer.write(request)",
        new="nodes = await stream.writer.write(request)\n"
        "            self.collector.enter(request.number, query)",
        killer="queries.no_result_comes_too_early",
        on=DEADLINE,
        source=MAP,
        says="A request is entered in the map when its write returns.",
    ),
    Patch(
        "writers-are-forgotten",
        at=STREAMS + "remove",
        old="self.removed.append(stream)",
        new="stream.writers.clear()\n        self.removed.append(stream)",
        on=RELEASE,
        source="seed 004, 6.6.2",
        says="A removed stream forgets who writes to it.",
    ),
    Patch(
        "a-stream-is-opened-after-the-release",
        at=STREAMS + "remove",
        old="stream.phase is StreamPhase.NEW",
        new="stream.phase is not StreamPhase.OPEN",
        killer="queries.nothing_is_held_after_a_release",
        on=RELEASE,
        source="seed 004, 6.4",
        says="A release leaves alone what is not open yet.",
    ),
    Patch(
        "a-late-request-stays",
        at="queries/requests.py:ResultCollector.leave",
        old="self.pending.pop(number, None)",
        new="pass",
        walked=Host("queries-driven", queries),
        source="seed 004, 6.6.1",
        says="A request that has run out of time stays in the map of those that wait.",
    ),
)

CHANNELS = "queries/channels.py:"

SERVE = "queries/reads.py:NodeFollower._serve"

SLIPS = patches(
    __name__,
    Patch(
        "a-node-leaves-without-a-word",
        at=CHANNELS + "QueryChannels.unsubscribe",
        old="sorted(reader.owed)",
        new="()",
        source="seed 004, 6.0: service discovery",
        says="What a node owes when it leaves is not refused: the request waits for it.",
    ),
    Patch(
        "the-first-refusal-counts",
        at=REQUESTS + "ResultCollector.ask",
        old="query.asked = nodes",
        new="query.asked = nodes and ()",
        source=MAP,
        says="A request ends with the first refusal: what the other node has is not waited for.",
    ),
    Patch(
        "who-reads-now-is-waited-for",
        at=CHANNELS + "RequestWriter.write",
        old="return tuple(self._requests.readers)",
        new="return self._requests.readers.keys()",
        source=MAP,
        says="A request waits for every node that reads when a refusal comes, also for one that came later.",
    ),
    Patch(
        "a-further-page-shows-the-greatest-moment",
        at="queries/reads.py:ChannelReads._answers",
        old="task.moments",
        new="dict.fromkeys(task.moments, task.guarantee)",
        source="B40",
        says="A further page names on every shard the greatest moment of the first one.",
    ),
    Patch(
        "a-node-forgets-the-moment",
        at=SERVE,
        old="mvcc=moment",
        new="mvcc=None",
        source="B40",
        says="A query node lets a further page wait for its moment, and answers at its service time.",
    ),
    Patch(
        "a-node-takes-the-greatest-moment",
        at=SERVE,
        old="moment = asked.moments.get(channel)",
        new="moment = max(asked.moments.values(), default=None)",
        source="B40",
        says="A query node takes the greatest of the moments that a request names for each of its shards.",
    ),
)
