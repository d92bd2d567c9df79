"""Other rules of the client, and of the proxy that checks the version."""

from tidemark.spec.language import Bool, Set, all_of, constant, forall, implies, invariant, lemma, require
from tidemark.spec.retries import Retries


class GoesOnIfAnother(Retries):
    """The rule of Milvus' client: a request is made again unless the version is the last that was refused."""

    GROWS = False


class SomeDoNotLearn(GoesOnIfAnother):
    """The same, and some proxies never learn a change (for the proof that must fail)."""

    deaf: Set[Retries.Proxy] = constant()

    def learn(s, p: Retries.Proxy) -> None:
        super().learn(p)
        require(~s.deaf[p])


class TakesNewer(GoesOnIfAnother):
    """The same, and a proxy takes a version that is newer than what it knows, too."""

    def takes(s, p: Retries.Proxy, r: Retries.Request) -> Bool:
        return s.knows[p] <= s.holds[r]

    @lemma(source="facts 12; hazard 37")
    def what_is_refused_was_replaced(s) -> Bool:
        """A version that was refused is no newer than what is acknowledged: no older one can be read."""
        return forall(
            s.Request,
            lambda r: all_of(
                s.refused[r] <= s.acknowledged,
                implies(s.tried[r] & (s.stage[r] == "tries"), s.refused[r] <= s.holds[r]),
            ),
        )


class Limited(GoesOnIfAnother):
    """The same rule, and an end after so many refusals."""

    limit: Retries.Attempt = constant()

    def goes_on(s, r: Retries.Request) -> Bool:
        return super().goes_on(r) & (s.attempts[r] + 1 < s.limit)

    @invariant(source="facts 12; hazard 37")
    def refusals_are_limited(s) -> Bool:
        """No request is refused more often than the limit says, but once if it says nothing."""
        return forall(s.Request, lambda r: (s.attempts[r] <= s.limit) | (s.attempts[r] <= 1))

    @lemma(source="facts 12; hazard 37")
    def who_goes_on_is_below_the_limit(s) -> Bool:
        """A request that was refused, and is made again, is below the limit."""
        return forall(
            s.Request,
            lambda r: implies(s.is_under_way(r) & s.tried[r], s.attempts[r] < s.limit),
        )
