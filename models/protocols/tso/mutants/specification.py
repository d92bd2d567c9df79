"""Named mutants of the oracle: hazards and real bugs, each with the property that must find it.

Every class overrides as little as possible of ``Tso``. It says which property must be refuted,
which hazard (H) or bug (B) it represents, and on which of the manifest's instances it shows.
"""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import Bool, Map, Set, action, everywhere, ite, one_of, require
from tidemark.spec.tso import Tso
from tidemark.spec.tso.variants import elections
from tidemark.spec.tso.variants.elections import LateSaves, StandingClock

# ---- start ----


@mutant(killer="tso.unique", source="B1, H44; seed 002, InitTimestamp: loadTimestamp", instance="tso-small")
class LoadErrorIsFresh(Tso):
    """A read that fails counts as "nothing was ever saved"."""

    def fail_load(s, server: Tso.Server) -> None:
        require(s.role[server] == "elected")
        s.base[server] = 0
        s.role[server] = "loaded"


@mutant(killer="tso.ordered", source="B2", instance="tso-small")
class InitIgnoresSaved(Tso):
    """The saved end is not read at all."""

    def load(s, server: Tso.Server) -> None:
        super().load(server)
        s.base[server] = 0


@mutant(killer="tso.unique", source="facts 2.4", instance="tso-small")
class StandbyLoadsEarly(Tso):
    """A standby server reads the saved end before it leads."""

    @action
    def load_early(s, server: Tso.Server) -> None:
        """The standby server prepares itself."""
        require(s.role[server] == "new")
        s.base[server] = s.saved

    def elect(s, server: Tso.Server) -> None:
        super().elect(server)
        s.role[server] = "loaded"


@mutant(killer="tso.one_server_runs", source="facts 2.4: version == 0", instance="tso-small")
class ElectedWhileLed(Tso):
    """The leader key is written without asking whether it is there."""

    def elect(s, server: Tso.Server) -> None:
        require(s.role[server] == "new")
        s.led = True
        s.leader = server
        s.role[server] = "elected"


@mutant(killer="tso.restart_never_reissues", source="H41, B3: at the start", instance="tso-small")
class StartsAtTheEnd(Tso):
    """A start keeps no millisecond from the saved end."""

    def start_decide(s, server: Tso.Server, now: Tso.Time) -> None:
        super().start_decide(server, now)
        s.next[server] = s.base[server]


@mutant(
    killer="tso.issued_below_saved",
    source="seed 002, InitTimestamp: order of its steps",
    instance="tso-small",
)
class PublishesBeforeTheSave(Tso):
    """The first object is published before the window is saved."""

    def start_decide(s, server: Tso.Server, now: Tso.Time) -> None:
        super().start_decide(server, now)
        s.publish_object(server, s.next[server])
        s.role[server] = "serving"


# ---- update ----


@mutant(killer="tso.unique", source="B3, H41", instance="tso-small")
class GuardZero(Tso):
    """The clock is followed as soon as it is ahead, be it within the same millisecond."""

    def is_ahead(s, server: Tso.Server, now: Tso.Time) -> Bool:
        return now > s.current[server]


@mutant(killer="tso.a_new_object_has_a_new_millisecond", source="H45", instance="tso-small")
class FollowsTheClockBack(Tso):
    """The physical time follows the clock wherever it goes."""

    def is_ahead(s, server: Tso.Server, now: Tso.Time) -> Bool:
        return now != s.current[server]


@mutant(killer="tso.issued_below_saved", source="facts 2.2: guard of the window", instance="tso-carry")
class SavesTooLate(Tso):
    """The window is extended only when it is passed."""

    def needs_save(s, server: Tso.Server, following: Tso.Time) -> Bool:
        return s.window[server] < following


@mutant(killer="tso.issued_below_saved", source="facts 2.2: on save error return", instance="tso-small")
class SaveErrorSwallowed(Tso):
    """A save that fails is taken for done."""

    def fail_save(s, server: Tso.Server, updater: Tso.Updater) -> None:
        require(s.serves(server) & (s.stage[server, updater] == "saving"))
        s.stage[server, updater] = "publishing"


@mutant(killer="tso.unique", source="H39, facts 2.5: ResetTimestamp", instance="tso-small")
class ResetWithoutWindow(Tso):
    """A second writer sets the physical time to the clock and looks at nothing else."""

    @action
    def reset(s, server: Tso.Server, now: Tso.Time) -> None:
        """ResetTimestamp."""
        require(s.serves(server))
        s.publish_object(server, now)


