"""Lemmas and ranks: why a request through an alias is served only a collection that its name meant."""

from tidemark.spec.aliases.claims import AliasesClaims
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
    lemma,
    rank,
)


class Aliases(AliasesClaims):
    """Names of collections and aliases: changes, caches of proxies, invalidations, requests."""

    @rank("a_change_ends")
    def what_a_change_waits_for(s) -> Measure:
        """Proxies that have not answered: no other change begins."""
        return each(s.Proxy, lambda p: ~s.told[p])

    @helpful("a_change_ends", action="invalidate")
    def a_proxy_is_told(s, p: AliasesClaims.Proxy, n: AliasesClaims.Name) -> HelpfulCase:
        return all_of(s.changing, s.changed[n] == s.now, ~s.told[p]), (p, n)

    @helpful("a_change_ends", action="acknowledge")
    def all_are_told(s) -> HelpfulCase:
        return s.changing & forall(s.Proxy, lambda p: s.told[p]), ()

    @lemma(source="facts 12")
    def one_change_is_under_way(s) -> Bool:
        """A name's last change was acknowledged, or is the only change under way."""
        return all_of(
            forall(s.Proxy, lambda p: implies(s.told[p], s.changing)),
            implies(s.changing, (s.now > 0) & exists(s.Name, lambda n: s.changed[n] == s.now)),
            forall(
                s.Name,
                s.Name,
                lambda n, m: implies((s.changed[n] == s.changed[m]) & (n != m), s.changed[n] == 0),
            ),
            forall(
                s.Name,
                lambda n: all_of(
                    s.settled[n] <= s.changed[n],
                    s.changed[n] <= s.now,
                    implies(s.settled[n] < s.changed[n], s.changing & (s.changed[n] == s.now)),
                ),
            ),
            forall(
                s.Name,
                s.Collection,
                lambda n, x: implies(s.settled[n] == s.changed[n], s.shown[n, x] == s.means(n, x)),
            ),
        )

    @lemma(source="facts 12")
    def what_was_told_is_known(s) -> Bool:
        """A proxy that was invalidated keeps nothing older than the change, and takes nothing older."""
        return forall(
            s.Proxy,
            s.Name,
            lambda p, n: all_of(
                s.settled[n] <= s.floor[p, n],
                s.floor[p, n] <= s.now,
                implies(s.told[p], s.floor[p, n] >= s.changed[n]),
            ),
        ) & forall(
            s.Proxy,
            s.Name,
            s.Collection,
            lambda p, n, x: implies(s.keeps[p, n, x], s.floor[p, n] <= s.moment[p, n]),
        )

    @lemma(source="facts 12; B66")
    def entries_say_what_the_name_means(s) -> Bool:
        """An entry is the name's meaning, or the one before the change that is under way."""
        return forall(
            s.Proxy,
            s.Name,
            s.Collection,
            lambda p, n, x: implies(s.keeps[p, n, x], s.is_known(s.moment[p, n], n, x)),
        )

    @lemma(source="B65")
    def an_alias_names_one_collection(s) -> Bool:
        """A request looks up one name, and has one answer on its way."""
        return forall(
            s.Request,
            s.Collection,
            s.Collection,
            lambda r, x, y: all_of(
                implies(s.pick[r, x] & s.pick[r, y], x == y),
                implies(s.brings[r, x] & s.brings[r, y], x == y),
                implies(s.pick[r, x], s.through[r] | (s.stage[r] == "served")),
                implies(s.brings[r, x], s.stage[r] == "answered"),
                implies(s.through[r], s.is_active(r)),
            ),
        )

    @lemma(source="B65")
    def answers_say_what_the_name_means(s) -> Bool:
        """An answer on its way is right, or was replaced since; it is not older than its request."""
        return forall(
            s.Request,
            s.Name,
            s.Collection,
            lambda r, n, x: implies(
                all_of(s.stage[r] == "answered", s.looks_up(r, n), s.brings[r, x]),
                all_of(
                    s.given[r] <= s.now,
                    s.given[r] >= s.before[r, n],
                    implies(s.given[r] >= s.settled[n], s.is_known(s.given[r], n, x)),
                    implies(~s.through[r], s.meant[r, x]),
                ),
            ),
        )

    @lemma(source="B65; B67")
    def what_a_name_means_is_noted(s) -> Bool:
        """The meaning of a request's name, and of the name behind its alias, is in the request's history."""
        return forall(
            s.Request,
            s.Collection,
            lambda r, x: implies(
                s.is_active(r),
                all_of(
                    implies(s.means(s.asks[r], x) | s.shown[s.asks[r], x], s.meant[r, x]),
                    implies(s.through[r] & s.pick[r, x], s.meant[r, x]),
                ),
            ),
        ) & forall(s.Request, s.Name, lambda r, n: s.before[r, n] <= s.settled[n])

    def is_known(
        s, moment: AliasesClaims.Version, n: AliasesClaims.Name, x: AliasesClaims.Collection
    ) -> Bool:
        """The answer was right when it was given: the name means x."""
        return all_of(
            moment <= s.now,
            implies(moment >= s.changed[n], s.means(n, x)),
            implies(moment < s.changed[n], s.shown[n, x]),
        )
