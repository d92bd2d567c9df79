"""A stream of several channels (hazard 32).

It reads each channel up to its next tick, and delivers a pack when all channels are at the same tick;
channels at the greatest tick wait, the others read on (facts 5.1).
"""

from tidemark.spec.language import (
    Bool,
    Map,
    Set,
    action,
    any_of,
    everywhere,
    exists,
    forall,
    leads_to,
    least,
    require,
)
from tidemark.spec.timetick import TimeTick
from tidemark.spec.timetick.variants.other_rules import one_minimum


class Stream(TimeTick):
    """One stream of all channels: ``at`` is how far it has read each, ``emitted`` its last pack."""

    logged: Set[TimeTick.Channel, TimeTick.Ts] = everywhere(False)  # the ticks in the log
    # the tick up to which the stream has read the channel
    at: Map[TimeTick.Channel, TimeTick.Ts] = everywhere(0)
    emitted: TimeTick.Ts = 0

    def log_tick(s, c: TimeTick.Channel) -> None:
        super().log_tick(c)
        s.logged[c, s.round_ts[c]] = True

    def is_aligned(s) -> Bool:
        return forall(s.Channel, s.Channel, lambda c, d: s.at[c] == s.at[d])

    @action(fairness="weak", source="facts 5.1")
    def read_on(s, c: TimeTick.Channel) -> None:
        """The channel is read up to its next tick."""
        require(
            any_of(
                exists(s.Channel, lambda d: s.at[d] > s.at[c]),
                s.is_aligned() & forall(s.Channel, lambda d: s.at[d] <= s.emitted),
            )
        )
        require(exists(s.Ts, lambda t: s.logged[c, t] & (t > s.at[c])))
        s.at[c] = least(s.Ts, lambda t: s.logged[c, t] & (t > s.at[c]), default=s.at[c])

    @action(fairness="weak", source="facts 5.1")
    def hand_over(s) -> None:
        """All channels are at the same tick, and it is new: a pack."""
        require(s.is_aligned())
        require(exists(s.Channel, lambda c: s.at[c] > s.emitted))
        s.emitted = least(s.Ts, lambda t: exists(s.Channel, lambda c: s.at[c] == t), default=s.emitted)

    @leads_to(source="facts 5.1; hazard 32", without=("append", "stamp"))
    def packs_follow_ticks(s, ts: TimeTick.Ts) -> tuple[Bool, Bool]:
        """Once every channel has a tick at or above ``ts``, a pack at or above it is handed over."""
        return forall(s.Channel, lambda c: s.highest[c] >= ts), s.emitted >= ts


class StreamOfOneMinimum(Stream):
    """Every channel gets the same tick, as seed 002 says."""

    def round_value(s, c: Stream.Channel) -> Stream.Ts:
        return one_minimum(s, c)
