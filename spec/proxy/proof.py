"""Inductive lemmas: why the claims about a proxy's statistics and its tick are true for any size."""

from tidemark.spec.language import Bool, all_of, any_of, forall, implies, ite, lemma
from tidemark.spec.proxy.claims import ProxyClaims


class Proxy(ProxyClaims):
    """Unfinished tasks and time tick of one proxy."""

    @lemma(source="facts 2.3")
    def timestamps_are_the_oracles(s) -> Bool:
        """Every timestamp that was given is above 0 and at most the greatest issued one."""
        return all_of(
            forall(s.Task, lambda t: (s.ts[t] <= s.issued) & (s.floor[t] <= s.issued)),
            forall(s.Task, lambda t: implies(s.has_ts(t), s.ts[t] > 0)),
            (s.now <= s.issued) & (s.now_floor <= s.issued),
        )

    @lemma(source="facts 3.1: allocation order")
    def timestamps_are_unique(s) -> Bool:
        """No two tasks have the same timestamp, since no two ask at the same time."""
        return forall(
            s.Task,
            s.Task,
            lambda t, u: all_of(
                implies((t != u) & s.has_ts(t) & s.has_ts(u), s.ts[t] != s.ts[u]),
                implies((s.phase[t] == "asked") & s.has_ts(u), s.ts[u] <= s.floor[t]),
            ),
        )

    @lemma(source="facts 3.1")
    def one_holds_the_lock(s) -> Bool:
        """At most one task is between ask and commit."""
        return forall(s.Task, s.Task, lambda t, u: implies(s.holds_lock(t) & s.holds_lock(u), t == u))

    @lemma(source="facts 3.1")
    def committed_once(s) -> Bool:
        """Only a task with a timestamp is committed, and every popped task is."""
        return forall(
            s.Task,
            lambda t: all_of(
                implies(s.committed[t], s.has_ts(t)), implies(s.phase[t] == "popped", s.committed[t])
            ),
        )

    @lemma(source="hazard 12")
    def open_produces_belong_to_open_tasks(s) -> Bool:
        """While a produce is open its task is not popped, and writes to that channel."""
        return forall(
            s.Task,
            s.Channel,
            lambda t, c: implies(
                s.unknown[t, c],
                s.uses[t, c] & ((s.phase[t] == "running") | (s.phase[t] == "finished")),
            ),
        )

    @lemma(source="seed 004, 6.6.1; facts 3.2: new timestamps are larger")
    def the_holder_is_the_latest(s) -> Bool:
        """The task that holds the lock has, or will get, a timestamp above all tracked ones."""
        return forall(
            s.Task,
            s.Channel,
            s.Ts,
            lambda t, c, x: implies(
                s.holds_lock(t) & s.tracked[c, x], x < ite(s.phase[t] == "asked", s.floor[t] + 1, s.ts[t])
            ),
        )

    @lemma(source="facts 3.1")
    def statistics_were_issued(s) -> Bool:
        """All timestamps in the statistics and in a snapshot were handed out."""
        return forall(
            s.Channel,
            lambda c: all_of(
                s.max_ts[c] <= s.issued,
                s.snap_max[c] <= s.issued,
                s.min_ts[c] <= s.issued,
                s.snap_min[c] <= s.issued,
                s.value(c) <= s.issued,
            ),
        )

    @lemma(source="facts 3.3: now first")
    def the_snapshot_covers_all_below_now(s) -> Bool:
        """After the snapshot: a task outside of it gets more than now; and it has the least of the others."""
        taken = s.tick == "taken"
        return forall(
            s.Task,
            s.Channel,
            lambda t, c: all_of(
                implies(
                    taken & s.is_open(t, c),
                    ite(s.snap_present[c], s.ts[t] >= s.snap_min[c], s.ts[t] > s.now),
                ),
                implies(taken & (s.phase[t] == "asked"), (s.floor[t] >= s.now)),
                implies(taken & (s.phase[t] == "asked"), s.floor[t] >= s.snap_min[c]),
            ),
        )

    @lemma(source="facts 3.3: minTs - 1")
    def what_is_published_is_below_all_open(s) -> Bool:
        """The value of the next report is below every open timestamp, and not above future answers."""
        return forall(
            s.Task,
            s.Channel,
            lambda t, c: all_of(
                implies(s.is_open(t, c), s.ts[t] > s.value(c)),
                implies(s.phase[t] == "asked", s.floor[t] >= s.value(c)),
            ),
        )

    @lemma(source="facts 3.3")
    def ticks_go_forward(s) -> Bool:
        """The tick under way is above all published values, and so is its snapshot."""
        return forall(
            s.Channel,
            lambda c: all_of(
                s.reported[c] <= s.value(c),
                implies(s.tick == "asked", (s.now_floor >= s.value(c)) & (s.now_floor >= s.current[c])),
                implies(
                    any_of(s.tick == "stamped", s.tick == "taken"),
                    (s.now > s.value(c)) & (s.now > s.current[c]),
                ),
                implies((s.tick == "taken") & s.snap_present[c], s.snap_min[c] > s.value(c)),
            ),
        )

    @lemma(source="facts 3.1, 3.3")
    def what_is_idle_is_empty(s) -> Bool:
        """Answered calls, finished ticks and absent or unfollowed channels leave no state."""
        return all_of(
            forall(
                s.Task,
                lambda t: all_of((s.phase[t] == "asked") | (s.floor[t] == 0), s.has_ts(t) | (s.ts[t] == 0)),
            ),
            forall(
                s.Task,
                s.Channel,
                lambda t, c: implies(s.appended[t, c], s.uses[t, c] & s.has_ts(t) & ~s.unknown[t, c]),
            ),
            (s.tick == "asked") | (s.now_floor == 0),
            any_of(s.tick == "stamped", s.tick == "taken", s.now == 0),
            forall(
                s.Channel,
                lambda c: all_of(
                    s.present[c] | ((s.min_ts[c] == 0) & (s.max_ts[c] == 0)),
                    s.snap_present[c] | ((s.snap_min[c] == 0) & (s.snap_max[c] == 0)),
                    (s.tick == "taken") | ~s.snap_present[c],
                    s.follows[c] | ((s.published[c] == 0) & (s.current[c] == 0)),
                ),
            ),
        )
