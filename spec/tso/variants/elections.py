"""Variants of the oracle that are decided in their own right: the environment or the rules are other ones.

These are entries of the manifest with their own expected verdicts; what holds here is as much a result as
what breaks.
"""

from tidemark.spec.language import (
    Bool,
    Self,
    Set,
    action,
    constant,
    everywhere,
    forall,
    implies,
    ite,
    lemma,
    reachable,
    require,
    transition_invariant,
)
from tidemark.spec.tso import Tso


class ResponsesInOrder(Tso):
    """Seed 002 read plainly: what is answered later is greater (hazard 38)."""

    @transition_invariant(source="seed 002, TSO: strictly increasing; hazard 38")
    def answers_increase(before, after: Self) -> Bool:
        """Every answer is greater than all answers before it, also for calls that overlap."""
        return forall(
            after.Call,
            after.Call,
            lambda a, b: implies(
                before.answered(a) & ~before.answered(b) & after.answered(b),
                after.last_ts(a) < after.first_ts(b),
            ),
        )


class StandingClock(Tso):
    """Every clock is at zero, as after a step back: only the half-full rule moves the time (hazard 45).
    A batch that fits into no counter is refused.
    """

    def start_decide(s, server: Tso.Server, now: Tso.Time) -> None:
        super().start_decide(server, now)
        require(now == 0)

    def read_clock(s, server: Tso.Server, updater: Tso.Updater, now: Tso.Time) -> None:
        super().read_clock(server, updater, now)
        require(now == 0)

    def begin(s, call: Tso.Call, server: Tso.Server, count: Tso.Logical) -> None:
        super().begin(call, server, count)
        require(count < s.max_logical)


class EarlyLeaseEnd(Tso):
    """The lease ends while its holder still serves; the store refuses the holder's saves, or cannot be
    reached (hazard 42; hazard 43 with a leader condition).
    """

    LEASE_RULE = False


class EarlyLeaseEndProof(EarlyLeaseEnd):
    """What is left without the lease rule: uniqueness, and the order of calls to one server. The claims that
    are lost are put in weaker words here.
    """

    def ordered(s) -> Bool:
        """If one call was answered before another to the same server began, all its timestamps are
        smaller.
        """
        return forall(
            s.Call,
            s.Call,
            lambda a, b: implies(
                s.precedes[a, b] & s.answered(b) & (s.at[a] == s.at[b]), s.last_ts(a) < s.first_ts(b)
            ),
        )

    def a_call_reads_no_older_object(s) -> Bool:
        """What a server answered before a call to it began is not above what the call will read."""
        return forall(
            s.Call,
            s.Call,
            lambda a, b: implies(
                s.precedes[a, b] & (s.at[a] == s.at[b]),
                implies((s.call[b] == "begun") & s.serves(s.at[b]), s.object[a] <= s.current[s.at[b]])
                & implies(s.holds_object(b), s.object[a] <= s.object[b]),
            ),
        )

    def one_server_runs(s) -> Bool:
        """At most one server can save."""
        return forall(s.Server, lambda m: implies(s.may_save(m), s.led & (s.leader == m)))

    def restart_never_reissues(before, after: Self) -> Bool:
        """The last leader begins above every millisecond in which another server handed out anything."""
        return forall(
            after.Call,
            lambda c: implies(
                after.serves(after.leader) & ~before.serves(after.leader) & after.answered(c),
                after.stamp[after.object[c]] < after.stamp[after.current[after.leader]],
            ),
        )


class Unconditional(Tso):
    """No leader condition, but the lease rule and a store that keeps the larger end (hazard 43)."""

    CONDITIONAL = False


class PlainPut(Tso):
    """The leader condition and the lease rule, but the store takes whatever end arrives."""

    RAISES = False

    @lemma(source="facts 2.2")
    def windows_follow_objects(s) -> Bool:
        """A window reaches no further than the interval beyond what is published or about to be."""
        return forall(
            s.Server,
            lambda m: implies(
                s.serves(m),
                s.window[m]
                <= ite(s.stage[m, s.ticker] == "publishing", s.update_next[m, s.ticker], s.current[m])
                + s.interval,
            ),
        )

    @lemma(source="facts 2.2")
    def first_windows_follow_objects(s) -> Bool:
        """So does the first window, and who does not run has none."""
        return forall(
            s.Server,
            lambda m: (
                implies(s.role[m] == "starting", s.window[m] <= s.next[m] + s.interval)
                & implies(~s.runs(m), s.window[m] == 0)
            ),
        )

    @lemma(source="facts 2.2")
    def an_update_of_the_leader_is_above_all(s) -> Bool:
        """What the last leader is about to save lies above everything that was handed out."""
        return forall(
            s.Updater,
            s.Call,
            lambda u, c: implies(
                (s.stage[s.leader, u] != "idle") & (s.stage[s.leader, u] != "read") & s.holds_object(c),
                s.object[c] < s.update_next[s.leader, u],
            ),
        )


