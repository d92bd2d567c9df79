"""Rules of seed 004 as they are written, each in the place of the correct one."""

from tidemark.spec.language import (
    Bool,
    Map,
    Set,
    action,
    count,
    each,
    everywhere,
    forall,
    ite,
    removed,
    require,
)
from tidemark.spec.queries import Queries


class AsManyResultsAsNodes(Queries):
    """A request has enough when as many results have come as there are nodes."""

    came: Set[Queries.Request, Queries.Result] = everywhere(False)

    def is_enough(s, r: Queries.Request) -> Bool:
        return s.is_full(r) | (count(s.Result, lambda x: s.came[r, x]) >= count(s.Node, lambda n: n == n))

    def deliver(s, x: Queries.Result) -> None:
        s.came = each(
            s.Request, s.Result, lambda r, y: s.came[r, y] | ((y == x) & s.entry[r] & s.is_for(x, r))
        )
        super().deliver(x)


class OneResultOfEachNode(Queries):
    """A request has enough when each node has answered (seed 004, 6.2: all query nodes)."""

    heard: Set[Queries.Request, Queries.Node] = everywhere(False)

    def is_enough(s, r: Queries.Request) -> Bool:
        return s.is_full(r) | forall(s.Node, lambda n: s.heard[r, n])

    def deliver(s, x: Queries.Result) -> None:
        s.heard = each(
            s.Request,
            s.Node,
            lambda r, n: s.heard[r, n] | ((n == s.node[x]) & s.entry[r] & s.is_for(x, r)),
        )
        super().deliver(x)


class LoadedByNumber(Queries):
    """A load is acknowledged when the nodes together have as many rows as were persisted (seed 004, 6.4)."""

    def is_loaded(s) -> Bool:
        held = count(s.Node, s.Row, lambda n, w: s.copy[n, w] == "held")
        return held >= count(s.Row, lambda w: s.wanted[w])


class CountedAfterTheLookup(Queries):
    """A request looks the stream up, and is counted as its writer in a later step."""

    counted: Set[Queries.Request] = everywhere(False)

    @action(fairness="weak", source="seed 004, 6.6.2: getDQLStream")
    def count_in(s, r: Queries.Request) -> None:
        """The request is counted."""
        require((s.stage[r] == "holding") & ~s.counted[r])
        s.counted[r] = True

    def write(s, r: Queries.Request) -> None:
        require(s.counted[r])
        super().write(r)

    def close_stream(s, u: Queries.Stream) -> None:
        require(s.object[u] == "removed")
        require(forall(s.Request, lambda r: ~(s.uses[r, u] & s.counted[r])))
        s.object[u] = "closed"


class Loaded(Queries):
    """The collection is loaded and the stream open from the beginning, and released once."""

    load = removed
    store = removed
    persist = removed

    phase: Queries.Phase = "loaded"
    told: Set[Queries.Node] = everywhere(True)
    serves: Set[Queries.Node, Queries.Shard] = everywhere(True)
    object: Map[Queries.Stream, Queries.Object] = everywhere("open")


class LoadedAnswersWithWhatHasCome(Loaded):
    """A request that has run out of time is answered with the rows that have come."""

    def give_up(s, r: Loaded.Request) -> None:
        waits = s.stage[r] == "waiting"
        super().give_up(r)
        s.stage[r] = ite(waits, "answered", "failed")
