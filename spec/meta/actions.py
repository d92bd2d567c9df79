"""Metadata in the caches of proxies: the steps.

The root coordinator holds the schema of a collection, and changes it from version to version. Each proxy
caches the last version that it got, and serves requests from there. Without one a request asks the
coordinator, or joins a fetch that another request of the proxy has begun (a single flight). A change is
stored, then each proxy that the coordinator knows is told to forget its entry, and then the change is
acknowledged.

Sources: seed 002, DDL; seed 004, 6.6.4; facts 12; hazard 36; B42.

How it is cut:

- One collection. A name that points elsewhere, a drop, and a new collection of the same name are versions
  too: the old answer must no longer be served.
- Changes go one by one, in the order of the DDL queue (``spec/ddl``). The version is the time of the change.
- An answer and an invalidation carry the version; an invalidation may come again.
- A request that is served keeps its version; the use of it by a worker follows.
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
    forall,
    implies,
    ite,
    maximum,
    one_of,
    option,
    require,
)


class MetaActions(Protocol, name="meta"):
    """One collection: versions, caches of proxies, fetches, requests, changes and invalidations."""

    Proxy: TypeAlias = Sort
    Fetch: TypeAlias = Sort
    Request: TypeAlias = Sort
    Version: TypeAlias = Nat
    Faults: TypeAlias = Nat
    Flight: TypeAlias = Enum["idle", "asked", "answered"]
    Stage: TypeAlias = Enum["new", "begun", "waiting", "served", "failed"]

    VERSIONED: Bool = option(True)  # a proxy refuses an answer that is older than the last invalidation
    FORGETS_FLIGHTS: Bool = option(True)  # an invalidation ends the sharing of the fetches under way
    STAMPED_LAST: Bool = option(True)  # the change takes its timestamp when all proxies have answered
    LISTED_FIRST: Bool = option(
        True, assumes="A proxy asks for metadata only after the coordinator knows that it has to be told."
    )
    ENDED: Bool = option(
        True, assumes="A proxy whose session has ended serves nothing when the coordinator stops telling it."
    )

    by: Map[Fetch, Proxy] = constant()
    at: Map[Request, Proxy] = constant()

    # The coordinator.
    current: Version = 0
    changing: Bool = False  # the change is stored, and not acknowledged
    acknowledged: Version = 0
    stamped: Version = 0  # changes that have their timestamp
    listed: Set[Proxy] = everywhere(False)
    told: Set[Proxy] = everywhere(False)  # of the change under way
    faults: Faults = 0  # sessions that have ended

    # The proxies.
    alive: Set[Proxy] = everywhere(False)
    has: Set[Proxy] = everywhere(False)
    cache: Map[Proxy, Version] = everywhere(0)
    floor: Map[Proxy, Version] = everywhere(0)  # the last invalidation
    flight: Map[Fetch, Flight] = everywhere("idle")
    value: Map[Fetch, Version] = everywhere(0)
    shared: Set[Fetch] = everywhere(False)  # others may join

    # The requests.
    stage: Map[Request, Stage] = everywhere("new")
    waits: Set[Request, Fetch] = everywhere(False)
    since: Map[Request, Version] = everywhere(0)  # history: acknowledged when the request began
    # history: changes that had their timestamp before the request's
    after: Map[Request, Version] = everywhere(0)
    version: Map[Request, Version] = everywhere(0)  # the version that it was served

    # ---- helpers ----

    def may_serve(s, p: Proxy) -> Bool:
        """The proxy runs, and the coordinator has to invalidate its cache."""
        return s.alive[p] & (s.listed[p] | ~s.LISTED_FIRST)

    def is_taken(s, f: Fetch) -> Bool:
        """The proxy takes the answer into its cache."""
        return ~s.VERSIONED | (s.value[f] >= s.floor[s.by[f]])

    # ---- proxies come and go ----

    @action(source="seed 004")
    def start(s, p: Proxy) -> None:
        """A proxy starts, with an empty cache."""
        require(~s.alive[p] & ~s.listed[p])
        s.alive[p] = True

    @action(fairness="weak", source="seed 004")
    def learn(s, p: Proxy) -> None:
        """The coordinator learns of the proxy."""
        require(s.alive[p] & ~s.listed[p])
        s.listed[p] = True

    @action(source="facts 12")
    def leave(s, p: Proxy) -> None:
        """The proxy's session ends, and the coordinator invalidates it no more."""
        require(s.alive[p] & s.listed[p])
        s.faults = s.faults + 1
        s.listed[p] = False
        s.told[p] = False
        s.alive[p] = ~s.ENDED
        s.has[p] = s.has[p] & ~s.ENDED
        s.cache[p] = ite(s.ENDED, 0, s.cache[p])
        s.floor[p] = ite(s.ENDED, 0, s.floor[p])
        s.flight = each(s.Fetch, lambda f: ite((s.by[f] == p) & s.ENDED, "idle", s.flight[f]))
        s.value = each(s.Fetch, lambda f: ite((s.by[f] == p) & s.ENDED, 0, s.value[f]))
        s.shared = each(s.Fetch, lambda f: s.shared[f] & ~((s.by[f] == p) & s.ENDED))
        s.stage = each(
            s.Request,
            lambda r: ite(
                all_of(s.at[r] == p, one_of(s.stage[r], "begun", "waiting"), s.ENDED), "failed", s.stage[r]
            ),
        )
        s.waits = each(s.Request, s.Fetch, lambda r, f: s.waits[r, f] & ~((s.at[r] == p) & s.ENDED))

    # ---- requests ----

    @action(source="seed 004, 6.6.4")
    def begin(s, r: Request) -> None:
        """A client's request comes to its proxy."""
        require((s.stage[r] == "new") & s.may_serve(s.at[r]))
        s.stage[r] = "begun"
        s.since[r] = s.acknowledged
        s.after[r] = s.stamped

    @action(fairness="weak", source="seed 004, 6.6.4")
    def hit(s, r: Request) -> None:
        """The cache has an answer."""
        require((s.stage[r] == "begun") & s.has[s.at[r]])
        s.stage[r] = "served"
        s.version[r] = s.cache[s.at[r]]

    @action(fairness="weak", source="seed 004, 6.6.4")
    def ask(s, r: Request, f: Fetch) -> None:
        """The cache is empty: the request asks the coordinator."""
        require((s.stage[r] == "begun") & ~s.has[s.at[r]])
        require((s.by[f] == s.at[r]) & (s.flight[f] == "idle"))
        s.flight[f] = "asked"
        s.shared[f] = True
        s.stage[r] = "waiting"
        s.waits[r, f] = True

    @action(source="facts 12; B42")
    def join(s, r: Request, f: Fetch) -> None:
        """Another request of the proxy has asked already: this one waits for the same answer."""
        require((s.stage[r] == "begun") & ~s.has[s.at[r]])
        require((s.by[f] == s.at[r]) & s.shared[f])
        s.stage[r] = "waiting"
        s.waits[r, f] = True

    @action(fairness="weak", source="facts 12")
    def answer(s, f: Fetch) -> None:
        """The coordinator answers with the present version; the answer is on its way."""
        require(s.flight[f] == "asked")
        s.flight[f] = "answered"
        s.value[f] = s.current

    @action(fairness="weak", source="facts 12; hazard 36")
    def insert(s, f: Fetch) -> None:
        """The answer arrives. The cache takes it if it knows of nothing newer; all who wait are served."""
        require(s.flight[f] == "answered")
        s.has[s.by[f]] = s.has[s.by[f]] | s.is_taken(f)
        s.cache[s.by[f]] = ite(s.is_taken(f), s.value[f], s.cache[s.by[f]])
        s.version = each(s.Request, lambda r: ite(s.waits[r, f], s.value[f], s.version[r]))
        s.stage = each(s.Request, lambda r: ite(s.waits[r, f], "served", s.stage[r]))
        s.waits = each(s.Request, s.Fetch, lambda r, g: s.waits[r, g] & (g != f))
        s.flight[f] = "idle"
        s.shared[f] = False
        s.value[f] = 0

    @action(source="facts 12; B42")
    def fail(s, r: Request, f: Fetch) -> None:
        """The question fails, or its asker is cancelled: that request fails, the others begin again."""
        require(s.waits[r, f] & (s.flight[f] != "idle"))

        def stage(q: MetaActions.Request) -> MetaActions.Stage:
            others: MetaActions.Stage = ite(s.waits[q, f], "begun", s.stage[q])
            return ite(q == r, "failed", others)

        s.stage = each(s.Request, stage)
        s.waits = each(s.Request, s.Fetch, lambda q, g: s.waits[q, g] & (g != f))
        s.flight[f] = "idle"
        s.shared[f] = False
        s.value[f] = 0

    @action(source="seed 004, 6.6.1")
    def cancel(s, r: Request) -> None:
        """A request's client leaves; the fetch continues for others that wait for it."""
        require(one_of(s.stage[r], "begun", "waiting"))
        s.stage[r] = "failed"
        s.waits = each(s.Request, s.Fetch, lambda q, f: s.waits[q, f] & (q != r))

    # ---- changes ----

    @action(source="seed 002, DDL")
    def change(s) -> None:
        """The coordinator stores the next version, when the one before has its timestamp."""
        require(~s.changing & (s.stamped == s.current))
        s.changing = True
        s.current = s.current + 1

    @action(fairness="weak", source="facts 12")
    def invalidate(s, p: Proxy) -> None:
        """A proxy drops its entry and the fetches under way; the coordinator gets its answer."""
        require(s.changing & s.listed[p] & ~s.told[p])
        s.told[p] = True
        s.has[p] = False
        s.cache[p] = 0
        s.floor[p] = maximum(s.floor[p], s.current)
        s.shared = each(s.Fetch, lambda f: s.shared[f] & ~((s.by[f] == p) & s.FORGETS_FLIGHTS))

    @action(fairness="weak", source="facts 12")
    def acknowledge(s) -> None:
        """Every proxy has answered: the change ends."""
        require(s.changing & forall(s.Proxy, lambda p: implies(s.listed[p], s.told[p])))
        s.changing = False
        s.acknowledged = s.current
        s.told = each(s.Proxy, lambda p: False)

    @action(source="seed 002, DDL")
    def stamp(s) -> None:
        """The change takes its timestamp: requests with a greater one have to see it."""
        require(s.stamped < s.current)
        require(~s.STAMPED_LAST | ~s.changing)
        s.stamped = s.current
