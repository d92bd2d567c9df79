"""Claims about the client's retry: safety, liveness, witnesses."""

from tidemark.spec.language import (
    Bool,
    Self,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    one_of,
    plain,
    reachable,
)
from tidemark.spec.retries.actions import RetriesActions


class RetriesClaims(RetriesActions):
    """Requests for a version of a schema that changes; proxies that know it sooner or later."""

    # ---- safety ----

    @invariant(source="seed 002, DDL")
    def what_is_accepted_is_for_the_newest_schema(s) -> Bool:
        """An accepted request is for the schema that was acknowledged when it began, or a later one."""
        return forall(s.Request, lambda r: implies(s.stage[r] == "accepted", s.holds[r] >= s.since[r]))

    @invariant(source="seed 002, DDL; hazard 37")
    def each_attempt_is_for_a_change(s) -> Bool:
        """A request is refused at most once for each change since it began, and three times more: with the
        version that its client had kept, with the first one that it reads, and with one that is no newer.
        """
        return forall(s.Request, lambda r: plain(s.attempts[r]) + plain(s.since[r]) <= plain(s.current) + 3)

    @invariant(source="seed 002, DDL; hazard 37")
    def a_retry_succeeds_when_the_schema_is_settled(s) -> Bool:
        """No client gets a schema error if the schema has not changed since it has read it."""
        return forall(s.Request, lambda r: ~((s.stage[r] == "failed") & s.calm[r]))

    # ---- liveness ----

    @leads_to(source="seed 002, DDL; hazard 37")
    def a_retry_ends(s, r: RetriesActions.Request) -> tuple[Bool, Bool]:
        """A request is accepted, or its client gets a schema error."""
        return one_of(s.stage[r], "reads", "tries"), one_of(s.stage[r], "accepted", "failed")

    # ---- witnesses ----

    @reachable(after="accept", source="seed 002, DDL")
    def a_request_is_made_again(
        before, after: Self, r: RetriesActions.Request, p: RetriesActions.Proxy
    ) -> Bool:
        """A request is accepted after a refusal."""
        return before.tried[r]

    @reachable(after="refuse", source="hazard 37")
    def a_newer_client_is_refused(
        before, after: Self, r: RetriesActions.Request, p: RetriesActions.Proxy
    ) -> Bool:
        """A proxy refuses a version that is newer than what it knows."""
        return before.holds[r] > before.knows[p]

    @reachable(after="refuse", source="hazard 37")
    def the_proxies_do_not_agree(
        before, after: Self, r: RetriesActions.Request, p: RetriesActions.Proxy
    ) -> Bool:
        """A client gets a schema error, and another proxy would have taken the request."""
        return (after.stage[r] == "failed") & exists(
            before.Proxy, lambda q: before.knows[q] == before.holds[r]
        )
