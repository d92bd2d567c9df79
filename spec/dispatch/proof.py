"""Lemmas and ranks: why splits and merges lose no message, for any number of targets and packs.

Ticks reach each target: it is at the main dispatcher, waits, or has a deputy, and gets the next pack before
it returns to the same state: a target that is split off has a deputy behind the main dispatcher, and is
merged when it has caught up.
"""

from tidemark.spec.dispatch.claims import DispatchClaims
from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    all_of,
    any_of,
    each,
    exists,
    forall,
    helpful,
    implies,
    ite,
    least,
    lemma,
    rank,
)


class Dispatch(DispatchClaims):
    """One physical channel; any number of virtual channels, collections, messages and ticks."""

    def has_to_come(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts) -> Bool:
        """The target is served, takes its packs, and has not had the tick, which is in the log."""
        return all_of(s.is_served(t), ~s.slow[t], s.tick >= ts, s.upto[t] < ts)

    def next_tick(s, at: DispatchClaims.Ts) -> DispatchClaims.Ts:
        return least(s.Ts, lambda x: s.is_tick[x] & (x > at), default=0)

    def waits_for_a_pack(s, t: DispatchClaims.Target) -> Bool:
        return (s.where[t] == "main") & ~s.owed[t]

    def reads_from(s, t: DispatchClaims.Target) -> DispatchClaims.Ts:
        return ite(s.where[t] == "deputy", s.deputy_at[t], s.main_at)

    def is_to_be_read(s, t: DispatchClaims.Target, m: DispatchClaims.Message) -> Bool:
        reads = (s.where[t] == "deputy") | s.waits_for_a_pack(t)
        return all_of(reads, s.logged[m], ~s.handed[m], s.ts[m] <= s.next_tick(s.reads_from(t)))

    def turn(s, t: DispatchClaims.Target) -> int:
        """Remaining steps: to the main dispatcher, from in front of it; behind it, to a deputy."""
        to_main = ite(s.where[t] == "waiting", 2, ite(s.where[t] == "deputy", 1, 0))
        to_deputy = ite(s.where[t] == "main", 2, ite(s.where[t] == "waiting", 1, 0))
        return ite(s.upto[t] >= s.main_at, to_main, to_deputy)

    def merge_steps(s, t: DispatchClaims.Target) -> int:
        """Remaining steps of a merge, to come or under way."""
        stale = (s.deputy[t] == "paused") & (s.main != "paused")
        to_come = ite((s.deputy_at[t] == s.main_at) | (s.main == "none"), 3, 0)
        under_way = ite(s.candidate[t], ite(s.deputy[t] == "running", 2, 1), to_come)
        return ite(s.where[t] == "deputy", ite(stale, 4, under_way), 0)

    def may_pause_the_main(s, u: DispatchClaims.Target) -> Bool:
        """The target may become a candidate before the main dispatcher takes its next pack."""
        level = (s.deputy_at[u] == s.main_at) & ~s.candidate[u]
        stale = (s.deputy[u] == "paused") & (s.main != "paused")
        at_deputy = (s.where[u] == "deputy") & any_of(s.deputy_at[u] < s.main_at, level, stale)
        return any_of(s.where[u] == "absent", s.where[u] == "waiting", at_deputy)

    def has_candidates(s) -> Bool:
        return exists(s.Target, lambda u: s.candidate[u])

    @rank("ticks_reach_who_takes_them")
    def what_a_target_waits_for(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts) -> Measure:
        """Targets that leave and come; its own packs, turns and merges; others at the main dispatcher."""
        return (
            each(s.Target, lambda u: s.where[u] != "gone"),
            each(s.Target, lambda u: s.where[u] == "absent"),
            ts - s.upto[t],
            ite(s.upto[t] >= s.main_at, s.upto[t] - s.main_at + 1, 0),
            s.turn(t),
            s.merge_steps(t),
            s.full[t],
            each(s.Message, lambda m: s.is_to_be_read(t, m)),
            each(s.Target, lambda u: s.waits_for_a_pack(t) & s.owed[u]),
            each(s.Target, lambda u: all_of(s.waits_for_a_pack(t), s.owed[u], s.full[u])),
            each(s.Target, lambda u: s.waits_for_a_pack(t) & s.may_pause_the_main(u)),
            all_of(s.waits_for_a_pack(t), s.main == "running", s.has_candidates()),
            s.waits_for_a_pack(t) & (s.main == "paused"),
            each(s.Target, lambda u: s.waits_for_a_pack(t) & s.candidate[u]),
            each(s.Target, lambda u: all_of(s.waits_for_a_pack(t), s.candidate[u], s.deputy[u] == "running")),
        )

    # ---- it waits for a dispatcher ----

    def least_position(s) -> DispatchClaims.Ts:
        return least(
            s.Ts,
            lambda x: exists(s.Target, lambda u: (s.where[u] == "waiting") & (s.position[u] == x)),
            default=0,
        )

    @helpful("ticks_reach_who_takes_them", action="build_main")
    def a_main_is_built(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts) -> HelpfulCase:
        waits = s.has_to_come(t, ts) & (s.where[t] == "waiting")
        return waits & (s.main == "none"), (s.least_position(),)

    @helpful("ticks_reach_who_takes_them", action="start_deputy")
    def it_gets_a_deputy(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts) -> HelpfulCase:
        waits = s.has_to_come(t, ts) & (s.where[t] == "waiting")
        return waits & (s.main != "none"), (t,)

    # ---- it has a deputy ----

    def has_a_deputy(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, stage: DispatchClaims.Stage) -> Bool:
        """Its deputy is in this state."""
        return all_of(s.has_to_come(t, ts), s.where[t] == "deputy", s.deputy[t] == stage)

    @helpful("ticks_reach_who_takes_them", action="merge")
    def its_merge_ends(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts) -> HelpfulCase:
        return s.has_a_deputy(t, ts, "paused"), (t,)

    @helpful("ticks_reach_who_takes_them", action="take")
    def it_takes_its_pack(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts) -> HelpfulCase:
        owed = s.has_to_come(t, ts) & (s.where[t] == "main") & s.owed[t]
        return (s.has_a_deputy(t, ts, "running") | owed) & s.full[t], (t,)

    @helpful("ticks_reach_who_takes_them", action="read")
    def its_deputy_reads(
        s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, m: DispatchClaims.Message
    ) -> HelpfulCase:
        return all_of(s.has_a_deputy(t, ts, "running"), ~s.full[t], s.is_to_be_read(t, m)), (m,)

    @helpful("ticks_reach_who_takes_them", action="send_deputy")
    def its_deputy_sends(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts) -> HelpfulCase:
        whole = forall(s.Message, lambda m: ~s.is_to_be_read(t, m))
        ready = all_of(s.has_a_deputy(t, ts, "running"), ~s.full[t], whole)
        return ready, (t, s.next_tick(s.deputy_at[t]))

    # ---- it is at the main dispatcher ----

    @helpful("ticks_reach_who_takes_them", action="send_main")
    def the_main_sends(
        s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, u: DispatchClaims.Target
    ) -> HelpfulCase:
        concerns = (u == t) | s.waits_for_a_pack(t)
        return all_of(s.has_to_come(t, ts), s.where[t] == "main", concerns, s.owed[u], ~s.full[u]), (u,)

    @helpful("ticks_reach_who_takes_them", action="split")
    def another_is_split_off(
        s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, u: DispatchClaims.Target
    ) -> HelpfulCase:
        return all_of(s.has_to_come(t, ts), s.waits_for_a_pack(t), s.owed[u], s.full[u]), (u,)

    def is_idle(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, stage: DispatchClaims.Stage) -> Bool:
        """The main dispatcher of the target is in this state, and has no unsent pack."""
        return all_of(s.has_to_come(t, ts), s.waits_for_a_pack(t), s.main == stage, ~s.is_busy())

    @helpful("ticks_reach_who_takes_them", action="read")
    def the_main_reads(
        s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, m: DispatchClaims.Message
    ) -> HelpfulCase:
        return s.is_idle(t, ts, "running") & s.is_to_be_read(t, m), (m,)

    @helpful("ticks_reach_who_takes_them", action="read_main")
    def the_main_takes_a_pack(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts) -> HelpfulCase:
        whole = forall(s.Message, lambda m: ~s.is_to_be_read(t, m))
        return s.is_idle(t, ts, "running") & whole, (s.next_tick(s.main_at),)

    @helpful("ticks_reach_who_takes_them", action="pause_deputy")
    def a_candidate_is_paused(
        s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, u: DispatchClaims.Target
    ) -> HelpfulCase:
        return all_of(s.is_idle(t, ts, "paused"), s.candidate[u], s.deputy[u] == "running"), (u,)

    @helpful("ticks_reach_who_takes_them", action="merge")
    def a_candidate_is_merged(
        s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, u: DispatchClaims.Target
    ) -> HelpfulCase:
        return all_of(s.is_idle(t, ts, "paused"), s.candidate[u], s.deputy[u] == "paused"), (u,)

    @helpful("ticks_reach_who_takes_them", action="resume_main")
    def the_main_goes_on(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts) -> HelpfulCase:
        return s.is_idle(t, ts, "paused") & ~s.has_candidates(), ()

    def is_end(s, value: DispatchClaims.Ts) -> Bool:
        """A pack may end here, or the log begins."""
        return (value == 0) | s.is_tick[value]

    @lemma(source="facts 5.1")
    def ticks_are_those_of_the_log(s) -> Bool:
        """The last tick is the greatest; messages that were read are in the log."""
        return all_of(
            forall(s.Ts, lambda x: implies(s.is_tick[x], (x > 0) & (x <= s.tick))),
            s.is_end(s.tick),
            forall(s.Message, lambda m: implies(s.handed[m], s.logged[m])),
            forall(s.Message, lambda m: s.logged[m] | (s.ts[m] == 0)),
        )

    @lemma(source="facts 5.2")
    def the_main_goes_from_tick_to_tick(s) -> Bool:
        """The current pack has one tick, and was read. Without a main dispatcher its place is 0."""
        return all_of(
            implies(s.main == "none", s.main_at == 0),
            s.main_from <= s.main_at,
            s.main_at <= s.tick,
            s.is_end(s.main_at),
            s.is_end(s.main_from),
            forall(s.Ts, lambda x: implies(s.is_tick[x], (x <= s.main_from) | (x >= s.main_at))),
            s.is_complete(s.main_from, s.main_at),
        )

    @lemma(source="facts 5.2")
    def positions_are_ends_of_packs(s) -> Bool:
        """First position, present position and last pack are in order, and ends of packs."""
        return forall(
            s.Target,
            lambda t: all_of(
                s.begins[t] <= s.position[t],
                s.position[t] <= s.upto[t],
                s.upto[t] <= s.tick,
                s.is_end(s.position[t]),
                s.is_end(s.deputy_at[t]),
                implies(s.where[t] == "absent", s.upto[t] == 0),
                implies(s.where[t] == "waiting", s.upto[t] == s.position[t]),
                implies(s.where[t] == "deputy", s.upto[t] == s.deputy_at[t]),
            ),
        )

    @lemma(source="facts 5.2")
    def who_is_owed_is_at_the_main(s) -> Bool:
        """Unsent parts of a pack belong to targets of a running main dispatcher that have all before it."""
        return forall(
            s.Target,
            lambda t: all_of(
                implies(s.owed[t], (s.where[t] == "main") & (s.position[t] <= s.main_from)),
                implies(s.owed[t], (s.main == "running") & (s.main_from < s.main_at)),
                implies(s.where[t] == "main", s.main != "none"),
                (s.deputy[t] != "none") == (s.where[t] == "deputy"),
                implies(s.candidate[t], s.where[t] == "deputy"),
                implies(s.deputy[t] == "paused", s.candidate[t]),
            ),
        )
