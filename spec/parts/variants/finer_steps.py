"""A replica leaves in the middle of a read of several channels: another replica answers for its channel.

In ``spec/parts`` a channel answers a read once. A node may leave when it has sent some of its rows; and if
all nodes are asked at once (``ChannelReads`` in ``impl/queries/reads.py``), the answer of one may replace
another's until each channel has answered.
"""

from tidemark.spec.language import (
    Bool,
    Self,
    Set,
    Sort,
    TypeAlias,
    action,
    all_of,
    each,
    everywhere,
    exists,
    reachable,
    require,
)
from tidemark.spec.parts import Parts


class HandOver(Parts):
    """The rows of a channel are discarded, and another replica of it answers, at its own moment."""

    Replica: TypeAlias = Sort

    left: Set[Parts.Read, Parts.Channel, Replica] = everywhere(False)  # whom the read has left

    @action(source="facts 6.1, 6.3")
    def leave(s, q: Parts.Read, c: Parts.Channel, r: Replica) -> None:
        """A replica of the channel has left, or another one is asked beside it."""
        require((s.progress[q] == "sent") & (s.part[q, c] != "none"))
        require(~s.left[q, c, r])
        s.left[q, c, r] = True
        s.part[q, c] = "none"
        s.moment[q, c] = 0
        s.throw_away(q, c)

    def throw_away(s, q: Parts.Read, c: Parts.Channel) -> None:
        """No row of the channel is left."""
        s.seen = each(s.Read, s.Write, lambda p, w: s.seen[p, w] & ~((p == q) & (s.place(w) == c)))

    def fail(s, q: Parts.Read) -> None:
        super().fail(q)
        s.left = each(s.Read, s.Channel, s.Replica, lambda p, c, r: (p != q) & s.left[p, c, r])

    @reachable(after="leave", source="facts 6.3")
    def a_channel_answers_twice(before, after: Self, q: Parts.Read, c: Parts.Channel, r: Replica) -> Bool:
        """A channel has answered with a row, and is asked again while another one has not answered."""
        return all_of(
            before.part[q, c] == "served",
            exists(before.Write, lambda w: before.seen[q, w] & ~after.seen[q, w]),
            exists(before.Channel, lambda d: before.asks[q, d] & (before.part[q, d] == "none")),
        )
