"""Reads of several channels, and their further pages: the steps.

A collection has several channels. A proxy asks each of them, with the guarantee timestamp of the read, and
has its answer when one has come from every channel. Each channel answers at its own service time: its moment.
A further page of an iterator, or a further part of a request, names for each channel the moment that the
first one has shown there.

Sources: facts 6.1, 6.2; B40. The behaviour of one channel is taken from ``spec/reads``: an answer reaches its
guarantee, is exact at its moment, and a further page is of the moment that it names.

How it is cut:

- ``safe[c]`` is the greatest service time of all replicas of a channel. An answer may be older: it comes from
  any of them.
- A write is logged and acknowledged in one step. A read begins in one step, with the guarantee of its level,
  which the oracle has issued: ``recent`` are those whose guarantee is the present time of the oracle, like
  that of a strong read. How they get their timestamps is in ``spec/reads``.
- The moment of a channel is known before its rows have come: ``look``, then ``collect`` row by row, then
  ``serve``.
- A first read is its own ``first``. A further page that asks for a channel that the first has not read never
  begins: the proxy refuses it.

An option is another rule: ``ONE_MOMENT``, a read that names one moment for all channels from the beginning.
The rule of Milvus' iterators, a further page that names the greatest of the first one's moments for all
channels, is a variant.
"""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    TypeAlias,
    action,
    all_of,
    constant,
    each,
    everywhere,
    exists,
    forall,
    implies,
    ite,
    maximum,
    option,
    require,
)


