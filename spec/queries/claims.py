"""Claims about queries over channels: safety, liveness, witnesses."""

from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    exists,
    forall,
    implies,
    invariant,
    ite,
    leads_to,
    one_of,
    reachable,
    transition_invariant,
)
from tidemark.spec.queries.actions import QueriesActions


class QueriesClaims(QueriesActions):
    """One collection: loaded, queried over its channels, released; query nodes that crash."""

    # ---- safety: requests ----

    @invariant(source="seed 004, 6.6.1")
    def an_answer_is_complete(s) -> Bool:
        """An answer has each shard, with every row that was persisted at the load before the request."""
        return forall(
            s.Request,
            lambda r: implies(
                s.stage[r] == "answered",
                s.is_full(r) & forall(s.Row, lambda w: implies(s.due[r, w], s.found[r, w])),
            ),
        )

    @invariant(source="seed 004, 6.6.1; seed 004, 6.6.1: globally unique")
    def results_reach_their_own_request(s) -> Bool:
        """The content of a request's answer is in a result that was written in reply to it."""
        return forall(
            s.Request,
            s.Shard,
            lambda r, c: implies(s.got[r, c], exists(s.Result, lambda x: (s.by[x] == r) & s.covers[x, c])),
        ) & forall(
            s.Request,
            s.Row,
            lambda r, w: implies(s.found[r, w], exists(s.Result, lambda x: (s.by[x] == r) & s.carries[x, w])),
        )

    @invariant(source="seed 004, 6.6.1: Notify", frame=True)
    def a_caller_is_answered_once(s) -> Bool:
        """Each caller is answered once, and not before its request has ended."""
        return forall(s.Request, lambda r: s.times[r] == ite(s.is_over(r), 1, 0))

    @invariant(source="seed 004, 6.6.1: distribute messages according to the ReqID")
    def no_result_comes_too_early(s) -> Bool:
        """A request that writes is in the map, unless all its results have come: no result is dropped."""
        return forall(
            s.Request,
            s.Stream,
            lambda r, u: implies(s.uses[r, u] & (s.object[u] == "open"), s.entry[r] | s.is_full(r)),
        )

    @invariant(source="seed 004, 6.6.1")
    def nothing_is_kept_of_what_is_over(s) -> Bool:
        """A request that has ended is in no map, and has no stream."""
        return forall(
            s.Request,
            lambda r: implies(s.is_over(r), ~s.entry[r] & forall(s.Stream, lambda u: ~s.uses[r, u])),
        )

    # ---- safety: streams, load and release ----

    @invariant(source="seed 004, 6.6.2: not immediately closed")
    def nothing_is_written_to_a_closed_stream(s) -> Bool:
        """A stream that a request has to write to is not closed."""
        return forall(s.Request, s.Stream, lambda r, u: implies(s.uses[r, u], s.object[u] != "closed"))

    @invariant(source="seed 004, 6.4: ReleaseDqlMessageStream")
    def nothing_is_held_after_a_release(s) -> Bool:
        """After an acknowledged release no node, stream or map has anything of the collection."""
        return implies(
            s.phase == "released",
            all_of(
                forall(s.Node, s.Row, lambda n, w: s.copy[n, w] == "none"),
                forall(s.Node, s.Shard, lambda n, c: ~s.serves[n, c]),
                forall(s.Stream, lambda u: ~one_of(s.object[u], "asked", "open")),
                forall(s.Request, lambda r: ~s.entry[r]),
            ),
        )

    @invariant(source="seed 004, 6.4: no less than the number of rows that have been persisted")
    def a_load_finds_what_was_persisted(s) -> Bool:
        """A shard that is served has every row that was persisted when the load was asked for."""
        return forall(
            s.Node,
            s.Shard,
            s.Row,
            lambda n, c, w: implies(
                all_of(s.serves[n, c], s.wanted[w], s.shard[w] == c), s.copy[n, w] == "held"
            ),
        )

    @transition_invariant(source="seed 004, 6.4: no less than the number of rows that have been persisted")
    def an_acknowledged_load_is_whole(before, after: Self) -> Bool:
        """After an acknowledged load a serving node has every row that was persisted when it began."""
        return implies(
            (before.phase == "loading") & (after.phase == "loaded"),
            forall(
                after.Row,
                lambda w: implies(
                    after.wanted[w],
                    exists(
                        after.Node,
                        lambda n: (after.copy[n, w] == "held") & after.serves[n, after.shard[w]],
                    ),
                ),
            ),
        )

    # ---- liveness ----

    @leads_to(source="seed 004, 6.6.1")
    def a_request_ends(s, r: QueriesActions.Request) -> tuple[Bool, Bool]:
        """A caller is answered, whatever nodes, streams and clients do."""
        return s.stage[r] == "begun", s.is_over(r)

    @leads_to(source="seed 004, 6.6.2: not immediately closed")
    def a_removed_stream_is_closed(s, u: QueriesActions.Stream) -> tuple[Bool, Bool]:
        """A stream that is removed is closed in the end."""
        return s.object[u] == "removed", s.object[u] == "closed"

    @leads_to(source="seed 004, 6.4")
    def a_release_ends(s) -> tuple[Bool, Bool]:
        """A release is acknowledged in the end."""
        return s.phase == "releasing", s.phase == "released"

    @leads_to(source="seed 004, 6.4")
    def a_load_ends(s) -> tuple[Bool, Bool]:
        """A load is acknowledged in the end, unless the collection is released before."""
        return s.phase == "loading", s.phase != "loading"

    # ---- witnesses ----

    @reachable(after="reply", source="seed 004, 6.2")
    def an_answer_of_several_results(before, after: Self, r: QueriesActions.Request) -> Bool:
        """A caller gets rows, and no single result has all of them."""
        return all_of(
            after.stage[r] == "answered",
            forall(
                after.Result,
                lambda x: implies(after.by[x] == r, exists(after.Shard, lambda c: ~after.covers[x, c])),
            ),
        )

    @reachable(after="deliver", source="seed 004, 6.6.1")
    def a_late_result_is_dropped(before, after: Self, x: QueriesActions.Result) -> Bool:
        """A result comes when its request has failed."""
        return before.stage[before.by[x]] == "failed"

    @reachable(after="deliver", source="seed 004, 6.2")
    def a_shard_comes_twice(before, after: Self, x: QueriesActions.Result) -> Bool:
        """A result brings a shard that has come already, and the request still waits."""
        r = before.by[x]
        return exists(before.Shard, lambda c: before.got[r, c] & before.covers[x, c]) & after.entry[r]

    @reachable(after="wait", source="seed 004, 6.6.1")
    def all_results_come_before_the_write_returns(before, after: Self, r: QueriesActions.Request) -> Bool:
        """The write returns when every result has come."""
        return after.is_full(r)

    @reachable(after="write", source="seed 004, 6.6.2: not immediately closed")
    def a_removed_stream_is_written_to(before, after: Self, r: QueriesActions.Request) -> Bool:
        """A request is written through a stream that is removed."""
        return exists(after.Stream, lambda u: after.uses[r, u] & (after.object[u] == "removed"))

    @reachable(after="reply", source="seed 004, 6.4: ReleaseDqlMessageStream")
    def a_release_ends_a_request(before, after: Self, r: QueriesActions.Request) -> Bool:
        """A caller is answered with an error because the collection was released."""
        return (after.stage[r] == "failed") & (after.phase == "releasing")

    @reachable(after="remove_stream", source="seed 004, 6.6.2")
    def a_release_meets_a_stream_in_the_making(before, after: Self, u: QueriesActions.Stream) -> Bool:
        """The collection is released while the proxy is about to make its stream."""
        return before.object[u] == "asked"

    @reachable(after="unload", source="seed 004, 6.4")
    def a_release_meets_a_fetch(before, after: Self, n: QueriesActions.Node) -> Bool:
        """The collection is released while a node fetches a row."""
        return exists(before.Row, lambda w: before.copy[n, w] == "fetching")

    @reachable(after="reply", source="seed 004, 6.4")
    def what_was_persisted_is_found(before, after: Self, r: QueriesActions.Request) -> Bool:
        """An answer has a row that was persisted when the load was asked for."""
        return exists(
            after.Row, lambda w: all_of(after.stage[r] == "answered", after.due[r, w], after.found[r, w])
        )
