"""The root coordinator's time tick: sessions, reports, rounds, ticks; state and steps.

Sources (proxies, and the coordinator's own DDL source) append messages to channels, each with a timestamp
from the oracle. A source reports, per channel, a value below all that it has still to append. When every
session that the coordinator knows has reported, the minimum per channel becomes a round; the round is queued
(one place), taken, and sent: one tick per channel. Tick T on a channel promises that no message with ts <= T
is appended there any more.

Sources: seed 002 (time tick), facts 3 and 4, hazards 10 to 12, 29 to 32, bugs B5, B9, B10, B45, B46. This is
the protocol as it is *meant*. Where the code of the seeds differs, a variant has its own verdict.

How it is cut:

- ``promised`` is the newest report that a source has sent. It may reach the coordinator at any later time,
  and again: a source's promises only grow, so a true report stays true on its way. ``overtake`` lets an older
  or lagging value arrive instead of the newest one.
- ``queued`` is the channel of capacity one; ``sending`` is the round that the sender has taken from it.
- A coordinator that starts lists, fences and learns the sessions in one step, and reads the last ticks at
  once. In several steps: ``spec/timetick/variants/recovery.py``,
  ``spec/timetick/variants/takeover.py``.
- Removing a session and trying to close a round are two steps: the second may follow at once.
- A process that has lost its lease may append until the log refuses it. A new process is a new source. The
  DDL source starts and ends with the coordinator.
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
    exists,
    forall,
    greatest,
    implies,
    ite,
    maximum,
    one_of,
    option,
    require,
    when,
)


class TimeTickActions(Protocol, name="timetick"):
    """Sessions, reports, rounds and ticks of one root coordinator; the log refuses removed sources."""

    Source: TypeAlias = Sort
    Channel: TypeAlias = Sort
    Message: TypeAlias = Sort
    Ts: TypeAlias = Nat
    Faults: TypeAlias = Nat
    Session: TypeAlias = Enum["none", "registered", "expired"]
    Stage: TypeAlias = Enum["new", "asked", "open", "appended", "dropped", "lost"]

    FENCED: Bool = option(True, assumes="The log refuses what a removed source appends.")
    DDL_FENCED: Bool = option(
        True, assumes="The log refuses what the DDL source of a coordinator that has crashed had sent."
    )
    KNOWN_OUTCOME: Bool = option(
        True, assumes="A source keeps a message open until it is in the log or can never get there."
    )

    # One step here, several in ``spec/timetick/variants/finer_steps.py``.
    TICKS_FENCED: Bool = option(
        True, assumes="The logs take no tick of a coordinator once its successor has read their last ticks."
    )

    # Choices of the protocol.
    BARRIER: Bool = option(True)  # a proxy takes writes only after one of its reports was accepted
    KNOWS_ALL: Bool = option(True)  # a coordinator that starts knows every live session
    MONOTONE: Bool = option(True)  # a tick below the last one tried is skipped
    RESUMES: Bool = option(True)  # a coordinator that starts reads the last tick of each channel in the log

    # The DDL source, and the channel and source of each message.
    ddl: Source = constant()
    sender: Map[Message, Source] = constant()
    channel_of: Map[Message, Channel] = constant()

    # The oracle, the messages, the sources.
    issued: Ts = 0  # the greatest timestamp that was answered to anybody
    message: Map[Message, Stage] = everywhere("new")
    floor: Map[Message, Ts] = everywhere(0)  # issued, when the message's timestamp was asked for
    ts: Map[Message, Ts] = everywhere(0)
    session: Map[Source, Session] = everywhere("none")  # the lease in the store (proxies)
    serves: Set[Source] = everywhere(False)  # the proxy takes writes
    fenced: Set[Source] = everywhere(False)  # removed: the log refuses its appends
    promised: Map[Source, Channel, Ts] = everywhere(0)

    # The coordinator's memory (lost in a crash).
    up: Bool = False
    known: Set[Source] = everywhere(False)
    entry: Set[Source] = everywhere(False)  # it has reported since the last round
    entry_ts: Map[Source, Channel, Ts] = everywhere(0)
    queued: Bool = False
    queued_ts: Map[Channel, Ts] = everywhere(0)
    sending: Bool = False
    round_ts: Map[Channel, Ts] = everywhere(0)
    to_send: Set[Channel] = everywhere(False)
    # the greatest tick that it has tried to send, or has found in the log
    last: Map[Channel, Ts] = everywhere(0)
    synced: Map[Channel, Ts] = everywhere(0)  # the greatest tick that it counts as sent

    # The log.
    tick: Map[Channel, Ts] = everywhere(0)  # the last tick of the channel
    highest: Map[Channel, Ts] = everywhere(0)  # the greatest one
    faults: Faults = 0

    # ---- helpers ----

    def takes_writes(s, p: Source) -> Bool:
        """The source may begin a message."""
        return ite(p == s.ddl, s.up, s.serves[p])

    def runs(s, p: Source) -> Bool:
        """The process may still run: the loss of a lease does not stop it."""
        return ite(p == s.ddl, s.up, s.session[p] != "none")

    def refused(s, p: Source) -> Bool:
        return s.FENCED & s.fenced[p]

    def is_below_all_to_come(s, p: Source, c: Channel, value: Ts) -> Bool:
        """Everything that the source has still to append on the channel is above the value."""
        return (value <= s.issued) & ~exists(
            s.Message,
            lambda m: (
                (s.sender[m] == p)
                & (s.channel_of[m] == c)
                & (
                    ((s.message[m] == "asked") & (s.floor[m] < value))
                    | ((s.message[m] == "open") & (s.ts[m] <= value))
                )
            ),
        )

    def fault(s) -> None:
        s.faults = s.faults + 1

    # ---- the oracle and the messages ----

    @action(source="facts 2")
    def others_allocate(s, ts: Ts) -> None:
        """Another client is given a timestamp above all others (a smaller one makes no difference here)."""
        require(ts > s.issued)
        s.issued = ts

    @action(source="facts 3.1")
    def ask(s, m: Message) -> None:
        """A source begins a message: it asks for the timestamp."""
        require(s.message[m] == "new")
        require(s.takes_writes(s.sender[m]))
        s.message[m] = "asked"
        s.floor[m] = s.issued

    @action(fairness="weak", source="facts 2.3, 3.1", relies_on=("tso.ordered", "tso.logical_never_carries"))
    def stamp(s, m: Message, ts: Ts) -> None:
        """The oracle answers: above every timestamp that was answered before the question."""
        require(s.message[m] == "asked")
        require(ts > s.floor[m])
        s.message[m] = "open"
        s.ts[m] = ts
        s.floor[m] = 0
        s.issued = maximum(s.issued, ts)

    @action(fairness="weak", source="facts 3.1; hazard 11")
    def append(s, m: Message) -> None:
        """The message is in the log. A removed source is refused."""
        require(one_of(s.message[m], "open", "lost"))
        require(~s.refused(s.sender[m]))
        s.message[m] = "appended"

    @action(source="facts 3.1; hazard 12")
    def drop(s, m: Message) -> None:
        """The source gives the message up; if its append has an unknown outcome, it may still happen."""
        require(one_of(s.message[m], "asked", "open"))
        s.give_up(m, (s.message[m] == "open") & ~s.KNOWN_OUTCOME)

    def give_up(s, m: Message, may_land: Bool) -> None:
        """The source forgets the message."""
        s.message[m] = ite(may_land, "lost", "dropped")
        s.floor[m] = 0
        s.ts[m] = ite(may_land, s.ts[m], 0)

    # ---- sessions ----

    @action(source="facts 3.4; hazard 10")
    def register(s, p: Source) -> None:
        """A proxy starts: its lease is in the store."""
        require(p != s.ddl)
        require(s.session[p] == "none")
        s.session[p] = "registered"
        s.serves[p] = ~s.BARRIER

    @action(source="facts 2.4; hazard 11")
    def expire(s, p: Source) -> None:
        """The lease of a proxy ends; the process may still run."""
        require(s.session[p] == "registered")
        s.session[p] = "expired"

    @action(fairness="weak", source="facts 4: addSession")
    def learn(s, p: Source) -> None:
        """The coordinator's watch reports a new session: rounds wait for it from now on."""
        require(s.up & ~s.known[p])
        require(s.session[p] == "registered")
        s.known[p] = True

    @action(fairness="weak", source="facts 4: delSession; hazard 11")
    def forget(s, p: Source) -> None:
        """The coordinator removes a session whose lease has ended. The log refuses the source from now on."""
        require(s.up & s.known[p])
        require(s.session[p] == "expired")
        s.known[p] = False
        s.fenced[p] = True
        s.clear_entry(p)

    def clear_entry(s, p: Source) -> None:
        """The report of the session is removed."""
        s.entry[p] = False
        s.entry_ts = each(s.Source, s.Channel, lambda q, c: ite(q == p, 0, s.entry_ts[q, c]))

    # ---- reports ----

    @action(
        fairness="weak",
        source="facts 3.3, 4; seed 002",
        relies_on=(
            "proxy.reported_is_below_all_to_come",
            "proxy.reported_is_given_to_nobody_else",
            "ddl.minimum_is_below_all_to_come",
            "ddl.minimum_is_given_to_nobody_else",
        ),
    )
    def report(s, p: Source, upto: Ts) -> None:
        """A source reports, per channel, the greatest value up to ``upto`` below all its later messages."""
        require(s.runs(p) & (upto <= s.issued))
        s.promised = each(
            s.Source,
            s.Channel,
            lambda q, c: ite(q == p, maximum(s.promised[q, c], s.allowed(q, c, upto)), s.promised[q, c]),
        )

    def allowed(s, p: Source, c: Channel, upto: Ts) -> Ts:
        """The greatest value up to ``upto`` that the source may report for the channel."""
        return greatest(s.Ts, lambda v: s.is_below_all_to_come(p, c, v), upto=upto, default=0)

    @action(source="facts 3.3; B5")
    def overtake(s, p: Source, c: Channel, value: Ts) -> None:
        """An older report, or one that lags on a channel, arrives next."""
        require(value < s.promised[p, c])
        s.promised[p, c] = value
        s.fault()

    @action(fairness="weak", source="facts 4; hazard 10")
    def accept(s, p: Source) -> None:
        """The coordinator takes a report of a known session, and refuses others: the proxy may serve."""
        require(s.up & s.known[p])
        require(exists(s.Channel, lambda c: s.promised[p, c] > 0))
        s.entry[p] = True
        s.entry_ts = each(s.Source, s.Channel, lambda q, c: ite(q == p, s.promised[q, c], s.entry_ts[q, c]))
        s.serves[p] = s.serves[p] | (p != s.ddl)

    # ---- rounds and ticks ----

    def round_is_complete(s) -> Bool:
        """Every known session has reported since the last round."""
        return forall(s.Source, lambda p: implies(s.known[p], s.entry[p]))

    def round_value(s, c: Channel) -> Ts:
        """The least value that a known session, or the DDL source, reported for the channel."""
        return greatest(
            s.Ts,
            lambda v: forall(s.Source, lambda p: implies(s.known[p], v <= s.entry_ts[p, c])),
            upto=s.entry_ts[s.ddl, c],
            default=0,
        )

    def clear_entries(s) -> None:
        """All reports are removed."""
        s.entry = each(s.Source, lambda p: False)
        s.entry_ts = each(s.Source, s.Channel, lambda p, c: 0)

    @action(fairness="weak", source="facts 4; seed 002")
    def close_round(s) -> None:
        """All sessions have reported: the minimum per channel is queued, and the reports are removed."""
        require(s.up & ~s.queued)
        require(s.round_is_complete())
        s.queued = True
        s.queued_ts = each(s.Channel, s.round_value)
        s.clear_entries()

    @action(fairness="weak", source="facts 4; hazard 29")
    def drop_round(s) -> None:
        """The queue is full: the new round is dropped, and the reports are removed all the same."""
        require(s.up & s.queued)
        require(s.round_is_complete())
        s.clear_entries()

    @action(fairness="weak", source="facts 4")
    def take_round(s) -> None:
        """The sender takes the queued round."""
        require(s.up & s.queued)
        require(~s.sending)
        s.sending = True
        s.round_ts = each(s.Channel, lambda c: s.queued_ts[c])
        s.to_send = each(s.Channel, lambda c: True)
        s.queued = False
        s.queued_ts = each(s.Channel, lambda c: 0)

    def is_new(s, c: Channel) -> Bool:
        """The tick is above the last one tried; an equal one is tried again if it is not known to be sent."""
        value = s.round_ts[c]
        return (value > 0) & (
            (value > s.last[c]) | (value == s.last[c]) & (s.synced[c] < value) | ~s.MONOTONE
        )

    def log_tick(s, c: Channel) -> None:
        s.tick[c] = s.round_ts[c]
        s.highest[c] = maximum(s.highest[c], s.round_ts[c])

    @action(fairness="weak", source="facts 4; seed 002")
    def send_tick(s, c: Channel) -> None:
        """The channel's tick is appended and counted; one that would go back is skipped."""
        require(s.up & s.sending & s.to_send[c])
        with when(s.is_new(c)):
            s.log_tick(c)
            s.last[c] = s.round_ts[c]
            s.synced[c] = s.round_ts[c]
        s.to_send[c] = False

    @action(source="facts 4; B10")
    def fail_send(s, c: Channel, applied: Bool) -> None:
        """The send of a tick fails, and the tick is in the log or not. It does not count as sent."""
        require(s.up & s.sending & s.to_send[c])
        require(s.is_new(c))
        with when(applied):
            s.log_tick(c)
        s.last[c] = s.round_ts[c]
        s.to_send[c] = False
        s.fault()

    @action(fairness="weak", source="facts 4")
    def end_round(s) -> None:
        """All sends of the round have ended."""
        require(s.up & s.sending)
        require(forall(s.Channel, lambda c: ~s.to_send[c]))
        s.forget_round()

    def forget_round(s) -> None:
        s.sending = False
        s.round_ts = each(s.Channel, lambda c: 0)
        s.to_send = each(s.Channel, lambda c: False)

    # ---- the coordinator ----

    @action(source="facts 4; B46")
    def crash_coordinator(s) -> None:
        """The coordinator stops. It loses its memory, and the DDL source its messages."""
        require(s.up)
        s.up = False
        s.known = each(s.Source, lambda p: False)
        s.clear_entries()
        s.queued = False
        s.queued_ts = each(s.Channel, lambda c: 0)
        s.forget_round()
        s.last = each(s.Channel, lambda c: 0)
        s.synced = each(s.Channel, lambda c: 0)
        s.promised = each(s.Source, s.Channel, lambda p, c: ite(p == s.ddl, 0, s.promised[p, c]))
        s.end_ddl_messages()
        s.fault()

    def end_ddl_messages(s) -> None:
        """The DDL source's unfinished messages are given up; unfenced, sent ones may still be appended."""
        fenced = s.FENCED & s.DDL_FENCED
        s.floor = each(s.Message, lambda m: ite(s.ends_with_ddl(m), 0, s.floor[m]))
        s.ts = each(s.Message, lambda m: ite(s.ends_with_ddl(m) & fenced, 0, s.ts[m]))
        s.message = each(
            s.Message,
            lambda m: ite(
                s.ends_with_ddl(m),
                ite((s.message[m] == "open") & ~fenced, "lost", "dropped"),
                s.message[m],
            ),
        )

    def ends_with_ddl(s, m: Message) -> Bool:
        """The DDL source has begun the message, and it is not in the log."""
        return (s.sender[m] == s.ddl) & one_of(s.message[m], "asked", "open")

    @action(fairness="weak", source="facts 4: initSessions; B46, hazard 30")
    def restart(s) -> None:
        """A coordinator starts: fences sources without a lease, learns the sessions, reads the last ticks."""
        require(~s.up)
        s.up = True
        s.known = each(s.Source, s.is_learned_at_start)
        s.fenced = each(s.Source, lambda p: s.fenced[p] | (s.session[p] == "expired"))
        s.last = each(s.Channel, lambda c: ite(s.RESUMES, s.highest[c], 0))
        s.synced = each(s.Channel, lambda c: s.last[c])

    def is_learned_at_start(s, p: Source) -> Bool:
        return (p == s.ddl) | (s.KNOWS_ALL & (s.session[p] == "registered"))
