"""Lemmas and ranks: why no request is served what an acknowledged change has replaced.

A change ends in runs in which sessions end finitely often: a proxy that leaves and comes again before its
invalidation delays the change.
"""

from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    all_of,
    each,
    exists,
    forall,
    helpful,
    implies,
    ite,
    lemma,
    one_of,
    rank,
)
from tidemark.spec.meta.claims import MetaClaims


class Meta(MetaClaims):
    """One collection: versions, caches of proxies, fetches, requests, changes and invalidations."""

    # ---- a request ends ----

    @rank("a_request_ends")
    def what_a_request_waits_for(s, r: MetaClaims.Request) -> Measure:
        """Others that may still ask; answers on their way; the cache, which an invalidation may empty."""
        return (
            each(s.Request, lambda q: one_of(s.stage[q], "new", "begun", "waiting")),
            each(s.Request, lambda q: one_of(s.stage[q], "new", "begun")),
            each(s.Fetch, lambda f: s.flight[f] != "idle"),
            each(s.Fetch, lambda f: s.flight[f] == "asked"),
            s.has[s.at[r]],
        )

    def has_to_ask(s, r: MetaClaims.Request, f: MetaClaims.Fetch) -> Bool:
        return all_of(s.stage[r] == "begun", ~s.has[s.at[r]], s.by[f] == s.at[r])

    @helpful("a_request_ends", action="hit")
    def the_cache_has_it(s, r: MetaClaims.Request) -> HelpfulCase:
        return (s.stage[r] == "begun") & s.has[s.at[r]], (r,)

    @helpful("a_request_ends", action="ask")
    def it_asks(s, r: MetaClaims.Request, f: MetaClaims.Fetch) -> HelpfulCase:
        return s.has_to_ask(r, f) & (s.flight[f] == "idle"), (r, f)

    @helpful("a_request_ends", action="answer")
    def a_question_is_answered(s, r: MetaClaims.Request, f: MetaClaims.Fetch) -> HelpfulCase:
        concerns = s.has_to_ask(r, f) | ((s.stage[r] == "waiting") & s.waits[r, f])
        return concerns & (s.flight[f] == "asked"), (f,)

    @helpful("a_request_ends", action="insert")
    def an_answer_comes(s, r: MetaClaims.Request, f: MetaClaims.Fetch) -> HelpfulCase:
        concerns = s.has_to_ask(r, f) | ((s.stage[r] == "waiting") & s.waits[r, f])
        return concerns & (s.flight[f] == "answered"), (f,)

    # ---- a change ends ----

    @rank("a_change_ends", finitely=("faults",))
    def what_a_change_waits_for(s) -> Measure:
        """Proxies to come, and those that have not answered."""
        return each(s.Proxy, lambda p: ~s.listed[p]), each(s.Proxy, lambda p: s.listed[p] & ~s.told[p])

    @helpful("a_change_ends", action="invalidate")
    def a_proxy_is_told(s, p: MetaClaims.Proxy) -> HelpfulCase:
        return all_of(s.changing, s.listed[p], ~s.told[p]), (p,)

    @helpful("a_change_ends", action="acknowledge")
    def all_are_told(s) -> HelpfulCase:
        return s.changing & forall(s.Proxy, lambda p: implies(s.listed[p], s.told[p])), ()

    @lemma(source="seed 002, DDL")
    def one_change_is_under_way(s) -> Bool:
        """The present version is the acknowledged one, or the next."""
        return all_of(
            s.current == ite(s.changing, s.acknowledged + 1, s.acknowledged),
            s.stamped <= s.acknowledged,
            forall(s.Proxy, lambda p: implies(s.told[p], s.changing & s.listed[p])),
        )

    @lemma(source="facts 12")
    def what_was_told_is_known(s) -> Bool:
        """A proxy that was invalidated keeps nothing older than the change, and takes nothing older."""
        return forall(
            s.Proxy,
            lambda p: (
                implies(s.listed[p], s.alive[p])
                & (s.floor[p] <= s.current)
                & implies(s.told[p], (s.floor[p] >= s.current) & implies(s.has[p], s.cache[p] >= s.current))
                & implies(s.has[p], s.listed[p])
            ),
        )

    @lemma(source="facts 12; hazard 36")
    def old_answers_meet_a_floor(s) -> Bool:
        """An answer on its way is as new as the acknowledged version, or its proxy knows a newer one."""
        return forall(
            s.Fetch,
            lambda f: implies(
                s.flight[f] == "answered",
                (s.value[f] >= s.acknowledged) | (s.floor[s.by[f]] >= s.acknowledged),
            ),
        )

    @lemma(source="B42")
    def shared_answers_are_new(s) -> Bool:
        """A fetch that others may join has no answer that was replaced before its proxy was invalidated."""
        return forall(
            s.Fetch,
            lambda f: (
                implies(s.shared[f], s.flight[f] != "idle")
                & implies(s.flight[f] != "idle", s.listed[s.by[f]])
                & (s.value[f] <= s.current)
                & implies(
                    s.shared[f] & (s.flight[f] == "answered"),
                    s.value[f] >= ite(s.told[s.by[f]], s.current, s.acknowledged),
                )
            ),
        )

    @lemma(source="seed 004, 6.6.4")
    def a_request_waits_for_one_fetch(s) -> Bool:
        """No request waits for two answers."""
        return forall(
            s.Request,
            s.Fetch,
            s.Fetch,
            lambda r, f, g: implies(s.waits[r, f] & s.waits[r, g], f == g),
        )

    @lemma(source="facts 12")
    def who_waits_gets_what_was_acknowledged(s) -> Bool:
        """The answer for which a request waits is not older than the version that it has to see."""
        return forall(
            s.Request,
            lambda r: all_of(
                s.since[r] <= s.acknowledged,
                s.after[r] <= s.since[r],
                implies(one_of(s.stage[r], "begun", "waiting"), s.listed[s.at[r]]),
                implies(s.stage[r] == "waiting", exists(s.Fetch, lambda f: s.waits[r, f])),
            ),
        ) & forall(
            s.Request,
            s.Fetch,
            lambda r, f: implies(
                s.waits[r, f],
                all_of(
                    s.stage[r] == "waiting",
                    s.at[r] == s.by[f],
                    s.flight[f] != "idle",
                    implies(s.flight[f] == "answered", s.value[f] >= s.since[r]),
                ),
            ),
        )
