"""Inductive lemmas: why no request is served what an acknowledged change has replaced."""

from tidemark.spec.language import all_of, exists, forall, implies, ite, lemma, one_of
from tidemark.spec.meta.ranking import MetaRanking


class Meta(MetaRanking):
    """One collection: versions, caches of proxies, fetches, requests, changes and invalidations."""

    @lemma(source="seed 002, DDL")
    def one_change_is_under_way(s):
        """The present version is the acknowledged one, or the next."""
        return all_of(
            s.current == ite(s.changing, s.acknowledged + 1, s.acknowledged),
            s.stamped <= s.acknowledged,
            forall(s.Proxy, lambda p: implies(s.told[p], s.changing & s.listed[p])),
        )

    @lemma(source="facts 12")
    def what_was_told_is_known(s):
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
    def old_answers_meet_a_floor(s):
        """An answer on its way is as new as the acknowledged version, or its proxy knows a newer one."""
        return forall(
            s.Fetch,
            lambda f: implies(
                s.flight[f] == "answered",
                (s.value[f] >= s.acknowledged) | (s.floor[s.by[f]] >= s.acknowledged),
            ),
        )

    @lemma(source="B42")
    def shared_answers_are_new(s):
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
    def a_request_waits_for_one_fetch(s):
        """No request waits for two answers."""
        return forall(
            s.Request,
            s.Fetch,
            s.Fetch,
            lambda r, f, g: implies(s.waits[r, f] & s.waits[r, g], f == g),
        )

    @lemma(source="facts 12")
    def who_waits_gets_what_was_acknowledged(s):
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
