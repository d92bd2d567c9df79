"""What the time tick assumes of oracle, proxies, DDL source and sessions, in its own words."""

from tidemark.models.composition.reading import Reading
from tidemark.models.protocols.tso.readings import AnswerOfACall
from tidemark.spec.ddl import Ddl
from tidemark.spec.language import all_of, exists, forall, implies
from tidemark.spec.proxy import Proxy
from tidemark.spec.sessions import Sessions
from tidemark.spec.timetick import TimeTick
from tidemark.spec.timetick.variants.recovery import FollowsSessions


class StampOfTheOracle(AnswerOfACall, user=TimeTick, action="stamp", ts=TimeTick.Ts):
    """A message's timestamp is the answer to a call of its source."""

    @staticmethod
    def floor(tick, m: TimeTick.Message):
        return tick.floor[m]


class ReportOfAProxy(Reading, user=TimeTick, owner=Proxy, action="report"):
    """A proxy's messages are those of its tasks: what is asked for is a task that asks, with the same floor;
    what is open is a task that may append, with the same timestamp. The value is what the proxy reports.
    """

    @staticmethod
    def glue(tick, proxy, p: TimeTick.Source, c: TimeTick.Channel, value: TimeTick.Ts):
        return all_of(
            p != tick.ddl,
            proxy.issued == tick.issued,
            proxy.reported[c] == value,
            forall(
                tick.Message,
                lambda m: implies(
                    (tick.sender[m] == p) & tick.is_begun(m),
                    exists(
                        proxy.Task,
                        lambda t: (
                            proxy.uses[t, tick.channel_of[m]]
                            & (
                                (tick.message[m] == "asked")
                                & (proxy.phase[t] == "asked")
                                & (tick.floor[m] == proxy.floor[t])
                                | (tick.message[m] == "open")
                                & proxy.may_append(t, tick.channel_of[m])
                                & (tick.ts[m] == proxy.ts[t])
                            )
                        ),
                    ),
                ),
            ),
        )

    @staticmethod
    def takes(tick, p, c, value):
        return tick.is_below_all_to_come(p, c, value)


class ReportOfTheDdlSource(Reading, user=TimeTick, owner=Ddl, action="report"):
    """The DDL source's messages are those of DDL tasks and of background jobs. What it reports is one value
    for all channels.
    """

    @staticmethod
    def glue(tick, ddl, p: TimeTick.Source, value: TimeTick.Ts):
        def is_a_task(m):
            return exists(
                ddl.Task,
                lambda t: (
                    (tick.message[m] == "asked") & (ddl.phase[t] == "asked") & (tick.floor[m] == ddl.floor[t])
                    | (tick.message[m] == "open") & ddl.may_append(t) & (tick.ts[m] == ddl.ts[t])
                ),
            )

        def is_a_job(m):
            return exists(
                ddl.Job,
                lambda j: (
                    (tick.message[m] == "asked")
                    & (ddl.stage[j] == "asked")
                    & (tick.floor[m] == ddl.job_floor[j])
                    | (tick.message[m] == "open")
                    & (ddl.stage[j] == "stamped")
                    & (tick.ts[m] == ddl.job_ts[j])
                ),
            )

        return all_of(
            p == tick.ddl,
            ddl.issued == tick.issued,
            ddl.reported == value,
            forall(
                tick.Message,
                lambda m: implies((tick.sender[m] == p) & tick.is_begun(m), is_a_task(m) | is_a_job(m)),
            ),
        )

    @staticmethod
    def takes(tick, p, c: TimeTick.Channel, value):
        return tick.is_below_all_to_come(p, c, value)


class StartAmongSessions(Reading, user=FollowsSessions, owner=Sessions, action="restart"):
    """A coordinator has just begun to serve: it knows those whom it has listed. A source that has served is a
    session of which a coordinator has taken a report.
    """

    @staticmethod
    def glue(tick, sessions):
        def is_of(n, p):
            return all_of(
                sessions.admitted[n],
                implies(sessions.view[n], tick.listed[p]),
                implies(sessions.fenced[n], tick.refused(p)),
            )

        return (sessions.phase == "serving") & forall(
            tick.Source, lambda p: implies(tick.serves[p], exists(sessions.Node, lambda n: is_of(n, p)))
        )

    @staticmethod
    def takes(tick):
        return forall(tick.Source, lambda p: implies(tick.serves[p], tick.listed[p] | tick.refused(p)))


class EndOfASession(Reading, user=FollowsSessions, owner=Sessions, action="forget"):
    """The watch has just told of the end of the session."""

    @staticmethod
    def glue(tick, sessions, p: TimeTick.Source, n: Sessions.Node):
        return all_of(
            sessions.phase == "serving",
            ~sessions.view[n],
            implies(tick.serves[p], sessions.admitted[n]),
            implies(sessions.fenced[n], tick.refused(p)),
        )

    @staticmethod
    def takes(tick, p):
        return implies(tick.serves[p], tick.refused(p))


class BeginOfASession(Reading, user=FollowsSessions, owner=Sessions, action="learn"):
    """The watch tells of the begin of the session next. Who was forgotten was over at what it has told."""

    @staticmethod
    def glue(tick, sessions, p: TimeTick.Source, n: Sessions.Node):
        return all_of(
            sessions.phase == "serving",
            sessions.began[n] > sessions.seen,
            implies(tick.fenced[p], sessions.was_over(n, sessions.seen)),
        )

    @staticmethod
    def takes(tick, p):
        return ~tick.fenced[p]
