"""Named mutants of a streaming node, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import Bool, forall, implies, require
from tidemark.spec.streaming import Streaming

SMALL = "streaming-small"


@mutant(killer="streaming.watermark_promise", source="property W; facts 11", instance=SMALL)
class TickWaitsForNothing(Streaming):
    """A tick carries its own timestamp, whatever is not acknowledged."""

    def is_waited_for(s, m: Streaming.Message) -> Bool:
        return super().is_waited_for(m) & (s.ts[m] == 0)


@mutant(killer="streaming.watermark_promise", source="facts 11; hazard 12", instance=SMALL)
class TickReachesAMessage(Streaming):
    """A tick may be equal to the timestamp of a message that is not acknowledged."""

    def collect(s, ts: Streaming.Ts, upto: Streaming.Place) -> None:
        require(s.is_open & (s.to_write == 0) & s.lock_is_free())
        require(ts > s.passed)
        require(forall(s.Message, lambda m: implies(s.is_waited_for(m), s.ts[m] >= ts)))
        require((upto >= s.confirmed) & (upto <= s.end))
        require(forall(s.Message, lambda m: implies(s.is_in_log_above(m, ts), s.place[m] > upto)))
        s.take_tick(ts, upto)


@mutant(killer="streaming.a_start_leaves_out_only_what_is_passed", source="facts 11", instance=SMALL)
class StartIsTheEnd(Streaming):
    """Readers of a tick start behind the end of the log, though a later message may lie before it."""

    def is_in_log_above(s, m: Streaming.Message, ts: Streaming.Ts) -> Bool:
        return super().is_in_log_above(m, ts) & (s.end == 0)


@mutant(killer="streaming.ticks_never_go_back", source="facts 11", instance=SMALL)
class TermForgetsItsTicks(Streaming):
    """A new term begins without a first tick, and collects from the beginning."""

    def reopen(s, ts: Streaming.Ts) -> None:
        super().reopen(ts)
        s.passed = 0
        s.to_write = 0


@mutant(killer="streaming.a_reader_misses_nothing_later", source="facts 11", instance=SMALL)
class StartIsTheOwnPlace(Streaming):
    """The start that is noted with a message is its own place, though a later one may lie before it."""

    def append(s, m: Streaming.Message) -> None:
        super().append(m)
        s.since[m] = s.end


@mutant(killer="streaming.ticks_pass_a_message", source="facts 11", instance="streaming-live")
class TickNeedsAQuietLog(Streaming):
    """A tick is collected only while nothing has been drawn since the last one."""

    def collect(s, ts: Streaming.Ts, upto: Streaming.Place) -> None:
        require(s.issued == s.passed)
        super().collect(ts, upto)
