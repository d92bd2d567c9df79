"""Readings of the sources, and hazards in pairs: with and without the rule that makes them harmless.

These are instances and proofs of the manifest with their own expected verdicts; the half that holds is a
result, too.
"""

from tidemark.spec.language import action, constant, each, forall, greatest, implies, require
from tidemark.spec.timetick import TimeTick


def one_minimum(s: TimeTick, c: TimeTick.Channel) -> TimeTick.Ts:
    """Seed 002's words: the minimum over all channels goes to every channel."""
    return greatest(
        s.Ts,
        lambda v: forall(s.Source, s.Channel, lambda p, d: implies(s.known[p], v <= s.entry_ts[p, d])),
        upto=s.entry_ts[s.ddl, c],
        default=0,
    )


class OneMinimum(TimeTick):
    """Every channel gets the same tick."""

    def round_value(s, c: TimeTick.Channel) -> TimeTick.Ts:
        return one_minimum(s, c)


class NewestRoundWins(TimeTick):
    """A full queue replaces its round by the newer one (hazard 29, the other way round)."""

    def drop_round(s) -> None:
        require(s.up & s.queued)
        require(s.round_is_complete())
        s.queued_ts = each(s.Channel, s.round_value)
        s.clear_entries()


class TicksMayGoBack(TimeTick):
    """A tick below the last one is sent (hazard 30): after a join, an overtaken report, a restart."""

    MONOTONE = False
    RESUMES = False


class OneSilentSession(TimeTick):
    """One source never reports: it hangs, and keeps its lease (hazard 29)."""

    silent: TimeTick.Source = constant()

    def report(s, p: TimeTick.Source, upto: TimeTick.Ts) -> None:
        require(p != s.silent)
        super().report(p, upto)


class SilentSessionExpires(OneSilentSession):
    """One source never reports, and its lease ends in time."""

    @action(fairness="weak", source="facts 4: delSession")
    def expire(s, p: TimeTick.Source) -> None:
        """The lease of the silent source ends."""
        require(p == s.silent)
        super().expire(p)


class SilentSessionNeverExpires(OneSilentSession):
    """One source never reports, and another thread of its process keeps its lease."""

    def expire(s, p: OneSilentSession.Source) -> None:
        require(p != s.silent)
        super().expire(p)


class FaultsForEver(TimeTick):
    """Faults without a limit: promises of liveness fail."""

    def fault(s) -> None:
        """Faults are not counted, so that no bound ends them."""
        s.faults = 0
