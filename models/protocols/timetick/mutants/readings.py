"""Readings from which nothing follows: the judge of the argument must find them."""

from tidemark.models.protocols.timetick.readings import (
    ReportOfAProxy,
    ReportOfTheDdlSource,
    StartAmongSessions,
)
from tidemark.spec.language import all_of, exists, forall, implies


class ReportOfAnotherChannel(ReportOfAProxy):
    """What a proxy reports of some channel is taken for what it reports of this one."""

    @staticmethod
    def glue(tick, proxy, p, c, value):
        return exists(
            proxy.Channel,
            lambda d: ReportOfAProxy.glue(tick, proxy, p, d, value),
        )


class ReportBeforeTheQuestion(ReportOfTheDdlSource):
    """A message that asks is a task that has not asked yet."""

    @staticmethod
    def glue(tick, ddl, p, value):
        return all_of(
            p == tick.ddl,
            ddl.issued == tick.issued,
            ddl.reported == value,
            forall(
                tick.Message,
                lambda m: implies(
                    (tick.sender[m] == p) & (tick.message[m] == "asked"),
                    exists(ddl.Task, lambda t: ddl.phase[t] == "new"),
                ),
            ),
        )


class StartWithoutFences(StartAmongSessions):
    """What the coordinator of sessions has fenced, the logs take all the same."""

    @staticmethod
    def glue(tick, sessions):
        return (sessions.phase == "serving") & forall(
            tick.Source,
            lambda p: implies(
                tick.serves[p],
                exists(
                    sessions.Node,
                    lambda n: sessions.admitted[n] & implies(sessions.view[n], tick.listed[p]),
                ),
            ),
        )
