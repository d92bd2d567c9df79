"""Why requests and changes end, for any number of proxies: measures, and the actions that lower them.

A change ends in runs in which sessions end finitely often: a proxy that leaves and comes again before its
invalidation delays the change.
"""

from tidemark.spec.language import all_of, each, forall, helpful, implies, one_of, rank
from tidemark.spec.meta.claims import MetaClaims


class MetaRanking(MetaClaims):
    """One collection: versions, caches of proxies, fetches, requests, changes and invalidations."""

    # ---- a request ends ----

    @rank("a_request_ends")
    def what_a_request_waits_for(s, r: MetaClaims.Request):
        """Others that may still ask; answers on their way; the cache, which an invalidation may empty."""
        return (
            each(s.Request, lambda q: one_of(s.stage[q], "new", "begun", "waiting")),
            each(s.Request, lambda q: one_of(s.stage[q], "new", "begun")),
            each(s.Fetch, lambda f: s.flight[f] != "idle"),
            each(s.Fetch, lambda f: s.flight[f] == "asked"),
            s.has[s.at[r]],
        )

    def has_to_ask(s, r, f):
        return all_of(s.stage[r] == "begun", ~s.has[s.at[r]], s.by[f] == s.at[r])

    @helpful("a_request_ends", action="hit")
    def the_cache_has_it(s, r: MetaClaims.Request):
        return (s.stage[r] == "begun") & s.has[s.at[r]], (r,)

    @helpful("a_request_ends", action="ask")
    def it_asks(s, r: MetaClaims.Request, f: MetaClaims.Fetch):
        return s.has_to_ask(r, f) & (s.flight[f] == "idle"), (r, f)

    @helpful("a_request_ends", action="answer")
    def a_question_is_answered(s, r: MetaClaims.Request, f: MetaClaims.Fetch):
        concerns = s.has_to_ask(r, f) | ((s.stage[r] == "waiting") & s.waits[r, f])
        return concerns & (s.flight[f] == "asked"), (f,)

    @helpful("a_request_ends", action="insert")
    def an_answer_comes(s, r: MetaClaims.Request, f: MetaClaims.Fetch):
        concerns = s.has_to_ask(r, f) | ((s.stage[r] == "waiting") & s.waits[r, f])
        return concerns & (s.flight[f] == "answered"), (f,)

    # ---- a change ends ----

    @rank("a_change_ends", finitely=("faults",))
    def what_a_change_waits_for(s):
        """Proxies to come, and those that have not answered."""
        return each(s.Proxy, lambda p: ~s.listed[p]), each(s.Proxy, lambda p: s.listed[p] & ~s.told[p])

    @helpful("a_change_ends", action="invalidate")
    def a_proxy_is_told(s, p: MetaClaims.Proxy):
        return all_of(s.changing, s.listed[p], ~s.told[p]), (p,)

    @helpful("a_change_ends", action="acknowledge")
    def all_are_told(s):
        return s.changing & forall(s.Proxy, lambda p: implies(s.listed[p], s.told[p])), ()
