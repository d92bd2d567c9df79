"""A client's retry of a request whose schema is an old one: the steps.

A client makes a request for the version of the schema that it has. Each call goes to some proxy. A proxy that
knows another version refuses. The client then forgets the version, reads the one that some proxy has, and
makes the request again, until its rule says stop. While a change is told to the proxies one by one, some know
it and some do not.

Sources: seed 002, DDL (``retryIfSchemaError``); facts 12; hazard 37.

How it is cut:

- One collection. Changes go one by one, as in ``spec/meta``, which shows that every proxy knows a change when
  it is acknowledged.
- A request is one client's; its first version is any one that the client has kept.
- A client whose call is lost gives up; its request may be made again as another one.
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
    forall,
    ite,
    option,
    require,
)


class RetriesActions(Protocol, name="retries"):
    """Requests for a version of a schema that changes; proxies that know it sooner or later."""

    Proxy: TypeAlias = Sort
    Request: TypeAlias = Sort
    Version: TypeAlias = Nat
    Attempt: TypeAlias = Nat
    Stage: TypeAlias = Enum["new", "reads", "tries", "accepted", "failed"]

    GROWS: Bool = option(True)  # a request is made again only for a version greater than the last refused one
    AGAIN: Bool = option(True)  # a request that was refused is made again at all
    EVICTS: Bool = option(True)  # the version that was refused is forgotten

    # The coordinator, and the versions that proxies know.
    current: Version = 0
    changing: Bool = False
    acknowledged: Version = 0
    knows: Map[Proxy, Version] = everywhere(0)

    # The requests.
    stage: Map[Request, Stage] = everywhere("new")
    holds: Map[Request, Version] = everywhere(0)  # the version that the client has
    tried: Set[Request] = everywhere(False)  # the request was refused before
    refused: Map[Request, Version] = everywhere(0)  # the version of the last refusal
    attempts: Map[Request, Attempt] = everywhere(0)  # history: refusals
    since: Map[Request, Version] = everywhere(0)  # history: acknowledged when the request began
    # history: nothing has changed, or was under way, since the version was read
    calm: Set[Request] = everywhere(False)

    def goes_on(s, r: Request) -> Bool:
        """The client's rule: whether the request is made again."""
        newer = ite(s.GROWS, s.holds[r] > s.refused[r], s.holds[r] != s.refused[r])
        return s.AGAIN & (~s.tried[r] | newer)

    # ---- changes ----

    @action(source="seed 002, DDL")
    def change(s) -> None:
        """The coordinator stores the next version."""
        require(~s.changing)
        s.changing = True
        s.current = s.current + 1
        s.calm = each(s.Request, lambda r: False)

    @action(fairness="weak", source="facts 12")
    def learn(s, p: Proxy) -> None:
        """A proxy learns the change."""
        require(s.knows[p] != s.current)
        s.knows[p] = s.current

    @action(fairness="weak", source="facts 12", relies_on=("meta.caches_are_not_behind",))
    def acknowledge(s) -> None:
        """Every proxy knows the change: it ends."""
        require(s.changing)
        require(forall(s.Proxy, lambda p: s.knows[p] >= s.current))
        s.changing = False
        s.acknowledged = s.current

    # ---- requests ----

    @action(source="seed 002, DDL")
    def begin(s, r: Request, v: Version) -> None:
        """A client makes a request with the version that it has kept."""
        require((s.stage[r] == "new") & (v <= s.current))
        s.stage[r] = "tries"
        s.holds[r] = v
        s.since[r] = s.acknowledged

    @action(fairness="weak", source="seed 002, DDL; hazard 37")
    def read(s, r: Request, p: Proxy) -> None:
        """The client reads the version that a proxy has."""
        require(s.stage[r] == "reads")
        s.stage[r] = "tries"
        s.holds[r] = ite(s.EVICTS, s.knows[p], s.holds[r])
        s.calm[r] = ~s.changing

    @action(fairness="weak", source="facts 12")
    def accept(s, r: Request, p: Proxy) -> None:
        """The request comes to a proxy that knows the version."""
        require((s.stage[r] == "tries") & s.takes(p, r))
        s.stage[r] = "accepted"

    def takes(s, p: Proxy, r: Request) -> Bool:
        """The proxy's check of the version."""
        return s.knows[p] == s.holds[r]

    @action(fairness="weak", source="seed 002, DDL; facts 12; hazard 37")
    def refuse(s, r: Request, p: Proxy) -> None:
        """The request comes to a proxy that knows another version, newer or older."""
        require((s.stage[r] == "tries") & ~s.takes(p, r))
        s.stage[r] = ite(s.goes_on(r), "reads", "failed")
        s.tried[r] = True
        s.refused[r] = s.holds[r]
        s.attempts[r] = s.attempts[r] + 1
