"""What the time tick assumes of the oracle, of proxies and of the DDL source, in its own words."""

from tidemark.models.composition.reading import Reading
from tidemark.models.protocols.tso.readings import AnswerOfACall
from tidemark.spec.ddl import Ddl
from tidemark.spec.language import all_of, exists, forall, implies
from tidemark.spec.proxy import Proxy
from tidemark.spec.timetick import TimeTick


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
