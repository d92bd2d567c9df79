"""Why a client's retry ends: a measure, and the actions that lower it.

The claim is of runs in which the schema changes finitely often. A client that is refused because of a newer
version reads again: if that happens for ever, the retry never ends.
"""

from tidemark.spec.language import each, helpful, rank
from tidemark.spec.retries.claims import RetriesClaims


class RetriesRanking(RetriesClaims):
    """Requests for a version of a schema that changes; proxies that know it sooner or later."""

    @rank("a_retry_ends", finitely=("current",))
    def what_a_retry_waits_for(s, r: RetriesClaims.Request):
        """The first refusal; versions above the last one; the next call; proxies that learn the change."""
        return (
            ~s.tried[r],
            s.current - s.refused[r],
            s.stage[r] == "reads",
            each(s.Proxy, lambda p: s.knows[p] != s.current),
        )

    @helpful("a_retry_ends", action="read")
    def the_client_reads(s, r: RetriesClaims.Request, p: RetriesClaims.Proxy):
        return s.stage[r] == "reads", (r, p)

    @helpful("a_retry_ends", action="accept")
    def a_proxy_accepts(s, r: RetriesClaims.Request, p: RetriesClaims.Proxy):
        return (s.stage[r] == "tries") & (s.knows[p] == s.holds[r]), (r, p)

    @helpful("a_retry_ends", action="refuse")
    def a_proxy_refuses(s, r: RetriesClaims.Request, p: RetriesClaims.Proxy):
        return (s.stage[r] == "tries") & (s.knows[p] != s.holds[r]), (r, p)
