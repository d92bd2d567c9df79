"""Named mutants of the oracle: hazards and real bugs, each with the property that must find it.

Every class overrides as little as possible of ``Tso``. ``killer`` is the property that must be refuted,
``origin`` the hazard (H) or bug (B) that it stands for, ``instance`` the manifest's instance on which it
shows.
"""

from typing import ClassVar

from tidemark.models.protocols.tso.mutants.pairs import StandingClock
from tidemark.spec.language import Map, Set, action, ite, one_of, require
from tidemark.spec.tso import Tso


class Mutant(Tso):
    """Base of the mutants of this file."""

    killer: ClassVar[str] = ""
    origin: ClassVar[str] = ""
    instance: ClassVar[str] = "tso-small"


# ---- start ----


class LoadErrorIsFresh(Mutant):
    """A read that fails counts as "nothing was ever saved"."""

    killer = "tso.unique"
    origin = "B1, H44; seed 002, InitTimestamp: loadTimestamp"

    def fail_load(s, server):
        require(s.role[server] == "elected")
        s.base[server] = 0
        s.role[server] = "loaded"


class InitIgnoresSaved(Mutant):
    """The saved end is not read at all."""

    killer = "tso.ordered"
    origin = "B2"

    def load(s, server):
        super().load(server)
        s.base[server] = 0


class StandbyLoadsEarly(Mutant):
    """A standby server reads the saved end before it leads."""

    killer = "tso.unique"
    origin = "facts 2.4"

    @action
    def load_early(s, server: Tso.Server):
        """The standby server prepares itself."""
        require(s.role[server] == "new")
        s.base[server] = s.saved

    def elect(s, server):
        super().elect(server)
        s.role[server] = "loaded"


class ElectedWhileLed(Mutant):
    """The leader key is written without asking whether it is there."""

    killer = "tso.one_server_runs"
    origin = "facts 2.4: version == 0"

    def elect(s, server):
        require(s.role[server] == "new")
        s.led = True
        s.leader = server
        s.role[server] = "elected"


class StartsAtTheEnd(Mutant):
    """A start keeps no millisecond from the saved end."""

    killer = "tso.restart_never_reissues"
    origin = "H41, B3: at the start"

    def start_decide(s, server, now):
        super().start_decide(server, now)
        s.next[server] = s.base[server]


class PublishesBeforeTheSave(Mutant):
    """The first object is published before the window is saved."""

    killer = "tso.issued_below_saved"
    origin = "seed 002, InitTimestamp: order of its steps"

    def start_decide(s, server, now):
        super().start_decide(server, now)
        s.publish_object(server, s.next[server])
        s.role[server] = "serving"


# ---- update ----


class GuardZero(Mutant):
    """The clock is followed as soon as it is ahead, be it within the same millisecond."""

    killer = "tso.unique"
    origin = "B3, H41"

    def is_ahead(s, server, now):
        return now > s.current[server]


class FollowsTheClockBack(Mutant):
    """The physical time follows the clock wherever it goes."""

    killer = "tso.a_new_object_has_a_new_millisecond"
    origin = "H45"

    def is_ahead(s, server, now):
        return now != s.current[server]


class SavesTooLate(Mutant):
    """The window is extended only when it is passed."""

    killer = "tso.issued_below_saved"
    origin = "facts 2.2: guard of the window"
    instance = "tso-carry"

    def needs_save(s, server, following):
        return s.window[server] < following


class SaveErrorSwallowed(Mutant):
    """A save that fails is taken for done."""

    killer = "tso.issued_below_saved"
    origin = "facts 2.2: on save error return"

    def fail_save(s, server, updater):
        require(s.serves(server) & (s.stage[server, updater] == "saving"))
        s.stage[server, updater] = "publishing"


class ResetWithoutWindow(Mutant):
    """A second writer sets the physical time to the clock and looks at nothing else."""

    killer = "tso.unique"
    origin = "H39, facts 2.5: ResetTimestamp"

    @action
    def reset(s, server: Tso.Server, now: Tso.Time):
        """ResetTimestamp."""
        require(s.serves(server))
        s.publish_object(server, now)


class PlainPut(Mutant):
    """The store takes whatever arrives."""

    killer = "tso.saved_never_goes_back"
    origin = "H43; seed 002, InitTimestamp: saveTimestamp"

    RAISES = False


class NoHalfFullRule(StandingClock):
    """The time moves only with the clock."""

    killer = "tso.calls_end"
    origin = "H40, H45"
    instance = "tso-live"

    def is_half_full(s, server):
        return s.logical[server, s.current[server]] > s.max_logical


class SavesAreNotRetried(StandingClock):
    """A save that fails ends the updater."""

    killer = "tso.calls_end"
    origin = "seed 002, tsLoop: continue"
    instance = "tso-live"

    given_up: Set[Tso.Server] = False

    def read_clock(s, server, updater, now):
        super().read_clock(server, updater, now)
        require(~s.given_up[server])

    def fail_save(s, server, updater):
        super().fail_save(server, updater)
        s.given_up[server] = True


# ---- calls ----


class OverflowUnchecked(Mutant):
    """The counter runs into the physical part."""

    killer = "tso.unique"
    origin = "H40"
    instance = "tso-carry"

    def fits(s, total):
        return total >= 1

    def counted(s, total):
        return total


class OverflowAtTheLimit(Mutant):
    """The check is off by one."""

    killer = "tso.logical_never_carries"
    origin = "H40"

    def fits(s, total):
        return total <= s.max_logical


class AddInTwoSteps(Mutant):
    """The counter is read and written in two steps."""

    killer = "tso.unique"
    origin = "seed 002, GenerateTSO: atomic.AddInt64"

    seen: Map[Tso.Call, Tso.Logical] = 0

    def load_object(s, call):
        super().load_object(call)
        s.seen[call] = s.logical[s.at[call], s.object[call]]

    def allocate(s, call):
        s.logical[s.at[call], s.object[call]] = s.seen[call]
        s.seen[call] = 0
        super().allocate(call)


class ReturnsTheEnd(Mutant):
    """Who asked takes the value that Generate returns, the last of the batch, for the first one."""

    killer = "tso.unique"
    origin = "facts 2.3; seed 002, GenerateTSO"
    instance = "tso-carry"

    def add(s, call):
        super().add(call)
        s.last[call] = ite(s.answered(call), s.last[call] + s.count[call] - 1, s.last[call])


class TheDeadAnswer(Mutant):
    """A call that has its object is answered though the server has given up."""

    killer = "tso.what_ended_is_over"
    origin = "H42"

    def allocate(s, call):
        require(s.call[call] == "loaded")
        s.add(call)


class AnAnswerIsAskedForAgain(Mutant):
    """A call whose answer was lost on the way runs once more under the same name."""

    killer = "tso.answers_are_final"
    origin = "facts 2.3: tries"

    def load_object(s, call):
        require(one_of(s.call[call], "begun", "answered") & s.serves(s.at[call]))
        s.object[call] = s.current[s.at[call]]
        s.call[call] = "loaded"
