"""Claims about aliases: safety, liveness, witnesses."""

from tidemark.spec.aliases.actions import AliasesActions
from tidemark.spec.language import Bool, Self, all_of, forall, implies, invariant, leads_to, one_of, reachable


class AliasesClaims(AliasesActions):
    """Names of collections and aliases: changes, caches of proxies, invalidations, requests."""

    # ---- safety ----

    @invariant(source="B64", frame=True)
    def an_alias_is_no_collection(s) -> Bool:
        """No alias has the name of a collection."""
        return forall(
            s.Name,
            s.Collection,
            s.Collection,
            lambda n, x, y: ~all_of(s.alias[n, x], s.live[y], s.called[y] == n),
        )

    @invariant(source="B64", frame=True)
    def an_alias_points_to_a_collection(s) -> Bool:
        """The collection of an alias exists."""
        return forall(s.Name, s.Collection, lambda n, x: implies(s.alias[n, x], s.live[x]))

    @invariant(source="B65; B66; B67")
    def a_request_is_served_what_its_name_meant(s) -> Bool:
        """A request is served the collection that its name meant at some time since it began."""
        return forall(
            s.Request,
            s.Collection,
            lambda r, x: implies((s.stage[r] == "served") & s.pick[r, x], s.meant[r, x]),
        )

    @invariant(source="facts 12")
    def what_was_replaced_is_not_served(s) -> Bool:
        """A request that begins after an acknowledged change of a collection sees it, by any name."""
        return forall(
            s.Request,
            s.Collection,
            lambda r, x: implies(
                (s.stage[r] == "served") & s.pick[r, x], s.last[r] >= s.before[r, s.called[x]]
            ),
        )

    @invariant(source="facts 12; B66")
    def caches_are_not_behind(s) -> Bool:
        """No cache has an entry of a name from before the name's last acknowledged change."""
        return forall(
            s.Proxy,
            s.Name,
            s.Collection,
            lambda p, n, x: implies(s.keeps[p, n, x], s.moment[p, n] >= s.settled[n]),
        )

    # ---- liveness ----

    @leads_to(source="facts 12")
    def a_request_ends(s, r: AliasesActions.Request) -> tuple[Bool, Bool]:
        """A request is served or refused.

        Judged within bounds. For any size it is false: an alias that is altered to and fro for ever means one
        collection when the coordinator is about to answer with the other. Weak fairness is of an answer with
        one collection, which is never possible for long.
        """
        return one_of(s.stage[r], "begun", "answered"), one_of(s.stage[r], "served", "refused")

    @leads_to(source="facts 12")
    def a_change_ends(s) -> tuple[Bool, Bool]:
        """A change is acknowledged."""
        return s.changing, ~s.changing

    # ---- witnesses ----

    @reachable(after="hit", source="B67")
    def an_alias_is_served_from_the_cache(
        before, after: Self, r: AliasesActions.Request, n: AliasesActions.Name, x: AliasesActions.Collection
    ) -> Bool:
        """A request by an alias is served from the cache."""
        return before.through[r] & (after.stage[r] == "served")

    @reachable(after="insert", source="B65")
    def an_old_answer_is_refused(
        before, after: Self, r: AliasesActions.Request, n: AliasesActions.Name, x: AliasesActions.Collection
    ) -> Bool:
        """An answer about a name arrives after the invalidation of its content."""
        return ~before.is_taken(r, n)

    @reachable(after="miss", source="B65")
    def a_request_begins_again(
        before, after: Self, r: AliasesActions.Request, n: AliasesActions.Name
    ) -> Bool:
        """The collection that an alias has named is gone when the proxy looks it up."""
        return before.through[r]

    @reachable(after="create", source="B64")
    def a_name_is_used_again(before, after: Self, x: AliasesActions.Collection) -> Bool:
        """The name of a new collection has meant something else before."""
        return before.changed[before.called[x]] > 0
