"""Why a dropped channel is collected, for any number of segments: the measure and its actions."""

from tidemark.spec.language import each, forall, helpful, rank
from tidemark.spec.ownership.claims import OwnershipClaims


class OwnershipRanking(OwnershipClaims):
    """One virtual channel and its records: tenures of nodes, saves, checkpoints, drop, collection."""

    @rank("a_dropped_channel_is_collected")
    def what_a_collection_waits_for(s):
        """Segments: no further one is dropped, and none comes back, while the channel is dropped."""
        return each(s.Segment, lambda g: s.record[g] == "dropped")

    @helpful("a_dropped_channel_is_collected", action="collect_segment")
    def a_segment_is_collected(s, g: OwnershipClaims.Segment):
        return (s.life == "dropped") & (s.record[g] == "dropped"), (g,)

    @helpful("a_dropped_channel_is_collected", action="collect")
    def the_checkpoint_is_collected(s):
        return (s.life == "dropped") & forall(s.Segment, lambda g: s.record[g] != "dropped"), ()
