"""What must happen to the proxy's reports: a form whose ticks never run out of timestamps within bounds.

A bounded instance has few timestamps, and every tick takes one. Here the oracle counts up by one, and
answers a tick with the last tick's timestamp again if none was given in between: nothing has a larger
one. So two timestamps a task, and one more, suffice for any number of ticks.
"""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import action, ite, require
from tidemark.spec.proxy import Proxy


class TicksForever(Proxy):
    """The oracle counts up by one, and repeats itself for a tick when no other client has asked."""

    others_allocate = None

    def stamp(s, t, ts):
        require(ts == s.issued + 1)
        super().stamp(t, ts)

    def nobody_asked_since(s):
        """The greatest timestamp is the last tick's."""
        return s.issued == s.default

    def stamp_now(s, ts):
        require(s.tick == "asked")
        require(ts == ite(s.nobody_asked_since() & (s.issued > 0), s.issued, s.issued + 1))
        s.issued = ts
        s.now = ts
        s.now_floor = 0
        s.tick = "stamped"


@mutant(
    killer="proxy.reports_pass_finished_tasks",
    source="B8",
    instance="proxy-live",
    name="pop-lookup-fails-stops-reports",
)
class PopLookupFails(TicksForever):
    """A pop whose lookup fails leaves its timestamp behind: the reports of its channels stop (B8)."""

    @action(source="B8")
    def pop_in_vain(s, t: Proxy.Task):
        """The lookup fails: the task is over, its timestamp is not taken out."""
        require((s.phase[t] == "finished") & s.pop_is_free() & s.outcome_is_known(t))
        s.phase[t] = "popped"


@mutant(
    killer="proxy.reports_pass_finished_tasks",
    source="H27",
    instance="proxy-live",
    name="pop-without-lock-stops-reports",
)
class PopWithoutLock(TicksForever):
    """A pop before the commit leaves a ghost: the reports of its channels stop (hazard 27)."""

    def pop_is_free(s):
        return True


@mutant(killer="proxy.reports_follow_the_oracle", source="B48", instance="proxy-live")
class NoDefaultReport(TicksForever):
    """Channels without unfinished tasks are not reported (B48)."""

    def idle_value(s, c):
        return s.reported[c]
