"""Variants of the dispatchers: checks and moves, the substring test of collections, the positions of 2.6."""

from tidemark.spec.dispatch import Dispatch
from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    Set,
    action,
    all_of,
    assumption,
    constant,
    each,
    everywhere,
    exists,
    forall,
    helpful,
    implies,
    ite,
    leads_to,
    lemma,
    minimum,
    rank,
    removed,
    require,
)


class MergesEnd(Dispatch):
    """The protocol, with a claim more."""

    @leads_to(source="facts 5.2; hazard 50")
    def a_merge_ends(s) -> tuple[Bool, Bool]:
        """A main dispatcher that is paused for a merge continues, or ends, whether or not they merge."""
        return s.main == "paused", s.main != "paused"


class FromTheBeginning(Dispatch):
    """All targets come at the beginning and stay."""

    remove = removed

    def register(s, t: Dispatch.Target, position: Dispatch.Ts) -> None:
        require(position == 0)
        super().register(t, position)


class LooksThenMoves(Dispatch):
    """The second check and the move are two steps, under the lock of the manager: no target leaves in
    between, and what keeps the dispatchers where they are is the pause.
    """

    level: Set[Dispatch.Target] = everywhere(False)  # the second check has found both at one tick

    @action(fairness="weak", source="facts 5.2; hazard 50")
    def look(s, t: Dispatch.Target) -> None:
        """The second check: both dispatchers are at the same tick."""
        require(s.candidate[t] & (s.deputy[t] == "paused") & ~s.level[t])
        require((s.main == "paused") & super().is_level(t))
        s.level[t] = True

    def is_level(s, t: Dispatch.Target) -> Bool:
        return s.level[t]

    def was_looked_at(s, t: Dispatch.Target) -> Bool:
        """The second check is over, or would find that they do not merge."""
        return s.level[t] | (s.main != "paused") | ~super().is_level(t)

    def merge(s, t: Dispatch.Target) -> None:
        require(s.was_looked_at(t))
        super().merge(t)
        s.level[t] = False

    def remove(s, t: Dispatch.Target) -> None:
        require(forall(s.Target, lambda u: ~s.level[u]))
        super().remove(t)

    @lemma(source="facts 5.2; hazard 50")
    def who_was_level_is_so(s) -> Bool:
        """Until the move nothing has changed since the second check."""
        return forall(
            s.Target,
            lambda t: implies(
                s.level[t],
                all_of(s.deputy[t] == "paused", s.main == "paused", s.deputy_at[t] == s.main_at),
            ),
        )

    def merge_steps(s, t: Dispatch.Target) -> int:
        steps = super().merge_steps(t)
        return ite(s.level[t], 1, steps + steps)

    @rank("ticks_reach_who_takes_them")
    def what_a_target_waits_for(s, t: Dispatch.Target, ts: Dispatch.Ts) -> Measure:
        """The same, and at last second checks."""
        looks = each(s.Target, lambda u: all_of(s.waits_for_a_pack(t), s.candidate[u], ~s.level[u]))
        return *super().what_a_target_waits_for(t, ts), looks

    @helpful("ticks_reach_who_takes_them", action="merge")
    def its_merge_ends(s, t: Dispatch.Target, ts: Dispatch.Ts) -> HelpfulCase:
        return s.has_a_deputy(t, ts, "paused") & s.was_looked_at(t), (t,)

    @helpful("ticks_reach_who_takes_them", action="look")
    def its_deputy_is_looked_at(s, t: Dispatch.Target, ts: Dispatch.Ts) -> HelpfulCase:
        return s.has_a_deputy(t, ts, "paused") & ~s.was_looked_at(t), (t,)

    def is_ready(s, t: Dispatch.Target, ts: Dispatch.Ts, u: Dispatch.Target) -> Bool:
        return all_of(s.is_idle(t, ts, "paused"), s.candidate[u], s.deputy[u] == "paused")

    @helpful("ticks_reach_who_takes_them", action="merge")
    def a_candidate_is_merged(s, t: Dispatch.Target, ts: Dispatch.Ts, u: Dispatch.Target) -> HelpfulCase:
        return s.is_ready(t, ts, u) & s.was_looked_at(u), (u,)

    @helpful("ticks_reach_who_takes_them", action="look")
    def a_candidate_is_looked_at(s, t: Dispatch.Target, ts: Dispatch.Ts, u: Dispatch.Target) -> HelpfulCase:
        return s.is_ready(t, ts, u) & ~s.was_looked_at(u), (u,)


class LooksThenMovesWithoutThePause(LooksThenMoves):
    """Dispatchers that are told to pause continue, and the check and the move are two steps."""

    def is_at_work(s, stage: Dispatch.Stage) -> Bool:
        return stage != "none"


class WithoutThePause(Dispatch):
    """The same, with the check and the move in one step."""

    is_at_work = LooksThenMovesWithoutThePause.is_at_work


class SubstringOfTheCollection(Dispatch):
    """A message that is no row goes to every virtual channel whose name contains the number of its
    collection: that of collection 10 contains the 1 of collection 1.
    """

    contains: Set[Dispatch.Collection, Dispatch.Collection] = constant()

    @assumption(source="facts 5.2")
    def numbers_contain_themselves(s) -> Bool:
        """Every number contains itself."""
        return forall(s.Collection, lambda c: s.contains[c, c])

    def is_named(s, t: Dispatch.Target, m: Dispatch.Message) -> Bool:
        return ite(s.is_ddl[m], s.contains[s.collection[t], s.about[m]], s.to[m] == t)


class PositionsOfMessages(Dispatch):
    """2.6: a message is its own tick, and the start of a pack has the timestamp of its first message, which
    is also its end. A target that is split off has this position. A dispatcher that begins there reads the
    pack again: its seek is inclusive.
    """

    def position_of_a_split(s, t: Dispatch.Target) -> Dispatch.Ts:
        return s.main_at

    def begins_at(s, t: Dispatch.Target) -> Dispatch.Ts:
        """Below the position, until the target was sent the pack that ends there."""
        return minimum(s.upto[t], s.position[t])

    def is_below_all_who_wait(s, at: Dispatch.Ts) -> Bool:
        return exists(s.Target, lambda t: (s.where[t] == "waiting") & (s.begins_at(t) == at)) & forall(
            s.Target, lambda t: implies(s.where[t] == "waiting", at <= s.begins_at(t))
        )

    def start_deputy(s, t: Dispatch.Target) -> None:
        super().start_deputy(t)
        s.deputy_at[t] = s.begins_at(t)


class PositionsOfMessagesSkippedBelow(PositionsOfMessages):
    """The same with the comparison of 2.6: only packs that end below the position are skipped."""

    def is_sent(s, t: PositionsOfMessages.Target, end: PositionsOfMessages.Ts) -> Bool:
        return end >= s.position[t]
