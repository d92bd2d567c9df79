"""Sessions of nodes and a coordinator that follows them: the steps.

A node registers: its session is in the store, under a lease. The store counts its changes: each has a
revision. A session that has ended is never live again; a node that comes back has another one. The
coordinator lists the sessions at one revision, fences those that have ended, and then watches: the watch
reports each later change, one by one. The store forgets old changes (compaction); a watch that has fallen
behind is refused, and the coordinator lists again.

Sources: seed 004 (service discovery); facts 3.4, 4 (initSessions and others); hazards 10, 11, 30; B46.

How it is cut:

- ``Node`` is one session: an id of the store. The store makes ids new (a key that grows).
- Whether a process knows the end of its lease makes no difference here: it may run until it is fenced.
- The list is one step, each fence is one, and the watch begins with another. Sessions come and go between.
- A coordinator that has lost its watch does not serve until it has listed and fenced again.
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
    each,
    everywhere,
    forall,
    implies,
    ite,
    one_of,
    option,
    require,
)


class SessionsActions(Protocol, name="sessions"):
    """Sessions of one store, and one coordinator at a time that lists, fences and watches."""

    Node: TypeAlias = Sort
    Revision: TypeAlias = Nat
    Faults: TypeAlias = Nat
    Phase: TypeAlias = Enum["down", "begun", "listed", "serving"]

    LISTS_FIRST: Bool = option(True)  # fence ended sessions of the list; else those that ended before it
    FENCES_FIRST: Bool = option(True)  # a session is forgotten when it is fenced
    FOLLOWS_THE_LIST: Bool = option(True)  # the watch begins behind the list; else with what comes next
    LISTS_AGAIN: Bool = option(True)  # a watch that is refused begins with a list; else with what there is
    IN_ORDER: Bool = option(True, assumes="A watch tells of each change once, in the order of the revisions.")

    # The store.
    revision: Revision = 0
    began: Map[Node, Revision] = everywhere(0)  # the change that registered the session; 0: none
    ended: Map[Node, Revision] = everywhere(0)  # the change that ended it
    compacted: Revision = 0  # changes up to here are forgotten

    # The logs, and the nodes.
    fenced: Set[Node] = everywhere(False)
    admitted: Set[Node] = everywhere(False)  # a coordinator has taken a report: the node serves

    # The coordinator (lost in a crash).
    phase: Phase = "down"
    first: Revision = 0  # sessions that ended up to here have to be fenced before it serves
    seen: Revision = 0
    view: Set[Node] = everywhere(False)
    faults: Faults = 0

    # ---- helpers ----

    def was_live(s, n: Node, r: Revision) -> Bool:
        """The session was live at the revision."""
        return all_of(s.began[n] > 0, s.began[n] <= r, ~s.was_over(n, r))

    def was_over(s, n: Node, r: Revision) -> Bool:
        """The session had ended at the revision."""
        return (s.ended[n] > 0) & (s.ended[n] <= r)

    def is_next(s, r: Revision) -> Bool:
        """The watch reports the change with this revision next."""
        return (s.compacted <= s.seen) & s.may_be_told(r)

    def may_be_told(s, r: Revision) -> Bool:
        """The watch has reported the change, perhaps before the store forgot it."""
        return (r > s.seen) & ((r == s.seen + 1) | ~s.IN_ORDER)

    # ---- the store ----

    @action(source="facts 3.4")
    def register(s, n: Node) -> None:
        """A node begins a session."""
        require(s.began[n] == 0)
        s.revision = s.revision + 1
        s.began[n] = s.revision

    @action(source="facts 2.4; hazard 11")
    def expire(s, n: Node) -> None:
        """The lease ends, whether the process runs or not; or the node has left."""
        require((s.began[n] > 0) & (s.ended[n] == 0))
        s.revision = s.revision + 1
        s.ended[n] = s.revision

    @action(source="seed 004: service discovery")
    def compact(s, upto: Revision) -> None:
        """The store forgets the changes up to a revision."""
        require((upto > s.compacted) & (upto <= s.revision))
        s.compacted = upto

    # ---- the coordinator ----

    @action(fairness="weak", source="facts 4: initSessions")
    def begin(s) -> None:
        """A coordinator starts."""
        require(s.phase == "down")
        s.phase = "begun"
        s.first = s.revision

    @action(fairness="weak", source="facts 4: initSessions; B46")
    def list_sessions(s) -> None:
        """It learns every live session, as the store has them at one revision."""
        require(s.phase == "begun")
        s.phase = "listed"
        s.first = ite(s.LISTS_FIRST, s.revision, s.first)
        s.seen = s.revision
        s.view = each(s.Node, lambda n: s.was_live(n, s.revision))

    @action(fairness="weak", source="facts 4; hazard 11")
    def fence(s, n: Node) -> None:
        """The logs refuse a session that has ended: of the list, or whose end the watch reports next."""
        require(one_of(s.phase, "listed", "serving") & ~s.fenced[n])
        require(
            s.was_over(n, s.first)
            | (s.phase == "serving") & (s.ended[n] > 0) & (s.may_be_told(s.ended[n]) | (s.ended[n] <= s.seen))
        )
        s.fenced[n] = True

    @action(fairness="weak", source="facts 4: initSessions; hazard 30")
    def serve(s) -> None:
        """All ended sessions are fenced: the coordinator takes reports, and watches."""
        require(s.phase == "listed")
        require(forall(s.Node, lambda n: implies(s.was_over(n, s.first), s.fenced[n])))
        s.phase = "serving"
        s.seen = ite(s.FOLLOWS_THE_LIST, s.seen, s.revision)

    @action(fairness="weak", source="facts 4: addSession; hazard 10")
    def learn(s, n: Node) -> None:
        """The watch reports a session that has begun."""
        require((s.phase == "serving") & s.is_next(s.began[n]))
        s.seen = s.began[n]
        s.view[n] = True

    @action(fairness="weak", source="facts 4: delSession; hazard 11")
    def forget(s, n: Node) -> None:
        """The watch reports the end of a session; the logs refuse it already."""
        require((s.phase == "serving") & s.may_be_told(s.ended[n]))
        require(s.fenced[n] | ~s.FENCES_FIRST)
        s.seen = s.ended[n]
        s.view[n] = False

    @action(fairness="weak", source="seed 004: service discovery")
    def lose_watch(s) -> None:
        """The store has forgotten the next change of the watch: the watch is refused."""
        require((s.phase == "serving") & (s.seen < s.compacted))
        s.phase = ite(s.LISTS_AGAIN, "begun", s.phase)
        s.first = ite(s.LISTS_AGAIN, s.revision, s.first)
        s.seen = ite(s.LISTS_AGAIN, s.seen, s.compacted)

    @action(source="facts 3.4; hazard 10")
    def accept(s, n: Node) -> None:
        """The coordinator takes a report of a session that it knows: the node serves from now on."""
        require((s.phase == "serving") & s.view[n] & ~s.admitted[n])
        s.admitted[n] = True

    @action(source="facts 4; B46")
    def crash(s) -> None:
        """The coordinator stops; its memory is lost."""
        require(s.phase != "down")
        s.phase = "down"
        s.first = 0
        s.seen = 0
        s.view = each(s.Node, lambda n: False)
        s.faults = s.faults + 1
