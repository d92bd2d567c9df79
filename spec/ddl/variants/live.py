"""Ticks that come for ever, for claims of liveness."""

from tidemark.spec.ddl import Ddl
from tidemark.spec.language import Bool, action, ite, maximum, removed, require


class TicksForever(Ddl):
    """The loop and the dummy task go on for ever."""

    by_clock: Bool = False  # the last timestamp was given to the loop or to a dummy task

    others_allocate = removed

    def next_ts(s, by_clock: Bool) -> Ddl.Ts:
        """What the oracle answers."""
        return ite(by_clock & s.by_clock, s.issued, s.issued + 1)

    @action(fairness="strong", source="facts 4: a dummy task every interval")
    def ask(s, t: Ddl.Task) -> None:
        """A task takes the scheduler's lock and asks the oracle."""
        super().ask(t)

    def stamp(s, t: Ddl.Task, ts: Ddl.Ts) -> None:
        require(s.phase[t] == "asked")
        require(ts == s.next_ts(s.silent[t]))
        s.issued = ts
        s.by_clock = s.silent[t]
        s.ts[t] = ts
        s.floor[t] = 0
        s.phase[t] = "stamped"

    def front(s) -> Ddl.Ts:
        return maximum(s.scheduler_min, super().front())

    @action(fairness="weak", source="facts 4: a dummy task every interval; B11")
    def come_again(s, t: Ddl.Task) -> None:
        """The dummy task is due again."""
        require(s.silent[t] & (s.phase[t] == "finished"))
        s.phase[t] = "new"
        s.ts[t] = 0

    def stamp_job(s, j: Ddl.Job, ts: Ddl.Ts) -> None:
        require(ts == s.issued + 1)
        super().stamp_job(j, ts)
        s.by_clock = False

    def stamp_now(s, ts: Ddl.Ts) -> None:
        require(s.loop == "asked")
        require(ts == s.next_ts(True))
        s.issued = ts
        s.by_clock = True
        s.last_ts = ts
        s.take_background(ts)
