"""The rule of Milvus' cache: it compares times, of a question and of a change, and not versions.

A proxy takes the time of its question before it asks. An invalidation carries the time of its change. An
answer is refused if its question is older than the last invalidation, whatever it says. Here the
time is taken in the step of the question: one that is taken earlier is smaller, so that more is refused.

Sources: facts 12; seed 004, 6.6.4.
"""

from tidemark.spec.language import (
    Bool,
    Map,
    Nat,
    Self,
    TypeAlias,
    action,
    everywhere,
    forall,
    implies,
    ite,
    lemma,
    option,
    reachable,
    require,
)
from tidemark.spec.meta import Meta


class ComparesTimes(Meta):
    """The time of a change is taken after it is stored, or no question is answered in between."""

    Time: TypeAlias = Nat

    TAKEN_AFTER: Bool = option(True)  # the time of a change is taken when it is stored; else before
    EXCLUDED: Bool = option(False)  # no question is answered between the time of a change and its storing

    issued: Time = 0  # by the oracle
    asked: Map[Meta.Fetch, Time] = everywhere(0)  # the time of the last question
    time: Time = 0  # of the last change that has one
    timed: Meta.Version = 0  # changes that have their time
    barrier: Map[Meta.Proxy, Time] = everywhere(0)  # the time of the last invalidation

    def is_taken(s, f: Meta.Fetch) -> Bool:
        """The proxy takes the answer into its cache."""
        return s.asked[f] >= s.barrier[s.by[f]]

    def ask(s, r: Meta.Request, f: Meta.Fetch) -> None:
        super().ask(r, f)
        s.issued = s.issued + 1
        s.asked[f] = s.issued

    def answer(s, f: Meta.Fetch) -> None:
        require(~s.EXCLUDED | (s.timed <= s.current))
        super().answer(f)

    @action(fairness="weak", source="facts 12")
    def take_time(s) -> None:
        """The change takes the time that its invalidations carry."""
        require(ite(s.TAKEN_AFTER, s.timed < s.current, (s.timed == s.current) & ~s.changing))
        s.issued = s.issued + 1
        s.time = s.issued
        s.timed = s.timed + 1

    def change(s) -> None:
        require(s.TAKEN_AFTER | (s.timed > s.current))
        super().change()

    def invalidate(s, p: Meta.Proxy) -> None:
        require(s.timed == s.current)
        super().invalidate(p)
        s.barrier[p] = s.time

    def acknowledge(s) -> None:
        require(s.timed == s.current)
        super().acknowledge()

    def leave(s, p: Meta.Proxy) -> None:
        super().leave(p)
        s.barrier[p] = ite(s.ENDED, 0, s.barrier[p])

    @lemma(source="facts 12")
    def what_is_older_was_asked_before(s) -> Bool:
        """An answer without a change that has its time was asked for before that time."""
        return (
            (s.time <= s.issued)
            & ite(s.TAKEN_AFTER, s.timed <= s.current, (s.timed <= s.current + 1) & (s.timed >= s.current))
            & implies(~s.changing, s.timed >= s.current)
            & implies(s.changing, s.timed <= s.current)
            & forall(s.Proxy, lambda p: implies(s.told[p], s.timed == s.current))
            & forall(
                s.Fetch,
                lambda f: (
                    (s.asked[f] <= s.issued)
                    & implies((s.flight[f] == "answered") & (s.value[f] < s.timed), s.asked[f] < s.time)
                ),
            )
        )

    @lemma(source="facts 12")
    def what_is_taken_is_not_replaced(s) -> Bool:
        """The comparison of times refuses what that of versions refuses."""
        return forall(
            s.Fetch,
            lambda f: implies((s.flight[f] == "answered") & s.is_taken(f), s.value[f] >= s.floor[s.by[f]]),
        )

    @reachable(after="insert", source="facts 12")
    def a_new_answer_is_refused(before, after: Self, f: Meta.Fetch) -> Bool:
        """Its question is older than the change whose content it has: the next request asks again."""
        return (before.value[f] == before.current) & ~before.is_taken(f)


class QuestionsWait(ComparesTimes):
    """The change has its time from the queue, and questions go through the same queue."""

    TAKEN_AFTER = False
    EXCLUDED = True
