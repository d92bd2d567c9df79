"""Mutants of proxy and query node: requests and results, further pages, and searches."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.queries.pages import BY_KEY, PAGED, pages
from tidemark.models.protocols.queries.program import queries
from tidemark.models.protocols.queries.refused import ENDS, IN_VAIN, refused
from tidemark.models.protocols.queries.searches import SEARCHED, search

DEADLINE = Host("queries-impl-deadline", queries)
RELEASE = Host("queries-impl-release", queries)
PAGES = Host("queries-impl-pages", pages)
ITERATOR = Host("queries-impl-pages-by-key", pages)
SEARCH = Host("queries-impl-search", search)

REQUESTS = "queries/requests.py:"
STREAMS = "queries/streams.py:QueryStreams."
CHANNELS = "queries/channels.py:"
SERVE = "queries/reads.py:NodeFollower._serve"
CUT = "proxy/pages.py:Page.cut"
REDUCE = "proxy/reads.py:ReadPath._reduce"

MAP = "seed 004, 6.6.1"
RESULTS = "seed 004, 6.6.1: results of searches"
PAGED_BY_KEY = "facts 6.2: iterators"

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
        killer="refinement",
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
        "a-release-tells-requests-nothing",
        at=REQUESTS + "ChannelReader.release",
        old="self.collector.end(collection)",
        new="pass",
        killer="refinement",
        on=RELEASE,
        source="seed 004, 6.4",
        says="Requests that wait are left to their deadlines.",
    ),
    Patch(
        "writers-are-not-counted",
        at=STREAMS + "hold",
        old="self.count(stream, number)",
        new="pass",
        killer="refinement",
        on=RELEASE,
        source="seed 004, 6.6.2",
        tier="full",
        says="A request that has the stream is not counted.",
    ),
    Patch(
        "fetches-go-on-after-a-release",
        at="queries/replica.py:CollectionReplica.release",
        old="self.stop_loads()",
        new="pass",
        killer="refinement",
        on=Host("queries-impl-load", queries),
        source="seed 004, 6.4",
        says="A node that is told of a release drops its rows, and goes on to load.",
    ),
    # Refusals.
    Patch(
        "a-node-leaves-without-a-word",
        at=CHANNELS + "QueryChannels.unsubscribe",
        old="sorted(reader.owed)",
        new="()",
        killer=ENDS,
        on=Host("queries-impl-refused-leaves", refused),
        source="seed 004, 6.0: service discovery",
        says="What a node owes when it leaves is not refused: the request waits for it.",
    ),
    Patch(
        "the-first-refusal-counts",
        at=REQUESTS + "ResultCollector.ask",
        old="query.asked = nodes",
        new="query.asked = nodes and ()",
        killer=IN_VAIN,
        on=Host("queries-impl-refused-parts", refused),
        source=MAP,
        says="A request ends with the first refusal: what the other node has is not waited for.",
    ),
    Patch(
        "who-reads-now-is-waited-for",
        at=CHANNELS + "RequestWriter.write",
        old="return tuple(self._requests.readers)",
        new="return self._requests.readers.keys()",
        killer=ENDS,
        on=Host("queries-impl-refused-comes", refused),
        source=MAP,
        says="A request waits for every node that reads when a refusal comes, also for one that came later.",
    ),
    # Further pages.
    Patch(
        "a-further-page-shows-the-greatest-moment",
        at="queries/reads.py:ChannelReads._answers",
        old="task.moments",
        new="dict.fromkeys(task.moments, task.guarantee)",
        killer=PAGED,
        on=PAGES,
        source="B40",
        says="A further page names on every shard the greatest moment of the first one.",
    ),
    Patch(
        "a-node-forgets-the-moment",
        at=SERVE,
        old="mvcc=moment",
        new="mvcc=None",
        killer=PAGED,
        on=PAGES,
        source="B40",
        says="A query node lets a further page wait for its moment, and answers at its service time.",
    ),
    Patch(
        "a-node-takes-the-greatest-moment",
        at=SERVE,
        old="moment = asked.moments.get(channel)",
        new="moment = max(asked.moments.values(), default=None)",
        killer=PAGED,
        on=PAGES,
        source="B40",
        says="A query node takes the greatest of the moments that a request names for each of its shards.",
    ),
    Patch(
        "a-page-repeats-the-last-key",
        at=CUT,
        old="row[0] > self.after",
        new="row[0] >= self.after",
        killer=BY_KEY,
        on=ITERATOR,
        source=PAGED_BY_KEY,
        says="A further page begins at the last key of the page before, which is shown again.",
    ),
    Patch(
        "a-page-ends-within-a-key",
        at=CUT,
        old="in keys)",
        new="in keys)[: self.limit]",
        killer=BY_KEY,
        on=ITERATOR,
        source=PAGED_BY_KEY,
        says="The limit of a page counts rows: the other rows of its last key are on no page.",
    ),
    # Searches.
    Patch(
        "the-answers-of-shards-are-not-cut",
        at=REDUCE,
        old="task.nearest.cut(rows)",
        new="tuple(rows)",
        killer=SEARCHED,
        on=SEARCH,
        source=RESULTS,
        says="What the shards have found is handed on one after the other.",
    ),
    Patch(
        "the-first-shard-is-enough",
        at=REDUCE,
        old="for answer in answers.values() for",
        new="for answer in list(answers.values())[:1] for",
        killer=SEARCHED,
        on=Host("queries-impl-search-all", search),
        source=RESULTS,
        says="Only what the first shard has found counts.",
    ),
    Patch(
        "the-earliest-rows-are-kept",
        at=REDUCE,
        old="task.nearest.cut(rows)",
        new="tuple(sorted(rows, key=lambda row: row.ts))[: task.nearest.limit]",
        killer=SEARCHED,
        on=SEARCH,
        source=RESULTS,
        says="The rows are put in the order of time, as those of a query, and then cut.",
    ),
)
