"""Named mutants of the dispatchers, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.dispatch import Dispatch
from tidemark.spec.dispatch.variants.other_rules import FromTheBeginning
from tidemark.spec.language import Bool, action, each, exists, forall, implies, require


@mutant(killer="dispatch.nothing_is_left_out", source="H50: no second check", instance="dispatch-small")
@mutant(
    killer="dispatch.nothing_is_sent_twice",
    source="H50: no second check",
    instance="dispatch-small",
    name="merge-without-second-check-repeats",
)
class MergeWithoutSecondCheck(Dispatch):
    """Both were at the same tick when the merge began; that they still are is not looked at."""

    def is_level(s, t: Dispatch.Target) -> Bool:
        return s.deputy_at[t] + s.main_at >= 0


@mutant(
    killer="dispatch.nothing_is_left_out", source="H50: the split's position", instance="dispatch-three-ticks"
)
class SplitFromTheEnd(Dispatch):
    """A target that is split off goes on behind the pack that it did not take."""

    def position_of_a_split(s, t: Dispatch.Target) -> Dispatch.Ts:
        return s.main_at


@mutant(killer="dispatch.nothing_else_is_sent", source="B24: the skip rule", instance="dispatch-small")
class SkipsOnlyWhatEndsBelow(Dispatch):
    """A pack that ends at a target's position is sent."""

    def is_sent(s, t: Dispatch.Target, end: Dispatch.Ts) -> Bool:
        return end >= s.position[t]


@mutant(killer="dispatch.nothing_else_is_sent", source="facts 5.2: the skip rule", instance="dispatch-small")
class SkipsNothing(Dispatch):
    """Every target of the main dispatcher gets every pack, whatever its position."""

    def is_sent(s, t: Dispatch.Target, end: Dispatch.Ts) -> Bool:
        return end > 0


@mutant(killer="dispatch.nothing_is_left_out", source="facts 5.2", instance="dispatch-small")
class BeginsAtTheGreatestPosition(Dispatch):
    """The main dispatcher begins at the greatest position of the targets that wait."""

    def is_below_all_who_wait(s, at: Dispatch.Ts) -> Bool:
        return exists(s.Target, lambda t: (s.where[t] == "waiting") & (s.position[t] == at)) & forall(
            s.Target, lambda t: implies(s.where[t] == "waiting", at >= s.position[t])
        )


@mutant(
    killer="dispatch.who_is_at_the_main_is_where_it_is",
    source="seed 002 (groupingMsgs: ticks for all)",
    instance="dispatch-tiny",
)
@mutant(
    killer="dispatch.ticks_reach_who_takes_them",
    source="seed 002 (groupingMsgs: ticks for all)",
    instance="dispatch-tiny",
    name="no-tick-without-messages-stalls",
)
class NoTickWithoutMessages(Dispatch):
    """A target without messages in the pack gets nothing, no tick either."""

    def read_main(s, end: Dispatch.Ts) -> None:
        super().read_main(end)
        s.owed = each(
            s.Target,
            lambda t: s.owed[t] & exists(s.Message, lambda m: s.is_part(t, t, m, s.main_from, s.main_at)),
        )


@mutant(killer="dispatch.nothing_is_left_out", source="facts 5.2: whole packs", instance="dispatch-tiny")
class TakesWhatWasRead(Dispatch):
    """A pack is taken before all of it was read."""

    def is_complete(s, start: Dispatch.Ts, end: Dispatch.Ts) -> Bool:
        return start < end


@mutant(
    killer="dispatch.ticks_reach_who_takes_them",
    source="facts 5.2: maxTolerantLag",
    instance="dispatch-slow",
)
class WaitsForSlowTargets(FromTheBeginning):
    """The main dispatcher waits for a target that takes nothing."""

    def split(s, t: FromTheBeginning.Target) -> None:
        require(~s.slow[t])
        super().split(t)


@mutant(killer="dispatch.ticks_reach_who_takes_them", source="facts 5.2: resume", instance="dispatch-small")
class TheMainIsNotResumed(Dispatch):
    """A main dispatcher that was paused may stay so."""

    @action(source="hazard 50")
    def resume_main(s) -> None:
        """The main dispatcher goes on, if ever."""
        super().resume_main()


@mutant(killer="dispatch.ticks_reach_who_takes_them", source="facts 5.2: resume", instance="dispatch-small")
class TheDeputyIsNotResumed(Dispatch):
    """A deputy that was paused and is not merged stays so."""

    def merge(s, t: Dispatch.Target) -> None:
        require(s.may_merge(t))
        super().merge(t)


@mutant(
    killer="dispatch.dispatchers_are_there_for_their_targets",
    source="facts 5.2: the last target goes",
    instance="dispatch-small",
)
class TheMainStaysWithoutTargets(Dispatch):
    """A main dispatcher goes on when its last target is gone."""

    def end_main(s) -> None:
        pass
