"""Aliases of collections: the steps.

A name is that of a collection, an alias of one, or free. The root coordinator changes one name after another:
it stores the change, invalidates the name at every proxy, and acknowledges it. A request names a collection.
Its proxy looks the name up, in its cache or at the coordinator. If the name is an alias it looks up the
collection's own name, too, and compares: an alias may be altered, its collection dropped, and another one
created under the same name between the two.

Sources: facts 12; B64 to B67.

How it is cut:

- One request alone looks a name up. Shared fetches and proxies that come and go: ``spec/meta``.
- No step relies on a guarantee of ``spec/meta``. The caches, the invalidations and the acknowledgement are
  steps of this protocol, for any number of names, and its claims about them are proved here. ``ALL_LISTED``
  rests on facts about sessions that ``spec/meta`` assumes, too.
- In ``spec/aliases/variants/finer_steps.py``, proved as well: a proxy remembers that a name means nothing, an
  alias may be altered to its present target, the cluster restarts.
- A collection is one element of its sort and has one name; of its schema only the time of its change matters.
- ``meant`` is history: the meanings of the request's name since it began. A change counts from its storing,
  the replaced meaning up to the acknowledgement.
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
    ite,
    maximum,
    one_of,
    option,
    require,
)


class AliasesActions(Protocol, name="aliases"):
    """Names of collections and aliases: changes, caches of proxies, invalidations, requests."""

    Proxy: TypeAlias = Sort
    Name: TypeAlias = Sort
    Collection: TypeAlias = Sort
    Request: TypeAlias = Sort
    Version: TypeAlias = Nat
    Stage: TypeAlias = Enum["new", "begun", "answered", "served", "refused"]

    COMPARES: Bool = option(True)  # the collection that is found must be the one that the alias has named
    COPIES: Bool = option(False)  # the entry of an alias holds the collection's metadata, as in Milvus
    REFUSES: Bool = option(True)  # a collection that has an alias is not dropped

    ALL_LISTED: Bool = option(
        True, assumes="The coordinator knows every proxy that serves: it tells each of them of a change."
    )

    called: Map[Collection, Name] = constant()
    at: Map[Request, Proxy] = constant()
    asks: Map[Request, Name] = constant()

    # The coordinator.
    now: Version = 0  # changes that are stored
    changing: Bool = False  # the last one is not acknowledged
    made: Set[Collection] = everywhere(False)
    live: Set[Collection] = everywhere(False)
    alias: Set[Name, Collection] = everywhere(False)
    changed: Map[Name, Version] = everywhere(0)  # the last change of the name
    settled: Map[Name, Version] = everywhere(0)  # the last one that was acknowledged
    told: Set[Proxy] = everywhere(False)  # of the change under way
    # history: what the name meant when its last change was acknowledged
    shown: Set[Name, Collection] = everywhere(False)

    # The proxies.
    keeps: Set[Proxy, Name, Collection] = everywhere(False)
    moment: Map[Proxy, Name, Version] = everywhere(0)  # changes that were stored when the entry was given
    floor: Map[Proxy, Name, Version] = everywhere(0)  # the last invalidation

    # The requests.
    stage: Map[Request, Stage] = everywhere("new")
    through: Set[Request] = everywhere(False)  # the name is an alias: the collection's own name is looked up
    # the alias named this collection; at the end the served one
    pick: Set[Request, Collection] = everywhere(False)
    brings: Set[Request, Collection] = everywhere(False)  # the answer on its way
    given: Map[Request, Version] = everywhere(0)
    before: Map[Request, Name, Version] = everywhere(0)  # history: acknowledged when the request began
    meant: Set[Request, Collection] = everywhere(False)
    last: Map[Request, Version] = everywhere(0)  # the moment of the metadata that are served

    # ---- helpers ----

    def means(s, n: Name, x: Collection) -> Bool:
        """The name is that of the collection, or an alias of it."""
        return (s.live[x] & (s.called[x] == n)) | s.alias[n, x]

    def is_free(s, n: Name) -> Bool:
        return forall(s.Collection, lambda x: ~s.means(n, x))

    def is_kept(s, p: Proxy, n: Name) -> Bool:
        return exists(s.Collection, lambda x: s.keeps[p, n, x])

    def is_active(s, r: Request) -> Bool:
        """The request has begun and has not ended."""
        return one_of(s.stage[r], "begun", "answered")

    def looks_up(s, r: Request, n: Name) -> Bool:
        """The request has to know the meaning of this name."""
        own = exists(s.Collection, lambda x: s.pick[r, x] & (s.called[x] == n))
        return ite(s.through[r], own, s.asks[r] == n)

    def is_taken(s, r: Request, n: Name) -> Bool:
        """The proxy takes the request's answer into its cache."""
        return s.given[r] >= s.floor[s.at[r], n]

    def _changes(s, n: Name) -> None:
        """The coordinator stores a change of this name."""
        s.now = s.now + 1
        s.changing = True
        s.changed[n] = s.now
        s.meant = each(
            s.Request,
            s.Collection,
            lambda r, x: s.meant[r, x] | all_of(s.is_active(r), s.asks[r] == n, s.means(n, x)),
        )

    def _goes_on(s, r: Request, n: Name, x: Collection, moment: Version) -> None:
        """The name means x: the request is served, looks up the collection's own name, or begins again."""
        own = (s.called[x] == n) | s.COPIES
        is_last = ite(s.through[r], s.pick[r, x] | ~s.COMPARES, own)
        further = ~s.through[r] & ~own
        s.stage[r] = ite(is_last, "served", "begun")
        s.last[r] = ite(is_last, moment, 0)
        s.pick = each(
            s.Request,
            s.Collection,
            lambda q, y: ite(q == r, (y == x) & (is_last | further), s.pick[q, y]),
        )
        s.through[r] = further

    # ---- changes of names ----

    @action(source="facts 12")
    def create(s, x: Collection) -> None:
        """A collection is created. Its name was free."""
        require(~s.changing & ~s.made[x] & s.is_free(s.called[x]))
        s.made[x] = True
        s.live[x] = True
        s._changes(s.called[x])

    @action(source="facts 12")
    def alter(s, x: Collection) -> None:
        """A collection gets another schema."""
        require(~s.changing & s.live[x])
        s._changes(s.called[x])

    @action(source="B64")
    def drop(s, x: Collection) -> None:
        """A collection is dropped. It has no alias."""
        require(~s.changing & s.live[x])
        require(forall(s.Name, lambda n: ~s.alias[n, x]) | ~s.REFUSES)
        s.live[x] = False
        s._changes(s.called[x])

    @action(source="B64")
    def create_alias(s, n: Name, x: Collection) -> None:
        """A free name becomes an alias."""
        require(~s.changing & s.live[x] & s.is_free(n))
        s.alias[n, x] = True
        s._changes(n)

    @action(source="facts 12")
    def alter_alias(s, n: Name, x: Collection) -> None:
        """An alias points to another collection."""
        require(~s.changing & s.live[x] & ~s.alias[n, x])
        require(exists(s.Collection, lambda y: s.alias[n, y]))
        s.alias = each(s.Name, s.Collection, lambda m, y: ite(m == n, y == x, s.alias[m, y]))
        s._changes(n)

    @action(source="facts 12")
    def drop_alias(s, n: Name) -> None:
        """An alias is removed."""
        require(~s.changing & exists(s.Collection, lambda y: s.alias[n, y]))
        s.alias = each(s.Name, s.Collection, lambda m, y: s.alias[m, y] & (m != n))
        s._changes(n)

    @action(fairness="weak", source="facts 12; B66")
    def invalidate(s, p: Proxy, n: Name) -> None:
        """A proxy forgets the name that has changed, and the coordinator gets its answer."""
        require(s.changing & (s.changed[n] == s.now) & ~s.told[p])
        s.told[p] = True
        s.keeps = each(
            s.Proxy, s.Name, s.Collection, lambda q, m, x: s.keeps[q, m, x] & ((q != p) | (m != n))
        )
        s.moment[p, n] = 0
        s.floor[p, n] = maximum(s.floor[p, n], s.now)

    @action(fairness="weak", source="facts 12")
    def acknowledge(s) -> None:
        """Every proxy has answered: the change ends."""
        require(s.changing & (forall(s.Proxy, lambda p: s.told[p]) | ~s.ALL_LISTED))
        s.changing = False
        s.settled = each(s.Name, lambda n: s.changed[n])
        s.told = each(s.Proxy, lambda p: False)
        s.shown = each(s.Name, s.Collection, s.means)

    # ---- requests ----

    @action(source="facts 12")
    def begin(s, r: Request) -> None:
        """A client's request comes to its proxy."""
        require(s.stage[r] == "new")
        s.stage[r] = "begun"
        s.before = each(s.Request, s.Name, lambda q, n: ite(q == r, s.settled[n], s.before[q, n]))
        s.meant = each(
            s.Request,
            s.Collection,
            lambda q, x: ite(q == r, s.means(s.asks[r], x) | s.shown[s.asks[r], x], s.meant[q, x]),
        )

    @action(fairness="weak", source="facts 12; B67")
    def hit(s, r: Request, n: Name, x: Collection) -> None:
        """The cache has an entry of the name."""
        require((s.stage[r] == "begun") & s.looks_up(r, n) & s.keeps[s.at[r], n, x])
        s._goes_on(r, n, x, s.moment[s.at[r], n])

    @action(fairness="weak", source="facts 12")
    def answer(s, r: Request, n: Name, x: Collection) -> None:
        """The cache has none, and the coordinator answers; the answer is on its way."""
        require((s.stage[r] == "begun") & s.looks_up(r, n) & ~s.is_kept(s.at[r], n))
        require(s.means(n, x))
        s.stage[r] = "answered"
        s.brings[r, x] = True
        s.given[r] = s.now

    @action(fairness="weak", source="facts 12")
    def miss(s, r: Request, n: Name) -> None:
        """Neither the cache nor the coordinator knows the name. Behind an alias the request begins again."""
        require((s.stage[r] == "begun") & s.looks_up(r, n) & ~s.is_kept(s.at[r], n) & s.is_free(n))
        s.stage[r] = ite(s.through[r], "begun", "refused")
        s.pick = each(s.Request, s.Collection, lambda q, y: s.pick[q, y] & (q != r))
        s.through[r] = False

    @action(fairness="weak", source="facts 12; B65")
    def insert(s, r: Request, n: Name, x: Collection) -> None:
        """The answer arrives. The cache takes it unless it knows of a newer change of the name."""
        require((s.stage[r] == "answered") & s.looks_up(r, n) & s.brings[r, x])
        taken, p = s.is_taken(r, n), s.at[r]
        s.keeps = each(
            s.Proxy,
            s.Name,
            s.Collection,
            lambda q, m, y: ite(all_of(taken, q == p, m == n), y == x, s.keeps[q, m, y]),
        )
        s.moment[p, n] = ite(taken, s.given[r], s.moment[p, n])
        s._goes_on(r, n, x, s.given[r])
        s.brings[r, x] = False
        s.given[r] = 0
