"""Why the service time reaches every tick, for any number of segments: measures and actions.

The claim is of runs in which nodes crash, and loads fail, finitely often.
"""

from tidemark.spec.language import all_of, each, forall, helpful, implies, rank
from tidemark.spec.segments.claims import SegmentsClaims


class SegmentsRanking(SegmentsClaims):
    """One channel at one query node; any number of segments, keys, rows and deletes."""

    def is_behind(s, ts):
        return (s.tick >= ts) & (s.safe < ts)

    def is_done(s):
        """All writes of the pack are processed."""
        return forall(s.Write, lambda w: ~s.is_in_pack(w))

    @rank("service_time_follows_the_ticks", finitely=("faults",))
    def what_the_service_time_waits_for(s, ts: SegmentsClaims.Ts):
        """Writes to come, the node, loads, the pack; the writes above the pack, and in it."""
        return (
            each(s.Write, lambda w: ~s.logged[w]),
            ~s.watching,
            each(s.Segment, lambda g: s.wanted[g] & (s.load[g] == "none")),
            each(s.Segment, lambda g: s.wanted[g] & (s.load[g] != "served")),
            s.pack < ts,
            each(s.Write, lambda w: s.logged[w] & (s.ts[w] > s.pack)),
            each(s.Write, s.is_in_pack),
        )

    @helpful("service_time_follows_the_ticks", action="watch")
    def a_node_takes_it_up(s, ts: SegmentsClaims.Ts):
        return s.is_behind(ts) & ~s.watching, ()

    @helpful("service_time_follows_the_ticks", action="load_listed")
    def a_load_begins(s, ts: SegmentsClaims.Ts, g: SegmentsClaims.Segment):
        return all_of(s.is_behind(ts), s.watching, s.wanted[g], s.load[g] == "none"), (g,)

    @helpful("service_time_follows_the_ticks", action="end_load")
    def a_load_ends(s, ts: SegmentsClaims.Ts, g: SegmentsClaims.Segment):
        return all_of(s.is_behind(ts), s.watching, s.wanted[g], s.load[g] == "loading"), (g,)

    @helpful("service_time_follows_the_ticks", action="apply_insert")
    def a_row_is_applied(s, ts: SegmentsClaims.Ts, w: SegmentsClaims.Write):
        return all_of(s.is_behind(ts), s.watching, s.is_in_pack(w), ~s.deletes[w]), (w,)

    @helpful("service_time_follows_the_ticks", action="apply_delete")
    def a_delete_is_applied(s, ts: SegmentsClaims.Ts, w: SegmentsClaims.Write):
        return all_of(s.is_behind(ts), s.watching, s.is_in_pack(w), s.deletes[w]), (w,)

    @helpful("service_time_follows_the_ticks", action="take_pack")
    def a_pack_is_taken(s, ts: SegmentsClaims.Ts):
        return all_of(s.is_behind(ts), s.watching, s.pack < ts, s.is_done()), (ts,)

    @helpful("service_time_follows_the_ticks", action="raise_safe")
    def the_service_time_rises(s, ts: SegmentsClaims.Ts):
        served = forall(s.Segment, lambda g: implies(s.wanted[g], s.load[g] == "served"))
        return all_of(s.is_behind(ts), s.watching, s.pack >= ts, s.is_done(), served), ()
