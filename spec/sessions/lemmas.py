"""Inductive lemmas about sessions and the coordinator that follows them."""

from tidemark.spec.language import all_of, exists, forall, implies, lemma, one_of
from tidemark.spec.sessions.ranking import SessionsRanking


class Sessions(SessionsRanking):
    """Sessions of one store, and one coordinator at a time that lists, fences and watches."""

    @lemma(source="facts 3.4")
    def each_change_has_its_revision(s):
        """Changes are at or below the revision, no two have the same, and a session ends after it began."""
        return forall(
            s.Node,
            lambda n: all_of(
                s.began[n] <= s.revision,
                s.ended[n] <= s.revision,
                implies(s.ended[n] > 0, (s.began[n] > 0) & (s.began[n] < s.ended[n])),
                forall(
                    s.Node,
                    lambda m: all_of(
                        implies((s.began[n] == s.began[m]) & (s.began[n] > 0), n == m),
                        implies((s.ended[n] == s.ended[m]) & (s.ended[n] > 0), n == m),
                        implies(s.began[n] == s.ended[m], s.began[n] == 0),
                    ),
                ),
            ),
        )

    def is_a_change(s, r):
        return exists(s.Node, lambda n: (s.began[n] == r) | (s.ended[n] == r))

    @lemma(source="facts 3.4")
    def one_change_follows_the_other(s):
        """The first change, the last one, the last reported one and its successor are those of sessions."""
        return all_of(
            implies(s.revision > 0, s.is_a_change(1) & s.is_a_change(s.revision)),
            implies(s.seen > 0, s.is_a_change(s.seen)),
            forall(
                s.Node,
                lambda n: all_of(
                    implies((s.began[n] > 0) & (s.began[n] < s.revision), s.is_a_change(s.began[n] + 1)),
                    implies((s.ended[n] > 0) & (s.ended[n] < s.revision), s.is_a_change(s.ended[n] + 1)),
                ),
            ),
        )

    @lemma(source="facts 4")
    def nothing_is_seen_before_it_happens(s):
        """Changes seen, forgotten or to fence are in the past; the coordinator lists before it fences."""
        return all_of(
            s.seen <= s.revision,
            s.first <= s.revision,
            s.compacted <= s.revision,
            implies(s.phase == "listed", s.first == s.seen),
        )

    @lemma(source="facts 3.4; hazard 10")
    def who_serves_was_seen(s):
        """A node that serves has registered, at or before the coordinator's revision."""
        return forall(
            s.Node,
            lambda n: implies(
                s.admitted[n],
                (s.began[n] > 0)
                & implies(one_of(s.phase, "listed", "serving"), s.began[n] <= s.seen)
                & (s.began[n] <= s.revision),
            ),
        )
