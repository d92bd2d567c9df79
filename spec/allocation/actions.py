"""Allocation of segments: the steps.

A proxy gives each row a timestamp, and then a segment, of which the data coordinator has granted it a part. A
grant has an expiry: it serves rows at or below it. The coordinator seals a segment, and ends it (asks for its
flush) once a time tick has passed the expiry of every grant: no row of it can follow in the log any more. The
claims are in ``spec/allocation/claims.py``.

Sources: seed 004, 6.3; facts 10.3; hazard 11.

How it is cut:

- One channel. A row represents all rows of an insert message that go to one segment.
- A grant may serve any number of rows, of any proxy, at any time: the number of its rows, and what a proxy
  forgets, only removes behaviours.
- Grants are in the memory of the coordinator. Of the store only the phase of a segment is needed.
- The oracle and the ticks are those of ``tso`` and ``timetick``; the steps name what they assume of them.
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
    any_of,
    anything,
    constant,
    each,
    everywhere,
    exists,
    forall,
    implies,
    ite,
    maximum,
    one_of,
    option,
    require,
)


class AllocationActions(Protocol, name="allocation"):
    """One channel: rows, grants of segments with their expiry, ticks, sealed and ended segments, restarts."""

    Row: TypeAlias = Sort
    Segment: TypeAlias = Sort
    Grant: TypeAlias = Sort
    Ts: TypeAlias = Nat
    Faults: TypeAlias = Nat
    Stage: TypeAlias = Enum["new", "asked", "stamped", "assigned", "logged", "failed"]
    Phase: TypeAlias = Enum["growing", "sealed", "ended"]

    CHECKS_EXPIRY: Bool = option(True)  # a grant serves rows at or below its expiry
    WAITS_FOR_TICK: Bool = option(True)  # a segment ends when a tick has passed its grants
    RAISES_EXPIRY: Bool = option(True)  # a restarted coordinator assumes grants that it has forgotten
    SPAN_STAYS: Bool = option(
        True, assumes="A restart does not make the time shorter for which a grant is given."
    )

    of: Map[Grant, Segment] = constant()

    # The oracle, the rows, the ticks.
    issued: Ts = 0
    stage: Map[Row, Stage] = everywhere("new")
    floor: Map[Row, Ts] = everywhere(0)  # issued, when the row's timestamp was asked for
    ts: Map[Row, Ts] = everywhere(0)
    uses: Set[Row, Grant] = everywhere(False)  # the row has its segment from this grant
    tick: Ts = 0  # the greatest tick in the log
    told: Ts = 0  # the greatest tick up to which the data node says that it has read

    # The coordinator.
    up: Bool = True
    since: Ts = 0  # issued, when the coordinator stopped
    span: Ts = anything  # how long a grant is valid
    given: Set[Grant] = everywhere(False)
    until: Map[Grant, Ts] = everywhere(0)
    # the greatest expiry of its grants, as far as the coordinator knows
    expiry: Map[Segment, Ts] = everywhere(0)
    phase: Map[Segment, Phase] = everywhere("growing")
    faults: Faults = 0

    # ---- helpers ----

    def is_under_way(s, r: Row) -> Bool:
        """The row may still come into the log."""
        return one_of(s.stage[r], "asked", "stamped", "assigned")

    def lies_above(s, r: Row, value: Ts) -> Bool:
        """The timestamp of a row under way is above the value, or will be."""
        return ite(s.stage[r] == "asked", s.floor[r] >= value, s.ts[r] > value)

    def is_below_all_to_come(s, value: Ts) -> Bool:
        """The oracle has issued the value, and every row that the log would still take is above it."""
        return (value <= s.issued) & forall(
            s.Row, lambda r: implies(s.is_under_way(r), s.lies_above(r, value))
        )

    def serves(s, a: Grant, value: Ts) -> Bool:
        """The grant may be used for a row of this timestamp."""
        return s.given[a] & (~s.CHECKS_EXPIRY | (value <= s.until[a]))

    def may_join(s, r: Row, g: Segment) -> Bool:
        """The row may still come into the log as a row of the segment."""
        return exists(
            s.Grant,
            lambda a: all_of(
                s.of[a] == g,
                s.given[a],
                any_of(
                    (s.stage[r] == "assigned") & s.uses[r, a],
                    (s.stage[r] == "new") & s.serves(a, s.issued + 1),
                    (s.stage[r] == "asked") & s.serves(a, s.floor[r] + 1),
                    (s.stage[r] == "stamped") & s.serves(a, s.ts[r]),
                ),
            ),
        )

    # ---- the oracle and the rows ----

    @action(source="facts 2")
    def others_allocate(s) -> None:
        """The oracle answers another caller."""
        s.issued = s.issued + 1

    @action(source="facts 3.1")
    def ask(s, r: Row) -> None:
        """A proxy begins an insert: it asks for the timestamp."""
        require(s.stage[r] == "new")
        s.stage[r] = "asked"
        s.floor[r] = s.issued

    @action(fairness="weak", source="facts 2.3, 3.1", relies_on=("tso.ordered", "tso.logical_never_carries"))
    def stamp(s, r: Row, ts: Ts) -> None:
        """The oracle answers: above every timestamp that was answered before the question."""
        require(s.stage[r] == "asked")
        require(ts > s.floor[r])
        s.stage[r] = "stamped"
        s.ts[r] = ts
        s.floor[r] = 0
        s.issued = maximum(s.issued, ts)

    @action(source="seed 004, 6.3")
    def assign(s, r: Row, a: Grant) -> None:
        """The row gets a segment, from a grant that is valid at the row's timestamp."""
        require((s.stage[r] == "stamped") & s.serves(a, s.ts[r]))
        s.stage[r] = "assigned"
        s.uses[r, a] = True

    @action(fairness="weak", source="facts 3.1")
    def append(s, r: Row) -> None:
        """The row is in the log."""
        require(s.stage[r] == "assigned")
        s.stage[r] = "logged"

    @action(source="facts 3.1; hazard 11")
    def fail(s, r: Row) -> None:
        """The insert fails, and the row never comes into the log."""
        require(s.is_under_way(r))
        s.stage[r] = "failed"
        s.floor[r] = 0
        s.ts[r] = 0
        s.uses = each(s.Row, s.Grant, lambda q, a: s.uses[q, a] & (q != r))

    # ---- the ticks ----

    @action(
        source="seed 002, watermark; facts 4",
        relies_on=("timetick.ticks_are_below_all_to_come", "timetick.ticks_were_issued"),
    )
    def send_tick(s, upto: Ts) -> None:
        """A tick is in the log: every row that the log would still take is above it."""
        require(upto > s.tick)
        require(s.is_below_all_to_come(upto))
        s.tick = upto

    @action(source="seed 004, 6.3")
    def tell(s, upto: Ts) -> None:
        """The data node has read up to a tick, and reports it to the coordinator, perhaps late."""
        require((upto > s.told) & (upto <= s.tick))
        s.told = upto

    # ---- the coordinator ----

    @action(source="seed 004, 6.3")
    def allocate(s, a: Grant, now: Ts) -> None:
        """The coordinator grants a part of a growing segment. The expiry counts from any timestamp."""
        require(s.up & ~s.given[a] & (s.phase[s.of[a]] == "growing"))
        s.issued = maximum(s.issued, now)
        s.given[a] = True
        s.until[a] = now + s.span
        s.expiry[s.of[a]] = maximum(s.expiry[s.of[a]], now + s.span)

    @action(source="facts 10.3")
    def seal(s, g: Segment) -> None:
        """The segment is full, or a flush is asked for: no further grant of it is given."""
        require(s.up & (s.phase[g] == "growing"))
        s.phase[g] = "sealed"

    @action(source="seed 004, 6.3")
    def end(s, g: Segment) -> None:
        """A tick has passed the expiry of every grant: the data node may flush its rows of the segment."""
        require(s.up & (s.phase[g] == "sealed"))
        require(~s.WAITS_FOR_TICK | (s.expiry[g] <= s.told))
        s.phase[g] = "ended"

    @action(source="seed 004, 6.3")
    def crash(s) -> None:
        """The coordinator stops and forgets grants and expiries; the proxies keep theirs."""
        require(s.up)
        s.faults = s.faults + 1
        s.up = False
        s.since = s.issued
        s.expiry = each(s.Segment, lambda g: 0)

    @action(source="seed 004, 6.3", relies_on=("tso.ordered", "tso.logical_never_carries"))
    def restart(s, now: Ts, span: Ts) -> None:
        """The coordinator restarts. It assumes for each segment that a grant was given just now."""
        require(~s.up & (now > s.since))
        require(~s.SPAN_STAYS | (span >= s.span))
        s.up = True
        s.issued = maximum(s.issued, now)
        s.span = span
        s.expiry = each(s.Segment, lambda g: ite(s.RAISES_EXPIRY, now + span, 0))
