"""Lemmas and ranks: why answers are complete and no state is left over.

A load ends in runs in which query nodes crash finitely often: one that always crashes when it has fetched the
rows serves no shard.
"""

from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    all_of,
    each,
    exists,
    forall,
    helpful,
    implies,
    lemma,
    one_of,
    rank,
)
from tidemark.spec.queries.claims import QueriesClaims


class Queries(QueriesClaims):
    """One collection: loaded, queried over its channels, released; query nodes that crash."""

    # ---- a request ends ----

    @rank("a_request_ends")
    def what_a_request_waits_for(s, r: QueriesClaims.Request) -> Measure:
        """Its end."""
        return ~s.is_over(r)

    @helpful("a_request_ends", action="give_up")
    def it_runs_out_of_time(s, r: QueriesClaims.Request) -> HelpfulCase:
        return one_of(s.stage[r], "begun", "holding", "waiting"), (r,)

    # ---- a stream that was removed is closed ----

    @rank("a_removed_stream_is_closed")
    def what_a_close_waits_for(s, u: QueriesClaims.Stream) -> Measure:
        """Requests that write through the stream: no other request gets it any more."""
        return each(s.Request, lambda r: s.uses[r, u])

    @helpful("a_removed_stream_is_closed", action="give_up")
    def a_writer_runs_out_of_time(s, u: QueriesClaims.Stream, r: QueriesClaims.Request) -> HelpfulCase:
        return (s.object[u] == "removed") & s.uses[r, u], (r,)

    @helpful("a_removed_stream_is_closed", action="close_stream")
    def nobody_writes(s, u: QueriesClaims.Stream) -> HelpfulCase:
        return (s.object[u] == "removed") & forall(s.Request, lambda r: ~s.uses[r, u]), (u,)

    # ---- a release ends ----

    @rank("a_release_ends")
    def what_a_release_waits_for(s) -> Measure:
        """Nodes that have the collection, and streams."""
        return each(s.Node, lambda n: s.told[n]), each(s.Stream, s.has_to_go)

    @helpful("a_release_ends", action="unload")
    def a_node_is_told(s, n: QueriesClaims.Node) -> HelpfulCase:
        return (s.phase == "releasing") & s.told[n], (n,)

    @helpful("a_release_ends", action="remove_stream")
    def a_stream_is_removed(s, u: QueriesClaims.Stream) -> HelpfulCase:
        return (s.phase == "releasing") & s.has_to_go(u), (u,)

    @helpful("a_release_ends", action="end_release")
    def all_have_answered(s) -> HelpfulCase:
        nodes = forall(s.Node, lambda n: ~s.told[n])
        streams = forall(s.Stream, lambda u: ~s.has_to_go(u))
        return (s.phase == "releasing") & nodes & streams, ()

    # ---- a load ends ----

    @rank("a_load_ends", finitely=("faults",))
    def what_a_load_waits_for(s) -> Measure:
        """Nodes, rows and shards: more than it needs, for any node may serve a shard."""
        return (
            each(s.Node, lambda n: ~s.told[n]),
            each(s.Node, s.Row, lambda n, w: s.wanted[w] & (s.copy[n, w] == "none")),
            each(s.Node, s.Row, lambda n, w: s.wanted[w] & (s.copy[n, w] == "fetching")),
            each(s.Node, s.Shard, lambda n, c: ~s.serves[n, c]),
        )

    @helpful("a_load_ends", action="tell")
    def a_node_hears_of_the_load(s, n: QueriesClaims.Node) -> HelpfulCase:
        return (s.phase == "loading") & ~s.told[n], (n,)

    @helpful("a_load_ends", action="fetch")
    def a_row_is_fetched(s, n: QueriesClaims.Node, w: QueriesClaims.Row) -> HelpfulCase:
        return all_of(s.phase == "loading", s.told[n], s.wanted[w], s.copy[n, w] == "none"), (n, w)

    @helpful("a_load_ends", action="hold_row")
    def a_row_is_there(s, n: QueriesClaims.Node, w: QueriesClaims.Row) -> HelpfulCase:
        return all_of(s.phase == "loading", s.wanted[w], s.copy[n, w] == "fetching"), (n, w)

    @helpful("a_load_ends", action="serve")
    def a_shard_is_served(s, n: QueriesClaims.Node, c: QueriesClaims.Shard) -> HelpfulCase:
        return all_of(s.phase == "loading", s.told[n], ~s.serves[n, c], s.is_whole(n, c)), (n, c)

    @helpful("a_load_ends", action="end_load")
    def all_shards_are_served(s) -> HelpfulCase:
        return (s.phase == "loading") & s.is_loaded(), ()

    @lemma(source="seed 004, 6.6.1: globally unique")
    def numbers_are_apart(s) -> Bool:
        """A request has a number from its begin, and no two have the same."""
        return all_of(
            forall(s.Request, lambda r: (s.number[r] > 0) == (s.stage[r] != "new")),
            forall(
                s.Request,
                s.Request,
                lambda q, r: implies((s.number[q] == s.number[r]) & (s.number[q] > 0), q == r),
            ),
        )

    @lemma(source="seed 004, 6.2")
    def results_have_what_they_cover(s) -> Bool:
        """A result has every row of its shards that its request has to find."""
        return forall(
            s.Result,
            s.Row,
            lambda x, w: implies(
                all_of(s.sent[x], s.covers[x, s.shard[w]], s.due[s.by[x], w]), s.carries[x, w]
            ),
        )

    @lemma(source="seed 004, 6.2")
    def what_has_come_is_found(s) -> Bool:
        """Of a shard that has come, every row is found that has to be."""
        return forall(
            s.Request, s.Row, lambda r, w: implies(s.got[r, s.shard[w]] & s.due[r, w], s.found[r, w])
        )

    @lemma(source="seed 004, 6.2")
    def replies_follow_requests(s) -> Bool:
        """A result is written after its request, a request after it has begun."""
        return all_of(
            forall(s.Result, lambda x: implies(s.sent[x], s.written[s.by[x]])),
            forall(s.Result, s.Shard, lambda x, c: implies(s.covers[x, c], s.sent[x])),
            forall(s.Result, s.Row, lambda x, w: implies(s.carries[x, w], s.sent[x])),
            forall(s.Request, lambda r: implies(s.written[r], ~one_of(s.stage[r], "new", "begun"))),
        )

    @lemma(source="seed 004, 6.4")
    def what_is_due_was_wanted(s) -> Bool:
        """Rows that a request has to find were wanted; wanted rows were persisted, and are in a file."""
        return forall(
            s.Row,
            lambda w: all_of(
                implies(s.wanted[w], s.persisted[w]),
                implies(s.persisted[w], s.stored[w]),
                forall(s.Request, lambda r: implies(s.due[r, w], s.wanted[w])),
            ),
        )

    @lemma(source="seed 004, 6.4")
    def who_has_rows_was_told(s) -> Bool:
        """Only nodes that have the collection have rows of it, fetch them, or serve."""
        return all_of(
            implies(s.phase == "released", forall(s.Node, lambda n: ~s.told[n])),
            forall(s.Node, s.Row, lambda n, w: implies(s.copy[n, w] != "none", s.told[n])),
            forall(s.Node, s.Shard, lambda n, c: implies(s.serves[n, c], s.told[n])),
        )

    @lemma(source="seed 004, 6.6.2")
    def who_waits_has_a_stream(s) -> Bool:
        """A request in the map has written or is about to, and the stream of the collection is open."""
        return forall(
            s.Request,
            lambda r: implies(
                s.entry[r],
                one_of(s.stage[r], "holding", "waiting") & exists(s.Stream, lambda u: s.object[u] == "open"),
            ),
        )

    @lemma(source="seed 004, 6.6.2")
    def streams_are_one_after_the_other(s) -> Bool:
        """There is one stream at a time, of a collection that is not released."""
        return forall(
            s.Stream,
            lambda u: implies(
                one_of(s.object[u], "asked", "open"),
                (s.phase != "released")
                & forall(s.Stream, lambda v: implies(one_of(s.object[v], "asked", "open"), u == v)),
            ),
        )

    @lemma(source="seed 004, 6.6.2")
    def who_writes_has_one_stream(s) -> Bool:
        """A request has a stream, and only one, until its write returns."""
        return forall(
            s.Request,
            s.Stream,
            lambda r, u: implies(
                s.uses[r, u],
                all_of(
                    s.stage[r] == "holding",
                    one_of(s.object[u], "open", "removed"),
                    forall(s.Stream, lambda v: implies(s.uses[r, v], u == v)),
                ),
            ),
        )