class PlainPutProof(PlainPut):
    """What is left with a plain put: the saved end may go back, but never to what was handed out."""

    def saved_never_goes_back(before, after: Self) -> Bool:
        """The saved end stays above all that was handed out."""
        return forall(after.Call, lambda c: implies(before.holds_object(c), before.object[c] < after.saved))


class LateSaves(Tso):
    """The updater stops waiting for a save, which may be applied at any time later."""

    in_network: Set[Tso.Server, Tso.Time] = everywhere(False)
    """Ends that a server has sent and given up."""

    @action(source="facts 2.2; facts 2.4: context deadline exceeded")
    def time_out_save(s, server: Tso.Server, updater: Tso.Updater) -> None:
        """The updater gives the save up: the physical part stays."""
        require(s.serves(server) & (s.stage[server, updater] == "saving"))
        s.in_network[server, s.update_next[server, updater] + s.interval] = True
        s.forget_update(server, updater)

    @action(source="facts 2.2")
    def save_late(s, server: Tso.Server, end: Tso.Time) -> None:
        """The save arrives."""
        require(s.in_network[server, end] & s.may_save(server))
        s.in_network[server, end] = False
        s.store_end(end)


class Reelection(Tso):
    """A leader may resign and be elected again without a new process; what serves is what has an object."""

    def expire(s) -> None:
        require(s.led & ~s.runs(s.leader))
        s.led = False

    @action(source="B4: reset on step down")
    def resign(s, server: Tso.Server) -> None:
        """The leader ends its term: once its updater rests it forgets its object, and stands by. Calls
        that have read the pointer keep the object and its counter.
        """
        require(s.serves(server) & s.may_resign(server))
        s.role[server] = "new"
        s.base[server] = 0
        s.window[server] = 0
        s.current[server] = 0

    def may_resign(s, server: Tso.Server) -> Bool:
        """No update is under way."""
        return forall(s.Updater, lambda u: s.stage[server, u] == "idle")

    def load_object(s, call: Tso.Call) -> None:
        server = s.at[call]
        require((s.call[call] == "begun") & s.runs(server) & (s.current[server] > 0))
        s.object[call] = s.current[server]
        s.call[call] = "loaded"

    def allocate(s, call: Tso.Call) -> None:
        server = s.at[call]
        require((s.call[call] == "loaded") & s.runs(server) & (s.current[server] > 0))
        s.add(call)


class UpdateAfterReset(Reelection):
    """An update that was under way publishes its object after the leader has resigned (bug B4)."""

    def may_resign(s, server: Reelection.Server) -> Bool:
        return s.serves(server)

    def publish(s, server: Reelection.Server, updater: Reelection.Updater) -> None:
        require(s.stage[server, updater] == "publishing")
        s.publish_object(server, s.update_next[server, updater])
        s.forget_update(server, updater)


class TwoUpdaters(Tso):
    """A server has as many updaters as there are (hazard 39)."""

    SINGLE_UPDATER = False


class Paced(Tso):
    """The updater's tick: it updates no more often than its period, and the clock is the wall's."""

    wall: Tso.Time = 0
    due: Tso.Time = 0
    published: Set[Tso.Time] = everywhere(False)  # history

    period: Tso.Time = constant()

    @action(source="seed 002, tsLoop: every 50 ms")
    def pass_time(s) -> None:
        """The wall clock goes on."""
        s.wall = s.wall + 1

    def start_decide(s, server: Tso.Server, now: Tso.Time) -> None:
        super().start_decide(server, now)
        require(now == s.wall)
        s.due = s.wall + s.period

    def read_clock(s, server: Tso.Server, updater: Tso.Updater, now: Tso.Time) -> None:
        super().read_clock(server, updater, now)
        require((now == s.wall) & (s.wall >= s.due))
        s.due = s.wall + s.period

    def publish_object(s, server: Tso.Server, time: Tso.Time) -> None:
        super().publish_object(server, time)
        s.published[time] = True

    @reachable(after="publish", source="seed 002, TSO: 3 * 1000 * 2^18 timestamps in a window")
    def a_window_gives_a_counter_for_each_millisecond(before, after: Self, server: Tso.Server) -> Bool:
        """Every millisecond of the first window has had its object."""
        end = after.base[server] + after.millisecond + after.interval
        return forall(after.Time, lambda t: implies((t >= after.millisecond) & (t < end), after.published[t]))