@mutant(killer="tso.calls_end", source="H40, H45", instance="tso-live")
class NoHalfFullRule(StandingClock):
    """The time moves only with the clock."""

    def is_half_full(s, server: StandingClock.Server) -> Bool:
        return s.logical[server, s.current[server]] > s.max_logical


@mutant(killer="tso.calls_end", source="seed 002, tsLoop: continue", instance="tso-live")
class SavesAreNotRetried(StandingClock):
    """A save that fails ends the updater."""

    given_up: Set[Tso.Server] = everywhere(False)

    def read_clock(
        s, server: StandingClock.Server, updater: StandingClock.Updater, now: StandingClock.Time
    ) -> None:
        super().read_clock(server, updater, now)
        require(~s.given_up[server])

    def fail_save(s, server: StandingClock.Server, updater: StandingClock.Updater) -> None:
        super().fail_save(server, updater)
        s.given_up[server] = True


# ---- calls ----


@mutant(killer="tso.unique", source="H40", instance="tso-carry")
class OverflowUnchecked(Tso):
    """The counter runs into the physical part."""

    def fits(s, total: Tso.Logical) -> Bool:
        return total >= 1

    def counted(s, total: Tso.Logical) -> Tso.Logical:
        return total


@mutant(killer="tso.logical_never_carries", source="H40", instance="tso-small")
class OverflowAtTheLimit(Tso):
    """The check is off by one."""

    def fits(s, total: Tso.Logical) -> Bool:
        return total <= s.max_logical


@mutant(killer="tso.unique", source="seed 002, GenerateTSO: atomic.AddInt64", instance="tso-small")
class AddInTwoSteps(Tso):
    """The counter is read and written in two steps."""

    seen: Map[Tso.Call, Tso.Logical] = everywhere(0)

    def load_object(s, call: Tso.Call) -> None:
        super().load_object(call)
        s.seen[call] = s.logical[s.at[call], s.object[call]]

    def allocate(s, call: Tso.Call) -> None:
        s.logical[s.at[call], s.object[call]] = s.seen[call]
        s.seen[call] = 0
        super().allocate(call)


@mutant(killer="tso.unique", source="facts 2.3; seed 002, GenerateTSO", instance="tso-carry")
class ReturnsTheEnd(Tso):
    """Who asked takes the value that Generate returns, the last of the batch, for the first one."""

    def add(s, call: Tso.Call) -> None:
        super().add(call)
        s.last[call] = ite(s.answered(call), s.last[call] + s.count[call] - 1, s.last[call])


@mutant(killer="tso.what_ended_is_over", source="H42", instance="tso-small")
class TheDeadAnswer(Tso):
    """A call that has its object is answered though the server has given up."""

    def allocate(s, call: Tso.Call) -> None:
        require(s.call[call] == "loaded")
        s.add(call)


@mutant(killer="tso.answers_are_final", source="facts 2.3: tries", instance="tso-small")
class AnAnswerIsAskedForAgain(Tso):
    """A call whose answer was lost on the way runs once more under the same name."""

    def load_object(s, call: Tso.Call) -> None:
        require(one_of(s.call[call], "begun", "answered") & s.serves(s.at[call]))
        s.object[call] = s.current[s.at[call]]
        s.call[call] = "loaded"


@mutant(killer="tso.unique", source="H43", instance="tso-short")
@mutant(killer="tso.saved_never_goes_back", source="H43", instance="tso-short", name="as-coded-saved")
class AsCoded(Tso):
    """A deposed leader that can save: no leader condition, a plain put, no lease rule (hazard 43)."""

    CONDITIONAL = False
    RAISES = False
    LEASE_RULE = False


@mutant(killer="tso.saved_never_goes_back", source="H43: with the lease rule", instance="tso-small")
class UnconditionalPlainPut(Tso):
    """No leader condition and a plain put: the lease rule alone (hazard 43)."""

    CONDITIONAL = False
    RAISES = False


@mutant(killer="tso.issued_below_saved", source="facts 2.2, 2.4: a save that timed out", instance="tso-small")
class LateSavesPlainPut(LateSaves):
    """The same with a store that takes whatever arrives from the leader."""

    RAISES = False


@mutant(killer="tso.ordered", source="H42; H43: with a leader condition", instance="tso-short")
class EarlyLeaseEnd(elections.EarlyLeaseEnd):
    """The lease ends while its holder still serves (hazards 42, 43)."""
