"""Why requests, streams, releases and loads end, for any size: measures, and the actions that lower them.

A load ends in runs in which query nodes crash finitely often: one that always crashes when it has fetched the
rows serves no shard.
"""

from tidemark.spec.language import all_of, each, forall, helpful, one_of, rank
from tidemark.spec.queries.claims import QueriesClaims


class QueriesRanking(QueriesClaims):
    """One collection: loaded, queried over its channels, released; query nodes that crash."""

    # ---- a request ends ----

    @rank("a_request_ends")
    def what_a_request_waits_for(s, r: QueriesClaims.Request):
        """Its end."""
        return ~s.is_over(r)

    @helpful("a_request_ends", action="give_up")
    def it_runs_out_of_time(s, r: QueriesClaims.Request):
        return one_of(s.stage[r], "begun", "holding", "waiting"), (r,)

    # ---- a stream that was removed is closed ----

    @rank("a_removed_stream_is_closed")
    def what_a_close_waits_for(s, u: QueriesClaims.Stream):
        """Requests that write through the stream: no other request gets it any more."""
        return each(s.Request, lambda r: s.uses[r, u])

    @helpful("a_removed_stream_is_closed", action="give_up")
    def a_writer_runs_out_of_time(s, u: QueriesClaims.Stream, r: QueriesClaims.Request):
        return (s.object[u] == "removed") & s.uses[r, u], (r,)

    @helpful("a_removed_stream_is_closed", action="close_stream")
    def nobody_writes(s, u: QueriesClaims.Stream):
        return (s.object[u] == "removed") & forall(s.Request, lambda r: ~s.uses[r, u]), (u,)

    # ---- a release ends ----

    @rank("a_release_ends")
    def what_a_release_waits_for(s):
        """Nodes that have the collection, and streams."""
        return each(s.Node, lambda n: s.told[n]), each(s.Stream, s.has_to_go)

    @helpful("a_release_ends", action="unload")
    def a_node_is_told(s, n: QueriesClaims.Node):
        return (s.phase == "releasing") & s.told[n], (n,)

    @helpful("a_release_ends", action="remove_stream")
    def a_stream_is_removed(s, u: QueriesClaims.Stream):
        return (s.phase == "releasing") & s.has_to_go(u), (u,)

    @helpful("a_release_ends", action="end_release")
    def all_have_answered(s):
        nodes = forall(s.Node, lambda n: ~s.told[n])
        streams = forall(s.Stream, lambda u: ~s.has_to_go(u))
        return (s.phase == "releasing") & nodes & streams, ()

    # ---- a load ends ----

    @rank("a_load_ends", finitely=("faults",))
    def what_a_load_waits_for(s):
        """Nodes, rows and shards: more than it needs, for any node may serve a shard."""
        return (
            each(s.Node, lambda n: ~s.told[n]),
            each(s.Node, s.Row, lambda n, w: s.wanted[w] & (s.copy[n, w] == "none")),
            each(s.Node, s.Row, lambda n, w: s.wanted[w] & (s.copy[n, w] == "fetching")),
            each(s.Node, s.Shard, lambda n, c: ~s.serves[n, c]),
        )

    @helpful("a_load_ends", action="tell")
    def a_node_hears_of_the_load(s, n: QueriesClaims.Node):
        return (s.phase == "loading") & ~s.told[n], (n,)

    @helpful("a_load_ends", action="fetch")
    def a_row_is_fetched(s, n: QueriesClaims.Node, w: QueriesClaims.Row):
        return all_of(s.phase == "loading", s.told[n], s.wanted[w], s.copy[n, w] == "none"), (n, w)

    @helpful("a_load_ends", action="hold_row")
    def a_row_is_there(s, n: QueriesClaims.Node, w: QueriesClaims.Row):
        return all_of(s.phase == "loading", s.wanted[w], s.copy[n, w] == "fetching"), (n, w)

    @helpful("a_load_ends", action="serve")
    def a_shard_is_served(s, n: QueriesClaims.Node, c: QueriesClaims.Shard):
        return all_of(s.phase == "loading", s.told[n], ~s.serves[n, c], s.is_whole(n, c)), (n, c)

    @helpful("a_load_ends", action="end_load")
    def all_shards_are_served(s):
        return (s.phase == "loading") & s.is_loaded(), ()
