"""Claims about metadata in the caches of proxies: safety, liveness, witnesses."""

from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    assumption,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    one_of,
    reachable,
)
from tidemark.spec.meta.actions import MetaActions


class MetaClaims(MetaActions):
    """One collection: versions, caches of proxies, fetches, requests, changes and invalidations."""

    # ---- facts about the constants ----

    @assumption(source="seed 004, 6.6.4")
    def a_proxy_can_ask(s) -> Bool:
        """The proxy of a request has a fetch by which it asks."""
        return forall(s.Request, lambda r: exists(s.Fetch, lambda f: s.by[f] == s.at[r]))

    # ---- safety ----

    @invariant(source="facts 12; hazard 36; B42")
    def what_was_replaced_is_not_served(s) -> Bool:
        """A request that begins after a change was acknowledged is served that version, or a later one."""
        return forall(s.Request, lambda r: implies(s.stage[r] == "served", s.version[r] >= s.since[r]))

    @invariant(source="seed 002, DDL")
    def a_request_sees_the_schema_of_its_time(s) -> Bool:
        """A request with a greater timestamp than a change is not served what the change replaced."""
        return forall(s.Request, lambda r: implies(s.stage[r] == "served", s.version[r] >= s.after[r]))

    @invariant(source="facts 12; hazard 36")
    def caches_are_not_behind(s) -> Bool:
        """No cache holds what an acknowledged change has replaced."""
        return forall(s.Proxy, lambda p: implies(s.alive[p] & s.has[p], s.cache[p] >= s.acknowledged))

    # ---- liveness ----

    @leads_to(source="seed 004, 6.6.4")
    def a_request_ends(s, r: MetaActions.Request) -> tuple[Bool, Bool]:
        """A request is served, or fails: with its proxy, with its question, or because its client leaves."""
        return one_of(s.stage[r], "begun", "waiting"), one_of(s.stage[r], "served", "failed")

    @leads_to(source="facts 12")
    def a_change_ends(s) -> tuple[Bool, Bool]:
        """A change is acknowledged."""
        return s.changing, ~s.changing

    # ---- witnesses ----

    @reachable(after="hit", source="seed 004, 6.6.4")
    def a_cache_serves(before, after: Self, r: MetaActions.Request) -> Bool:
        """A request is served a changed schema from the cache."""
        return after.version[r] > 0

    @reachable(after="insert", source="hazard 36")
    def an_old_answer_is_refused(before, after: Self, f: MetaActions.Fetch) -> Bool:
        """An answer arrives after the invalidation of its content."""
        return before.value[f] < before.floor[before.by[f]]

    @reachable(after="join", source="B42")
    def a_fetch_is_shared(before, after: Self, r: MetaActions.Request, f: MetaActions.Fetch) -> Bool:
        """A request joins a fetch whose answer is on its way."""
        return before.flight[f] == "answered"

    @reachable(after="fail", source="B42")
    def one_failure_is_not_that_of_all(
        before, after: Self, r: MetaActions.Request, f: MetaActions.Fetch
    ) -> Bool:
        """A question fails for which two requests wait: one of them asks again."""
        return exists(before.Request, lambda q: all_of(q != r, before.waits[q, f], after.stage[q] == "begun"))

    @reachable(after="acknowledge", source="facts 12")
    def a_change_overtakes_a_request(before, after: Self) -> Bool:
        """A request waits for an answer that is older than the change that is acknowledged."""
        return exists(
            before.Request,
            before.Fetch,
            lambda r, f: (
                before.waits[r, f] & (before.flight[f] == "answered") & (before.value[f] < before.current)
            ),
        )
