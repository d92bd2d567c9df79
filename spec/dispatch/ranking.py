"""Why ticks reach targets that take their packs, for any number of targets: measures and actions.

A target is at the main dispatcher, waits, or has a deputy. It gets the next pack before it returns to the
same state: a target that is split off has a deputy behind the main dispatcher, and is merged when it has
caught up.
"""

from tidemark.spec.dispatch.claims import DispatchClaims
from tidemark.spec.language import all_of, any_of, each, exists, forall, helpful, ite, least, rank


class DispatchRanking(DispatchClaims):
    """One physical channel; any number of virtual channels, collections, messages and ticks."""

    def has_to_come(s, t, ts):
        """The target is served, takes its packs, and has not had the tick, which is in the log."""
        return all_of(s.is_served(t), ~s.slow[t], s.tick >= ts, s.upto[t] < ts)

    def next_tick(s, at):
        return least(s.Ts, lambda x: s.is_tick[x] & (x > at), default=0)

    def waits_for_a_pack(s, t):
        return (s.where[t] == "main") & ~s.owed[t]

    def reads_from(s, t):
        return ite(s.where[t] == "deputy", s.deputy_at[t], s.main_at)

    def is_to_be_read(s, t, m):
        reads = (s.where[t] == "deputy") | s.waits_for_a_pack(t)
        return all_of(reads, s.logged[m], ~s.handed[m], s.ts[m] <= s.next_tick(s.reads_from(t)))

    def turn(s, t):
        """Remaining steps: to the main dispatcher, from in front of it; behind it, to a deputy."""
        to_main = ite(s.where[t] == "waiting", 2, ite(s.where[t] == "deputy", 1, 0))
        to_deputy = ite(s.where[t] == "main", 2, ite(s.where[t] == "waiting", 1, 0))
        return ite(s.upto[t] >= s.main_at, to_main, to_deputy)

    def merge_steps(s, t):
        """Remaining steps of a merge, to come or under way."""
        stale = (s.deputy[t] == "paused") & (s.main != "paused")
        to_come = ite((s.deputy_at[t] == s.main_at) | (s.main == "none"), 3, 0)
        under_way = ite(s.candidate[t], ite(s.deputy[t] == "running", 2, 1), to_come)
        return ite(s.where[t] == "deputy", ite(stale, 4, under_way), 0)

    def may_pause_the_main(s, u):
        """The target may become a candidate before the main dispatcher takes its next pack."""
        level = (s.deputy_at[u] == s.main_at) & ~s.candidate[u]
        stale = (s.deputy[u] == "paused") & (s.main != "paused")
        at_deputy = (s.where[u] == "deputy") & any_of(s.deputy_at[u] < s.main_at, level, stale)
        return any_of(s.where[u] == "absent", s.where[u] == "waiting", at_deputy)

    def has_candidates(s):
        return exists(s.Target, lambda u: s.candidate[u])

    @rank("ticks_reach_who_takes_them")
    def what_a_target_waits_for(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts):
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

    def least_position(s):
        return least(
            s.Ts,
            lambda x: exists(s.Target, lambda u: (s.where[u] == "waiting") & (s.position[u] == x)),
            default=0,
        )

    @helpful("ticks_reach_who_takes_them", action="build_main")
    def a_main_is_built(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts):
        waits = s.has_to_come(t, ts) & (s.where[t] == "waiting")
        return waits & (s.main == "none"), (s.least_position(),)

    @helpful("ticks_reach_who_takes_them", action="start_deputy")
    def it_gets_a_deputy(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts):
        waits = s.has_to_come(t, ts) & (s.where[t] == "waiting")
        return waits & (s.main != "none"), (t,)

    # ---- it has a deputy ----

    def has_a_deputy(s, t, ts, stage):
        """Its deputy is in this state."""
        return all_of(s.has_to_come(t, ts), s.where[t] == "deputy", s.deputy[t] == stage)

    @helpful("ticks_reach_who_takes_them", action="merge")
    def its_merge_ends(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts):
        return s.has_a_deputy(t, ts, "paused"), (t,)

    @helpful("ticks_reach_who_takes_them", action="take")
    def it_takes_its_pack(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts):
        owed = s.has_to_come(t, ts) & (s.where[t] == "main") & s.owed[t]
        return (s.has_a_deputy(t, ts, "running") | owed) & s.full[t], (t,)

    @helpful("ticks_reach_who_takes_them", action="read")
    def its_deputy_reads(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, m: DispatchClaims.Message):
        return all_of(s.has_a_deputy(t, ts, "running"), ~s.full[t], s.is_to_be_read(t, m)), (m,)

    @helpful("ticks_reach_who_takes_them", action="send_deputy")
    def its_deputy_sends(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts):
        whole = forall(s.Message, lambda m: ~s.is_to_be_read(t, m))
        ready = all_of(s.has_a_deputy(t, ts, "running"), ~s.full[t], whole)
        return ready, (t, s.next_tick(s.deputy_at[t]))

    # ---- it is at the main dispatcher ----

    @helpful("ticks_reach_who_takes_them", action="send_main")
    def the_main_sends(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, u: DispatchClaims.Target):
        concerns = (u == t) | s.waits_for_a_pack(t)
        return all_of(s.has_to_come(t, ts), s.where[t] == "main", concerns, s.owed[u], ~s.full[u]), (u,)

    @helpful("ticks_reach_who_takes_them", action="split")
    def another_is_split_off(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, u: DispatchClaims.Target):
        return all_of(s.has_to_come(t, ts), s.waits_for_a_pack(t), s.owed[u], s.full[u]), (u,)

    def is_idle(s, t, ts, stage):
        """The main dispatcher of the target is in this state, and has no unsent pack."""
        return all_of(s.has_to_come(t, ts), s.waits_for_a_pack(t), s.main == stage, ~s.is_busy())

    @helpful("ticks_reach_who_takes_them", action="read")
    def the_main_reads(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, m: DispatchClaims.Message):
        return s.is_idle(t, ts, "running") & s.is_to_be_read(t, m), (m,)

    @helpful("ticks_reach_who_takes_them", action="read_main")
    def the_main_takes_a_pack(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts):
        whole = forall(s.Message, lambda m: ~s.is_to_be_read(t, m))
        return s.is_idle(t, ts, "running") & whole, (s.next_tick(s.main_at),)

    @helpful("ticks_reach_who_takes_them", action="pause_deputy")
    def a_candidate_is_paused(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, u: DispatchClaims.Target):
        return all_of(s.is_idle(t, ts, "paused"), s.candidate[u], s.deputy[u] == "running"), (u,)

    @helpful("ticks_reach_who_takes_them", action="merge")
    def a_candidate_is_merged(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts, u: DispatchClaims.Target):
        return all_of(s.is_idle(t, ts, "paused"), s.candidate[u], s.deputy[u] == "paused"), (u,)

    @helpful("ticks_reach_who_takes_them", action="resume_main")
    def the_main_goes_on(s, t: DispatchClaims.Target, ts: DispatchClaims.Ts):
        return s.is_idle(t, ts, "paused") & ~s.has_candidates(), ()
