"""The tick of design document 004 (6.6.3), which publishes min(minTs, now); and the same rule one lower.

A channel is followed from the moment in which it is added; while it has no unfinished task, the tick
publishes the gate and moves it to now. Nothing is reported of a channel that was not added. ``Proxy`` itself
has the rule of seed 002.
"""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import action, all_of, any_of, each, forall, implies, ite, lemma, minimum, require
from tidemark.spec.proxy import Proxy


@mutant(
    killer="proxy.reported_is_below_all_to_come",
    source="H25, B6; seed 004, 6.6.3",
    instance="proxy-tiny",
    name="document-rule",
)
class Document(Proxy):
    """The rule as the document has it."""

    @action(fairness="weak", source="seed 004, 6.6.3: addPChan")
    def add_channel(s, c: Proxy.Channel):
        """The ticker follows the channel from now on."""
        require(~s.follows[c])
        s.follows[c] = True

    def publish(s):
        require(s.tick == ite(s.NOW_FIRST, "taken", "stamped"))
        s.published = each(
            s.Channel,
            lambda c: ite(s.is_quiet(c), s.current[c], ite(s.moves(c), s.promise(c), s.published[c])),
        )
        s.current = each(
            s.Channel,
            lambda c: ite(s.is_quiet(c), s.now, ite(s.moves(c), s.next_gate(c), s.current[c])),
        )
        s.default = s.now
        s.forget_tick()

    def is_quiet(s, c):
        """The channel was added, and the snapshot does not have it."""
        return s.follows[c] & ~s.snap_present[c]

    def moves(s, c):
        return s.follows[c] & s.snap_present[c] & (s.snap_min[c] > s.current[c])

    def promise(s, c):
        return minimum(s.snap_min[c], s.now)

    def idle_value(s, c):
        return s.reported[c]


class DocumentMinusOne(Document):
    """The rule one lower: below minTs and below now."""

    def promise(s, c):
        return minimum(s.snap_min[c], s.now) - 1

    @lemma(source="seed 004, 6.6.3")
    def the_gate_is_above_what_is_published(s):
        """A quiet channel may publish the gate."""
        return forall(
            s.Channel,
            lambda c: all_of(
                ite(s.follows[c], s.published[c] <= s.current[c], s.published[c] + s.current[c] == 0),
                s.follows[c] | (s.reported[c] == 0),
            ),
        )

    @lemma(source="seed 004, 6.6.3")
    def the_gate_is_below_all_that_is_new(s):
        """A task that comes after the snapshot gets more than the gate."""
        return forall(
            s.Channel,
            lambda c: implies(any_of(s.tick == "stamped", s.tick == "taken"), s.now > s.current[c]),
        )

    @lemma(source="seed 004, 6.6.3")
    def a_snapshot_has_a_span(s):
        """The least timestamp of a snapshot is not above the greatest."""
        return forall(s.Channel, lambda c: implies(s.snap_present[c], s.snap_min[c] <= s.snap_max[c]))
