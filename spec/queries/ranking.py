"""Why requests, streams and releases end, for any size: what is left to do, and who does it."""

from tidemark.spec.language import each, forall, helpful, one_of, rank
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
        """Wherever it is: whatever its results do."""
        return one_of(s.stage[r], "begun", "holding", "waiting"), (r,)

    # ---- a stream that was removed is closed ----

    @rank("a_removed_stream_is_closed")
    def what_a_close_waits_for(s, u: QueriesClaims.Stream):
        """Those that write through the stream: no other request gets it any more."""
        return each(s.Request, lambda r: s.uses[r, u])

    @helpful("a_removed_stream_is_closed", action="give_up")
    def a_writer_runs_out_of_time(s, u: QueriesClaims.Stream, r: QueriesClaims.Request):
        """At the latest then it lets go of the stream."""
        return (s.object[u] == "removed") & s.uses[r, u], (r,)

    @helpful("a_removed_stream_is_closed", action="close_stream")
    def nobody_writes(s, u: QueriesClaims.Stream):
        """No request uses it."""
        return (s.object[u] == "removed") & forall(s.Request, lambda r: ~s.uses[r, u]), (u,)

    # ---- a release ends ----

    @rank("a_release_ends")
    def what_a_release_waits_for(s):
        """Nodes that have the collection, and streams."""
        return each(s.Node, lambda n: s.told[n]), each(s.Stream, lambda u: s.has_to_go(u))

    @helpful("a_release_ends", action="unload")
    def a_node_is_told(s, n: QueriesClaims.Node):
        """It drops what it has."""
        return (s.phase == "releasing") & s.told[n], (n,)

    @helpful("a_release_ends", action="remove_stream")
    def a_stream_is_removed(s, u: QueriesClaims.Stream):
        """No other one is asked for during a release."""
        return (s.phase == "releasing") & s.has_to_go(u), (u,)

    @helpful("a_release_ends", action="end_release")
    def all_have_answered(s):
        """Nodes and proxy."""
        nodes = forall(s.Node, lambda n: ~s.told[n])
        streams = forall(s.Stream, lambda u: ~s.has_to_go(u))
        return (s.phase == "releasing") & nodes & streams, ()