class PartsActions(Protocol, name="parts"):
    """Writes, service times and reads of any number of channels; further pages."""

    Channel: TypeAlias = Sort
    Key: TypeAlias = Sort
    Write: TypeAlias = Sort
    Read: TypeAlias = Sort
    Ts: TypeAlias = Nat
    Progress: TypeAlias = Enum["new", "sent", "answered", "failed"]
    Part: TypeAlias = Enum["none", "reading", "served"]

    ONE_MOMENT: Bool = option(False)  # a first read names its guarantee as the moment of all channels

    channel: Map[Key, Channel] = constant()
    key: Map[Write, Key] = constant()
    deletes: Set[Write] = constant()
    first: Map[Read, Read] = constant()  # the first page, for a further one; a first page is its own
    asks: Set[Read, Channel] = constant()

    # The oracle, the logs, the service times.
    issued: Ts = 0
    logged: Set[Write] = everywhere(False)
    ts: Map[Write, Ts] = everywhere(0)
    safe: Map[Channel, Ts] = everywhere(0)

    # The reads.
    progress: Map[Read, Progress] = everywhere("new")
    guarantee: Map[Read, Ts] = everywhere(0)
    recent: Set[Read] = everywhere(False)
    known: Set[Read, Write] = everywhere(False)  # history: acknowledged before the read began
    part: Map[Read, Channel, Part] = everywhere("none")
    moment: Map[Read, Channel, Ts] = everywhere(0)
    seen: Set[Read, Write] = everywhere(False)  # the rows of the answer

    # ---- helpers ----

    def place(s, w: Write) -> Channel:
        return s.channel[s.key[w]]

    def removes(s, d: Write, w: Write, value: Ts) -> Bool:
        return all_of(s.logged[d], s.deletes[d], s.key[d] == s.key[w], s.ts[w] < s.ts[d], s.ts[d] <= value)

    def is_visible(s, w: Write, value: Ts) -> Bool:
        """The row is inserted at or below the timestamp, and no delete is between."""
        return all_of(
            s.logged[w],
            ~s.deletes[w],
            s.ts[w] <= value,
            ~exists(s.Write, lambda d: s.removes(d, w, value)),
        )

    def is_further(s, q: Read) -> Bool:
        """The read is a further page, or a further part."""
        return s.first[q] != q

    def named(s, q: Read, c: Channel) -> Ts:
        """The moment that a further page names for the channel."""
        return s.moment[s.first[q], c]

    def may_be_moment(s, q: Read, c: Channel, value: Ts) -> Bool:
        """A channel may answer the read at this timestamp."""
        first = (value >= s.guarantee[q]) & implies(s.ONE_MOMENT, value == s.guarantee[q])
        return (value <= s.safe[c]) & ite(s.is_further(q), value == s.named(q, c), first)

    def is_whole(s, q: Read, c: Channel) -> Bool:
        """The rows that have come from the channel are exactly those visible at its moment."""
        return forall(
            s.Write,
            lambda w: implies(s.place(w) == c, s.seen[q, w] == s.is_visible(w, s.moment[q, c])),
        )

    # ---- the channels ----

    @action(source="facts 3.1, 4", relies_on=("reads.service_time_is_applied",))
    def log(s, w: Write, ts: Ts) -> None:
        """A write is in the log, above every service time of its channel, and acknowledged."""
        require(~s.logged[w])
        require(ts > s.safe[s.place(w)])
        s.logged[w] = True
        s.ts[w] = ts
        s.issued = maximum(s.issued, ts)

    @action(
        fairness="weak",
        source="facts 6.1",
        relies_on=("reads.timestamps_were_issued", "reads.service_times_are_in_order"),
    )
    def raise_safe(s, c: Channel, upto: Ts) -> None:
        """A replica of the channel has applied everything up to a tick."""
        require(upto > s.safe[c])
        require(upto <= s.issued)
        s.safe[c] = upto

    # ---- reads ----

    @action(source="facts 6.2", relies_on=("reads.guarantees_were_issued",))
    def begin(s, q: Read, value: Ts) -> None:
        """A read is sent to its channels, with the guarantee of its level."""
        require((s.progress[q] == "new") & ~s.is_further(q))
        require(value <= s.issued)
        s.send(q)
        s.guarantee[q] = value
        s.recent[q] = value == s.issued

    @action(source="facts 6.2; B40")
    def begin_page(s, q: Read) -> None:
        """A further page is sent to channels that the first one has read."""
        require((s.progress[q] == "new") & s.is_further(q))
        require(s.progress[s.first[q]] == "answered")
        require(forall(s.Channel, lambda c: implies(s.asks[q, c], s.asks[s.first[q], c])))
        s.send(q)

    def send(s, q: Read) -> None:
        """The channels are asked, and the history of the read is noted."""
        s.progress[q] = "sent"
        s.known = each(s.Read, s.Write, lambda p, w: ite(p == q, s.logged[w], s.known[p, w]))

    @action(
        fairness="weak",
        source="facts 6.1",
        relies_on=("reads.pages_are_of_one_moment", "reads.moments_are_served"),
    )
    def look(s, q: Read, c: Channel, value: Ts) -> None:
        """A replica of the channel answers: at the named moment, or at its service time."""
        require(all_of(s.progress[q] == "sent", s.asks[q, c], s.part[q, c] == "none"))
        require(s.may_be_moment(q, c, value))
        s.part[q, c] = "reading"
        s.moment[q, c] = value

    @action(fairness="weak", source="facts 6.1")
    def collect(s, q: Read, w: Write) -> None:
        """A row comes from its channel."""
        require((s.part[q, s.place(w)] == "reading") & ~s.seen[q, w])
        require(s.is_visible(w, s.moment[q, s.place(w)]))
        s.seen[q, w] = True

    @action(fairness="weak", source="facts 6.1", relies_on=("reads.answers_are_exact",))
    def serve(s, q: Read, c: Channel) -> None:
        """All rows of the channel are there."""
        require(s.part[q, c] == "reading")
        require(s.is_whole(q, c))
        s.part[q, c] = "served"

    @action(fairness="weak", source="facts 6.2")
    def finish(s, q: Read) -> None:
        """Every channel has answered: so has the read."""
        require(s.progress[q] == "sent")
        require(forall(s.Channel, lambda c: implies(s.asks[q, c], s.part[q, c] == "served")))
        s.progress[q] = "answered"

    @action(source="facts 6.1")
    def fail(s, q: Read) -> None:
        """A channel has no answer: the read fails, whatever has come from the others."""
        require(s.progress[q] == "sent")
        s.progress[q] = "failed"
        s.guarantee[q] = 0
        s.recent[q] = False
        s.part = each(s.Read, s.Channel, lambda p, c: ite(p == q, "none", s.part[p, c]))
        s.moment = each(s.Read, s.Channel, lambda p, c: ite(p == q, 0, s.moment[p, c]))
        s.seen = each(s.Read, s.Write, lambda p, w: (p != q) & s.seen[p, w])
        s.known = each(s.Read, s.Write, lambda p, w: (p != q) & s.known[p, w])
