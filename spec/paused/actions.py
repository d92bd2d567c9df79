"""A row on its way from a proxy to durable storage, while the proxy's lease ends.

A proxy gives a row its timestamp and a segment that was assigned before, and appends it later: it may be
paused in between. When its session has ended, the coordinator no longer waits for it, and the tick passes the
row's timestamp. A flush seals a segment at a timestamp, waits for the tick, stores the rows that the data
node has consumed, and the segment is flushed. A row that is appended afterwards is late: it is behind the
tick, and names a segment that is flushed. A proxy that does not know of its end also gives new timestamps,
with its old segment: such a row is not late, and its segment is flushed all the same. The data node takes
both into memory, where reads see them. A crash loses the memory, and the replay leaves out the rows of
flushed segments.

The real system behaves so (Milvus 2.3.5): late rows were followed to their flushed segment. Rows that are
lost without being late were seen too; that they name an old segment is the explanation given here, and was
not traced. Four repairs are options, none of which the real system has: ``FENCED``, the log refuses a proxy
whose session has ended; ``LEASED``, such a proxy answers no success; ``REFUSED``, an append that names a
flushed segment is refused (the proxy then has to ask for another one); ``ABOVE_TICK``, the log refuses a row
at or below the tick.

Sources: hazards 11 and 17; facts 2.4, 3.4, 7.6.
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
    constant,
    each,
    everywhere,
    forall,
    implies,
    ite,
    one_of,
    option,
    require,
)


class PausedActions(Protocol, name="paused"):
    """Proxies with leases, one channel with its tick, segments that are flushed, a data node that crashes."""

    Proxy: TypeAlias = Sort
    Row: TypeAlias = Sort
    Segment: TypeAlias = Sort
    Ts: TypeAlias = Nat
    Stage: TypeAlias = Enum["none", "stamped", "appended"]
    Phase: TypeAlias = Enum["growing", "sealed", "flushed"]
    Copy: TypeAlias = Enum["none", "buffered", "durable"]

    FENCED: Bool = option(False)  # the log refuses what a proxy appends after its session has ended
    LEASED: Bool = option(False)  # a proxy answers success only while its session lasts
    FLUSHES: Bool = option(True)  # segments are flushed; without, a log that is only replayed
    ABOVE_TICK: Bool = option(False)  # the log refuses rows at or below the tick
    REFUSED: Bool = option(False)  # an append that names a flushed segment is refused

    owner: Map[Row, Proxy] = constant()  # the proxy to which the row is written
    segment: Map[Row, Segment] = constant()  # the segment that the row is assigned

    issued: Ts = 0  # the greatest timestamp of the oracle
    tick: Ts = 0  # nothing at or below it is to follow

    ended: Set[Proxy] = everywhere(False)
    stage: Map[Row, Stage] = everywhere("none")
    ts: Map[Row, Ts] = everywhere(0)
    acknowledged: Set[Row] = everywhere(False)

    phase: Map[Segment, Phase] = everywhere("growing")
    sealed_at: Map[Segment, Ts] = everywhere(0)

    copy: Map[Row, Copy] = everywhere("none")  # what the data node has of a row
    seen: Set[Row] = everywhere(False)  # a read has shown the row
    replayed: Set[Row] = everywhere(False)  # the row was in the log at a crash: it is replayed

    # ---- helpers ----

    def of_ended(s, r: Row) -> Bool:
        return s.ended[s.owner[r]]

    def is_flushed(s, r: Row) -> Bool:
        return s.phase[s.segment[r]] == "flushed"

    # ---- the proxy ----

    @action(source="facts 3.1; hazard 17")
    def stamp(s, r: Row) -> None:
        """A proxy gives a row its timestamp. While its session lasts, its segment is a growing one."""
        require(s.stage[r] == "none")
        require(s.of_ended(r) | (s.phase[s.segment[r]] == "growing"))
        s.issued = s.issued + 1
        s.stage[r] = "stamped"
        s.ts[r] = s.issued

    @action(fairness="weak", source="facts 3.1; hazard 11")
    def append(s, r: Row) -> None:
        """The row is in the log, however late."""
        require(s.stage[r] == "stamped")
        require(~(s.FENCED & s.of_ended(r)))
        require(~(s.REFUSED & s.is_flushed(r)))
        require(~s.ABOVE_TICK | (s.ts[r] > s.tick))
        s.stage[r] = "appended"

    @action(fairness="weak", source="facts 10.1; hazard 11")
    def acknowledge(s, r: Row) -> None:
        """The proxy acknowledges the row to its caller."""
        require((s.stage[r] == "appended") & ~s.acknowledged[r])
        require(~(s.LEASED & s.of_ended(r)))
        s.acknowledged[r] = True

    # ---- the coordinator ----

    @action(source="facts 2.4; hazard 11")
    def end_session(s, p: Proxy) -> None:
        """The lease of a proxy ends; the process may still run."""
        require(~s.ended[p])
        s.ended[p] = True

    @action(fairness="weak", source="facts 3.4; property W")
    def send_tick(s, ts: Ts) -> None:
        """The tick moves: no proxy with a session holds a row at or below it."""
        require((ts > s.tick) & (ts <= s.issued))
        require(forall(s.Row, lambda r: implies((s.stage[r] == "stamped") & ~s.of_ended(r), s.ts[r] > ts)))
        s.tick = ts

    # ---- flush ----

    @action(source="facts 7.6")
    def seal(s, g: Segment) -> None:
        """A client asks for a flush: no further row is assigned to the segment."""
        require(s.phase[g] == "growing")
        s.phase[g] = "sealed"
        s.sealed_at[g] = s.issued

    @action(fairness="weak", source="facts 7.6; facts 8")
    def flush(s, g: Segment) -> None:
        """The tick has passed the seal and the data node has consumed the log: the rows are stored."""
        require((s.phase[g] == "sealed") & s.FLUSHES)
        require(s.tick >= s.sealed_at[g])
        require(
            forall(
                s.Row,
                lambda r: implies((s.stage[r] == "appended") & (s.segment[r] == g), s.copy[r] != "none"),
            )
        )
        s.phase[g] = "flushed"
        s.copy = each(
            s.Row,
            lambda r: s.stored_copy(r, g),
        )

    def stored_copy(s, r: Row, g: Segment) -> Copy:
        """The state of a row after a flush of ``g``."""
        return ite((s.copy[r] == "buffered") & (s.segment[r] == g), "durable", s.copy[r])

    # ---- the data node ----

    @action(fairness="weak", source="facts 5.1; facts 7.1")
    def consume(s, r: Row) -> None:
        """The row comes from the log. A replay leaves out the rows of flushed segments: they are lost."""
        require((s.stage[r] == "appended") & (s.copy[r] == "none"))
        require(~(s.replayed[r] & s.is_flushed(r)))
        s.copy[r] = "buffered"

    @action(source="facts 10.4")
    def read(s, r: Row) -> None:
        """A read shows the row."""
        require(one_of(s.copy[r], "buffered", "durable") & ~s.seen[r])
        s.seen[r] = True

    @action(source="facts 10.1")
    def crash(s) -> None:
        """The memory is lost; the log is replayed."""
        require(~forall(s.Row, lambda r: s.copy[r] != "buffered"))
        s.replayed = each(s.Row, lambda r: s.replayed[r] | (s.stage[r] == "appended"))
        s.copy = each(s.Row, s.kept_copy)

    def kept_copy(s, r: Row) -> Copy:
        """The state of a row after a crash."""
        return ite(s.copy[r] == "buffered", "none", s.copy[r])
