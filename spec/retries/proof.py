"""Lemmas and ranks: why the client's retry ends.

The liveness claim is of runs in which the schema changes finitely often. A client that is refused because of
a newer version reads again: if that happens for ever, the retry never ends.
"""

from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    all_of,
    each,
    forall,
    helpful,
    implies,
    ite,
    lemma,
    one_of,
    plain,
    rank,
)
from tidemark.spec.retries.claims import RetriesClaims


class Retries(RetriesClaims):
    """Requests for a version of a schema that changes; proxies that know it sooner or later."""

    def is_settled(s) -> Bool:
        """Every proxy knows the last change."""
        return forall(s.Proxy, lambda p: s.knows[p] == s.current)

    def is_under_way(s, r: RetriesClaims.Request) -> Bool:
        return one_of(s.stage[r], "reads", "tries")

    @rank("a_retry_ends", finitely=("current",))
    def what_a_retry_waits_for(s, r: RetriesClaims.Request) -> Measure:
        """Proxies that learn the change; then a refusal of what the client has, and what it reads."""
        return (
            each(s.Proxy, lambda p: s.knows[p] != s.current),
            all_of(s.is_settled(), s.stage[r] == "tries", s.holds[r] != s.current),
            s.is_settled() & (s.stage[r] == "reads"),
        )

    @helpful("a_retry_ends", action="learn")
    def a_proxy_learns(s, r: RetriesClaims.Request, p: RetriesClaims.Proxy) -> HelpfulCase:
        return s.is_under_way(r) & (s.knows[p] != s.current), (p,)

    @helpful("a_retry_ends", action="read")
    def the_client_reads(s, r: RetriesClaims.Request, p: RetriesClaims.Proxy) -> HelpfulCase:
        return s.is_settled() & (s.stage[r] == "reads"), (r, p)

    @helpful("a_retry_ends", action="accept")
    def a_proxy_accepts(s, r: RetriesClaims.Request, p: RetriesClaims.Proxy) -> HelpfulCase:
        return all_of(s.is_settled(), s.stage[r] == "tries", s.holds[r] == s.current), (r, p)

    @helpful("a_retry_ends", action="refuse")
    def a_proxy_refuses(s, r: RetriesClaims.Request, p: RetriesClaims.Proxy) -> HelpfulCase:
        return all_of(s.is_settled(), s.stage[r] == "tries", s.holds[r] != s.current), (r, p)

    @lemma(source="facts 12")
    def proxies_know_what_was_acknowledged(s) -> Bool:
        """A proxy's version is between the acknowledged and the stored one."""
        return (s.current == ite(s.changing, s.acknowledged + 1, s.acknowledged)) & forall(
            s.Proxy, lambda p: (s.acknowledged <= s.knows[p]) & (s.knows[p] <= s.current)
        )

    @lemma(source="seed 002, DDL; hazard 37")
    def a_version_is_new_enough(s) -> Bool:
        """What was read is no older than what was acknowledged before; nothing is read before a refusal."""
        return forall(
            s.Request,
            lambda r: all_of(
                s.since[r] <= s.acknowledged,
                (s.holds[r] <= s.current) & (s.refused[r] <= s.current),
                implies(s.stage[r] == "new", ~s.tried[r] & (s.since[r] == 0)),
                implies(~s.tried[r], (s.attempts[r] == 0) & (s.stage[r] != "reads")),
                implies(s.tried[r] & (s.stage[r] == "tries"), s.holds[r] >= s.since[r]),
            ),
        )

    @lemma(source="seed 002, DDL; hazard 37")
    def refused_versions_grow(s) -> Bool:
        """Between two refusals the version has grown; only the last one need not have."""
        return forall(
            s.Request,
            lambda r: implies(
                s.tried[r] & (s.stage[r] != "failed"),
                (s.attempts[r] == 1) | (plain(s.attempts[r]) + plain(s.since[r]) <= plain(s.refused[r]) + 2),
            ),
        )

    @lemma(source="seed 002, DDL")
    def in_a_calm_all_agree(s) -> Bool:
        """If the schema has not changed since the version was read, every proxy knows that version."""
        return forall(
            s.Request,
            lambda r: (
                implies(s.calm[r], all_of(~s.changing, s.stage[r] != "new", s.tried[r]))
                & implies(
                    s.calm[r] & (s.stage[r] == "tries"),
                    s.holds[r] == s.current,
                )
            ),
        )
