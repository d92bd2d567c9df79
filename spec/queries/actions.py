"""Queries over channels: the steps.

A proxy gives each request a number, enters it in the map of waiting requests, and writes it to the request
channel of the collection. Every query node that has the collection reads it and writes a result, with the
number, to the result channel. The proxy gives each result to the request of that number, until each shard is
in a result. A request may run out of time. A release takes the collection from the nodes, and the streams of
its channels from the proxy.

Source: seed 004, 6.2, 6.4, 6.6.1 and 6.6.2.

How it is cut:

- One collection, one proxy. Requests of other collections and proxies that share the result channel are
  requests whose results come to this proxy as well: the number distinguishes them.
- A ``Shard`` is the unit for which one node answers: a virtual channel with its segments, or a sealed
  segment. A row represents the rows that are counted and loaded together.
- ``Result`` is one message: ``by`` names its request. It stays in the channel, and may come to the proxy
  late, twice, or never. A node may answer a request any number of times.
- ``Stream`` is the object through which the proxy writes requests and reads results. A closed one is not used
  again.
- Writes after the load, and which of them a read must see, are in ``spec/reads``.
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
    implies,
    ite,
    one_of,
    option,
    require,
)


class QueriesActions(Protocol, name="queries"):
    """One collection: loaded, queried over its channels, released; query nodes that crash."""

    Request: TypeAlias = Sort
    Result: TypeAlias = Sort
    Node: TypeAlias = Sort
    Shard: TypeAlias = Sort
    Row: TypeAlias = Sort
    Stream: TypeAlias = Sort
    Number: TypeAlias = Nat
    Times: TypeAlias = Nat
    Faults: TypeAlias = Nat
    Phase: TypeAlias = Enum["released", "loading", "loaded", "releasing"]
    Copy: TypeAlias = Enum["none", "fetching", "held"]
    Object: TypeAlias = Enum["new", "asked", "open", "removed", "closed"]
    Stage: TypeAlias = Enum["new", "begun", "holding", "waiting", "answered", "failed"]

    REGISTERS_FIRST: Bool = option(True)  # a request is in the map before it is written to the channel
    TAKES_OUT: Bool = option(True)  # a request that has run out of time leaves the map
    WAITS_FOR_WRITERS: Bool = option(True)  # a stream is closed when no request uses it any more
    ENDS_WAITING: Bool = option(True)  # a release takes the requests of the collection out of the map
    FORGETS_ASKED: Bool = option(True)  # a release also forgets a stream that is about to be opened
    STOPS_FETCHES: Bool = option(True)  # a release also ends the fetches under way at a node
    HAS_DEADLINE: Bool = option(True)  # a request that waits for results may run out of time
    DIES: Bool = option(
        True, assumes="A query node whose session has ended holds nothing, and answers nothing."
    )

    by: Map[Result, Request] = constant()
    node: Map[Result, Node] = constant()
    shard: Map[Row, Shard] = constant()

    # The coordinators.
    phase: Phase = "released"
    stored: Set[Row] = everywhere(False)  # a file in the object storage has it
    persisted: Set[Row] = everywhere(False)  # the data coordinator counts it as persisted
    wanted: Set[Row] = everywhere(False)  # the rows that were persisted when the load was asked for

    # The query nodes.
    told: Set[Node] = everywhere(False)  # the node has the collection, as far as the coordinator knows
    copy: Map[Node, Row, Copy] = everywhere("none")
    serves: Set[Node, Shard] = everywhere(False)

    # The proxy.
    object: Map[Stream, Object] = everywhere("new")
    uses: Set[Request, Stream] = everywhere(False)  # the request has the stream, to write
    stage: Map[Request, Stage] = everywhere("new")
    number: Map[Request, Number] = everywhere(0)
    entry: Set[Request] = everywhere(False)  # the request is in the map of those that wait for results
    got: Set[Request, Shard] = everywhere(False)
    found: Set[Request, Row] = everywhere(False)
    times: Map[Request, Times] = everywhere(0)  # how often the caller was answered
    due: Set[Request, Row] = everywhere(False)  # the rows that were wanted when the request began

    # The channels.
    written: Set[Request] = everywhere(False)
    sent: Set[Result] = everywhere(False)
    covers: Set[Result, Shard] = everywhere(False)
    carries: Set[Result, Row] = everywhere(False)
    faults: Faults = 0

    # ---- helpers ----

    def is_over(s, r: Request) -> Bool:
        """The caller no longer waits."""
        return one_of(s.stage[r], "answered", "failed")

    def is_full(s, r: Request) -> Bool:
        """Each shard is in a result that has come."""
        return forall(s.Shard, lambda c: s.got[r, c])

    def is_enough(s, r: Request) -> Bool:
        """The request need not wait any longer."""
        return s.is_full(r)

    def is_whole(s, n: Node, c: Shard) -> Bool:
        """The node has everything of the shard that was persisted when the load was asked for."""
        return forall(s.Row, lambda w: implies(s.wanted[w] & (s.shard[w] == c), s.copy[n, w] == "held"))

    def is_new_number(s, r: Request, k: Number) -> Bool:
        return forall(s.Request, lambda q: implies((q != r) & (s.number[q] > 0), s.number[q] != k))

    # ---- load and release: the coordinators ----

    @action(source="facts 7.6")
    def store(s, w: Row) -> None:
        """A data node has written a row to the object storage, and the coordinator has recorded it."""
        require(~s.stored[w])
        s.stored[w] = True

    @action(source="seed 004, 6.3; facts 10.3", relies_on=("flush.flushed_is_complete",))
    def persist(s, w: Row) -> None:
        """The row's segment is recorded as flushed: it counts as persisted."""
        require(~s.persisted[w])
        require(s.stored[w])
        s.persisted[w] = True

    @action(source="seed 004, 6.4")
    def load(s) -> None:
        """A client asks for the load: the rows that are persisted now must be found after it."""
        require(s.phase == "released")
        s.phase = "loading"
        s.wanted = s.persisted

    @action(fairness="weak", source="seed 004, 6.4")
    def tell(s, n: Node) -> None:
        """A query node gets the call to take the collection."""
        require(one_of(s.phase, "loading", "loaded") & ~s.told[n])
        s.told[n] = True

    @action(fairness="weak", source="seed 004, 6.4")
    def end_load(s) -> None:
        """The load is acknowledged: each shard is served."""
        require(s.phase == "loading")
        require(s.is_loaded())
        s.phase = "loaded"

    def is_loaded(s) -> Bool:
        return forall(s.Shard, lambda c: exists(s.Node, lambda n: s.serves[n, c]))

    @action(source="seed 004, 6.4")
    def release(s) -> None:
        """A client asks for the release."""
        require(one_of(s.phase, "loading", "loaded"))
        s.phase = "releasing"

    @action(fairness="weak", source="seed 004, 6.4")
    def end_release(s) -> None:
        """The release is acknowledged: nodes and proxy have answered."""
        require(s.phase == "releasing")
        require(forall(s.Node, lambda n: ~s.told[n]))
        require(forall(s.Stream, lambda u: ~s.has_to_go(u)))
        s.phase = "released"

    def has_to_go(s, u: Stream) -> Bool:
        """The proxy has to remove such a stream."""
        return (s.object[u] == "open") | ((s.object[u] == "asked") & s.FORGETS_ASKED)

    # ---- the query nodes ----

    @action(fairness="weak", source="seed 004, 6.4")
    def fetch(s, n: Node, w: Row) -> None:
        """A node begins to fetch a row: from its file, or from the log if it is in no flushed segment."""
        require(s.told[n] & (s.copy[n, w] == "none"))
        require(s.stored[w] | ~s.persisted[w])
        s.copy[n, w] = "fetching"

    @action(fairness="weak", source="seed 004, 6.4")
    def hold_row(s, n: Node, w: Row) -> None:
        """The row is in the node's memory."""
        require(s.copy[n, w] == "fetching")
        s.copy[n, w] = "held"

    @action(fairness="weak", source="seed 004, 6.4")
    def serve(s, n: Node, c: Shard) -> None:
        """A node serves a shard."""
        require(s.told[n] & ~s.serves[n, c])
        require(s.is_whole(n, c))
        s.serves[n, c] = True

    @action(source="seed 004, 6.4")
    def stop_serving(s, n: Node, c: Shard) -> None:
        """A shard is taken from a node, to balance the load; another one has it, or will."""
        require((s.phase == "loaded") & s.serves[n, c])
        s.serves[n, c] = False
        s.copy = each(s.Node, s.Row, lambda m, w: ite((m == n) & (s.shard[w] == c), "none", s.copy[m, w]))

    @action(source="seed 004, 6.2", fairness="weak")
    def answer(s, x: Result) -> None:
        """A node has read a request, and writes a result: its shards, and their rows."""
        require(~s.sent[x] & s.written[s.by[x]])
        require(exists(s.Shard, lambda c: s.serves[s.node[x], c]))
        s.sent[x] = True
        s.covers = each(s.Result, s.Shard, lambda y, c: ite(y == x, s.serves[s.node[x], c], s.covers[y, c]))
        s.carries = each(
            s.Result,
            s.Row,
            lambda y, w: ite(y == x, s.brings(s.node[x], w), s.carries[y, w]),
        )

    def brings(s, n: Node, w: Row) -> Bool:
        """A result of the node has the row."""
        return s.serves[n, s.shard[w]] & (s.copy[n, w] == "held")

    @action(fairness="weak", source="seed 004, 6.4")
    def unload(s, n: Node) -> None:
        """A node gets the release: it drops its rows and stops its fetches."""
        require((s.phase == "releasing") & s.told[n])
        s.drop(n, s.STOPS_FETCHES)

    def drop(s, n: Node, and_fetches: Bool) -> None:
        """The node no longer has the collection."""
        s.told[n] = False
        s.serves = each(s.Node, s.Shard, lambda m, c: s.serves[m, c] & (m != n))
        s.copy = each(
            s.Node,
            s.Row,
            lambda m, w: ite((m == n) & ((s.copy[m, w] == "held") | and_fetches), "none", s.copy[m, w]),
        )

    @action(source="seed 004, 6.0: service discovery")
    def crash(s, n: Node) -> None:
        """The session of a node ends. Its results stay in the result channel."""
        require(s.told[n])
        s.faults = s.faults + 1
        copy, serves = s.copy, s.serves
        s.drop(n, True)
        s.copy = ite(s.DIES, s.copy, copy)
        s.serves = ite(s.DIES, s.serves, serves)

    # ---- the proxy: streams ----

    @action(fairness="weak", source="seed 004, 6.2; seed 004, 6.6.2")
    def ask_channels(s, u: Stream) -> None:
        """The query coordinator answers which channels the collection has; the answer is on its way."""
        require(one_of(s.phase, "loading", "loaded") & (s.object[u] == "new"))
        require(forall(s.Stream, lambda v: ~one_of(s.object[v], "asked", "open")))
        s.object[u] = "asked"

    @action(fairness="weak", source="seed 004, 6.6.2: createDQLStream")
    def open_stream(s, u: Stream) -> None:
        """The proxy makes the stream."""
        require(s.object[u] == "asked")
        s.object[u] = "open"

    @action(
        fairness="weak", source="seed 004, 6.4: ReleaseDqlMessageStream; seed 004, 6.6.2: removeDQLStream"
    )
    def remove_stream(s, u: Stream) -> None:
        """The proxy gets the release: no request gets the stream any more, and waiting requests end."""
        require((s.phase == "releasing") & s.has_to_go(u))
        s.object[u] = ite(s.object[u] == "open", "removed", "closed")
        s.entry = each(s.Request, lambda r: s.entry[r] & ~s.ENDS_WAITING)

    @action(fairness="weak", source="seed 004, 6.6.2: not immediately closed")
    def close_stream(s, u: Stream) -> None:
        """A removed stream is closed."""
        require(s.object[u] == "removed")
        require(~s.WAITS_FOR_WRITERS | forall(s.Request, lambda r: ~s.uses[r, u]))
        s.object[u] = "closed"

    # ---- the proxy: requests ----

    @action(source="seed 004, 6.6.1: OnEnqueue", relies_on=("ids.ids_are_unique",))
    def begin(s, r: Request, k: Number) -> None:
        """A client's request comes, and gets a number."""
        require((s.stage[r] == "new") & (k > 0))
        require(s.is_new_number(r, k))
        s.stage[r] = "begun"
        s.number[r] = k
        s.due = each(s.Request, s.Row, lambda q, w: ite(q == r, s.wanted[w], s.due[q, w]))

    @action(fairness="weak", source="seed 004, 6.6.2: getDQLStream")
    def hold(s, r: Request, u: Stream) -> None:
        """The request has the stream, and is in the map."""
        require((s.stage[r] == "begun") & (s.object[u] == "open"))
        s.stage[r] = "holding"
        s.uses[r, u] = True
        s.entry[r] = s.REGISTERS_FIRST

    @action(fairness="weak", source="seed 004, 6.2")
    def write(s, r: Request) -> None:
        """The request is in the channel."""
        require((s.stage[r] == "holding") & ~s.written[r])
        s.written[r] = True

    @action(fairness="weak", source="seed 004, 6.2")
    def wait(s, r: Request) -> None:
        """The write returns: the request releases the stream, and waits."""
        require((s.stage[r] == "holding") & s.written[r])
        s.stage[r] = "waiting"
        s.uses = each(s.Request, s.Stream, lambda q, u: s.uses[q, u] & (q != r))
        s.entry[r] = s.entry[r] | ~s.REGISTERS_FIRST

    @action(fairness="weak", source="seed 004, 6.6.1: distribute messages according to the ReqID")
    def deliver(s, x: Result) -> None:
        """A result comes to the request of its number that is in the map; if each shard has come, the request
        leaves the map. Without such a request the result is dropped.
        """
        require(s.sent[x])
        entry, got = s.entry, s.got
        s.got = each(
            s.Request, s.Shard, lambda r, c: got[r, c] | (entry[r] & s.is_for(x, r) & s.covers[x, c])
        )
        s.found = each(
            s.Request, s.Row, lambda r, w: s.found[r, w] | (entry[r] & s.is_for(x, r) & s.carries[x, w])
        )
        s.entry = each(s.Request, lambda r: entry[r] & ~(s.is_for(x, r) & s.is_enough(r)))

    def is_for(s, x: Result, r: Request) -> Bool:
        """The result has the number of the request."""
        return s.number[s.by[x]] == s.number[r]

    @action(fairness="weak", source="seed 004, 6.6.1: the waken task will reduce the search results")
    def reply(s, r: Request) -> None:
        """The request was taken out of the map: its caller gets the rows, or an error."""
        require((s.stage[r] == "waiting") & ~s.entry[r])
        s.stage[r] = ite(s.is_enough(r), "answered", "failed")
        s.times[r] = s.times[r] + 1

    @action(fairness="weak", source="seed 004, 6.6.1")
    def give_up(s, r: Request) -> None:
        """The request has run out of time, or the collection is not loaded: the caller gets an error."""
        require(one_of(s.stage[r], "begun", "holding") | ((s.stage[r] == "waiting") & s.HAS_DEADLINE))
        s.stage[r] = "failed"
        s.times[r] = s.times[r] + 1
        s.entry[r] = s.entry[r] & ~s.TAKES_OUT
        s.uses = each(s.Request, s.Stream, lambda q, u: s.uses[q, u] & (q != r))
