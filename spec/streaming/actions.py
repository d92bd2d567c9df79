"""A streaming node: it owns the log of a channel, gives timestamps and writes ticks; state and steps.

Since 2.6 no coordinator collects minima. The node that writes the log draws each message's timestamp itself,
under one lock, and enters it into the list of messages that are not acknowledged yet. Appends end in any
order. From time to time the node draws a timestamp for a tick. The tick carries the greatest timestamp below
which every message is acknowledged: the acknowledged prefix. Tick T promises that no message with ts <= T is
appended any more.

Sources: facts 11; hazard 12; bug B28.

How it is cut:

- Drawing a timestamp and entering it into the list are two steps; ``LOCKED`` excludes other steps between.
- An append whose outcome is unknown closes the log. A term is the time between two openings: the log refuses
  appends of an earlier term (``FENCED``). Appends without an answer stay in the log. Until the next term
  begins, messages and the tick that are under way may still be appended.
- The timestamp that is drawn for a tick counts as issued only if the tick needs it: one that nothing carries
  makes no difference.
- Collecting the prefix and writing the tick are two steps, with other steps in between.
- A place of the log holds a message or a tick. A consumer reads place after place into memory, and stores.
  The flusher's checkpoint is below all unstored messages. The recovery checkpoint is the node's own progress.
- Left out: transactions, the 5 s for which ticks of an idle channel are held back, several channels (each has
  a list and a log of its own).
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
    each,
    everywhere,
    exists,
    forall,
    implies,
    ite,
    maximum,
    minimum,
    one_of,
    option,
    require,
)


class StreamingActions(Protocol, name="streaming"):
    """One channel of a streaming node: timestamps, appends, ticks, terms, a consumer that recovers."""

    Message: TypeAlias = Sort
    Ts: TypeAlias = Nat
    Place: TypeAlias = Nat
    Faults: TypeAlias = Nat
    Stage: TypeAlias = Enum["new", "drawn", "pending", "logged", "acknowledged", "refused"]
    Copy: TypeAlias = Enum["none", "buffered", "stored"]

    LOCKED: Bool = option(
        True,
        assumes="One lock spans the draw of a timestamp and its entry into the list of unacknowledged ones.",
    )
    FENCED: Bool = option(True, assumes="The log refuses appends of an earlier term.")
    CLOSES: Bool = option(
        True, assumes="An append whose outcome is unknown closes the log; it does not count as failed."
    )
    EARLIEST: Bool = option(True)  # recovery starts at the least of both checkpoints

    issued: Ts = 0  # the greatest timestamp that this channel was given
    stage: Map[Message, Stage] = everywhere("new")
    ts: Map[Message, Ts] = everywhere(0)
    mine: Set[Message] = everywhere(False)  # the message belongs to the last term

    # The node's memory.
    is_open: Bool = False
    passed: Ts = 0  # the last tick that was collected, or that began the term
    to_write: Ts = 0  # a collected tick that is not written yet; 0: none
    confirmed: Place = 0  # messages later than the last tick are above this place

    # The log.
    end: Place = 0
    place: Map[Message, Place] = everywhere(0)  # 0: not in the log
    # from here a reader misses nothing that is later than the message
    since: Map[Message, Place] = everywhere(0)
    tick: Ts = 0  # the last tick
    cut: Place = 0  # the log is truncated up to here

    # The consumer.
    reading: Place = 0
    copy: Map[Message, Copy] = everywhere("none")
    flusher: Place = 0
    recovery: Place = 0
    faults: Faults = 0  # times that the log was closed, so that an instance can bound them

    # ---- helpers ----

    def is_waited_for(s, m: Message) -> Bool:
        """The message is in the list of those that are not acknowledged."""
        return s.mine[m] & one_of(s.stage[m], "pending", "logged")

    def is_refused(s, m: Message) -> Bool:
        """The log takes the message no more."""
        return ~s.mine[m] & s.FENCED

    def lock_is_free(s) -> Bool:
        """No drawn timestamp waits to be entered."""
        return ~s.LOCKED | ~exists(s.Message, lambda m: s.mine[m] & (s.stage[m] == "drawn"))

    # ---- messages ----

    @action(source="facts 11", relies_on=("tso.ordered", "tso.logical_never_carries"))
    def draw(s, m: Message, ts: Ts) -> None:
        """A message is given a timestamp: the answer to a call that began after all earlier answers."""
        require(s.is_open & (s.stage[m] == "new"))
        require(s.lock_is_free())
        require(ts > s.issued)
        s.issued = ts
        s.ts[m] = ts
        s.stage[m] = "drawn"
        s.mine[m] = True

    @action(fairness="weak", source="facts 11")
    def enter(s, m: Message) -> None:
        """The timestamp is entered into the list, with the place from which a reader has to start."""
        require(s.is_open & s.mine[m] & (s.stage[m] == "drawn"))
        s.stage[m] = "pending"
        s.since[m] = s.confirmed

    @action(fairness="weak", source="facts 11; hazard 12")
    def append(s, m: Message) -> None:
        """The message is in the log, perhaps before any process knows it."""
        require((s.stage[m] == "pending") | (~s.CLOSES & (s.stage[m] == "refused")))
        require(~s.is_refused(m))
        s.end = s.end + 1
        s.place[m] = s.end
        s.stage[m] = "logged"

    @action(fairness="weak", source="facts 11")
    def acknowledge(s, m: Message) -> None:
        """The answer of the log arrives; the message leaves the list."""
        require(s.is_open & s.mine[m] & (s.stage[m] == "logged"))
        s.stage[m] = "acknowledged"

    @action(source="facts 11")
    def refuse(s, m: Message) -> None:
        """The append fails; the message leaves the list."""
        require(s.is_open & s.mine[m] & (s.stage[m] == "pending"))
        s.stage[m] = "refused"

    # ---- ticks ----

    @action(fairness="weak", source="facts 11; property W")
    def collect(s, ts: Ts, upto: Place) -> None:
        """A timestamp is drawn for a tick, and the acknowledged prefix is found; ``ts`` is in it.

        Readers may start behind ``upto``: no message up to there may be later than ``ts``.
        """
        require(s.is_open & (s.to_write == 0) & s.lock_is_free())
        require(ts > s.passed)
        require(forall(s.Message, lambda m: implies(s.is_waited_for(m), s.ts[m] > ts)))
        require((upto >= s.confirmed) & (upto <= s.end))
        require(forall(s.Message, lambda m: implies(s.is_in_log_above(m, ts), s.place[m] > upto)))
        s.take_tick(ts, upto)

    def is_in_log_above(s, m: Message, ts: Ts) -> Bool:
        return (s.place[m] > 0) & (s.ts[m] > ts)

    def take_tick(s, ts: Ts, upto: Place) -> None:
        """The effect of ``collect``."""
        s.issued = maximum(s.issued, ts)
        s.passed = ts
        s.to_write = ts
        s.confirmed = upto

    @action(fairness="weak", source="facts 11")
    def write_tick(s) -> None:
        """The tick is in the log, perhaps before any process knows it."""
        require(s.to_write > 0)
        s.end = s.end + 1
        s.tick = s.to_write
        s.to_write = 0

    # ---- terms ----

    @action(source="facts 11; hazard 12")
    def close(s) -> None:
        """A crash, an unknown outcome, or another node that takes over: the memory is lost."""
        require(s.is_open)
        s.faults = s.faults + 1
        s.is_open = False
        s.reading = ite(s.EARLIEST, minimum(s.flusher, s.recovery), s.recovery)
        s.copy = each(s.Message, lambda m: ite(s.copy[m] == "buffered", "none", s.copy[m]))

    @action(fairness="weak", source="facts 11; hazard 12", relies_on=("tso.ordered",))
    def reopen(s, ts: Ts) -> None:
        """A new term begins: appends of the last one are refused, and the first tick passes all of them."""
        require(~s.is_open & (ts >= s.issued))
        s.is_open = True
        s.mine = each(s.Message, lambda _: False)
        s.issued = ts
        s.passed = ts
        s.to_write = ts
        s.confirmed = s.end

    # ---- the consumer ----

    @action(fairness="weak", source="facts 11; B28")
    def consume(s) -> None:
        """The next place is read; a message that is stored already is dropped."""
        require(s.is_open & (s.reading < s.end))
        s.reading = s.reading + 1
        s.copy = each(s.Message, s.copy_after_reading)

    def copy_after_reading(s, m: Message) -> Copy:
        """The state of a message after the place ``reading`` was read."""
        return ite((s.place[m] == s.reading) & (s.copy[m] == "none"), "buffered", s.copy[m])

    @action(fairness="weak", source="facts 11; B28")
    def store(s, m: Message) -> None:
        """A message is in object storage."""
        require(s.is_open & (s.copy[m] == "buffered"))
        s.copy[m] = "stored"

    @action(source="facts 11; B28")
    def move_flusher(s, upto: Place) -> None:
        """The flusher's checkpoint moves below all unstored messages."""
        require((upto > s.flusher) & (upto <= s.reading))
        require(forall(s.Message, lambda m: implies(s.copy[m] == "buffered", s.place[m] > upto)))
        s.flusher = upto

    @action(source="facts 11; B28")
    def move_recovery(s, upto: Place) -> None:
        """The recovery checkpoint follows the reader."""
        require((upto > s.recovery) & (upto <= s.reading))
        s.recovery = upto

    @action(source="facts 11; B28")
    def truncate(s, upto: Place) -> None:
        """The log is cut behind both checkpoints."""
        require((upto > s.cut) & (upto <= s.flusher) & (upto <= s.recovery))
        s.cut = upto
