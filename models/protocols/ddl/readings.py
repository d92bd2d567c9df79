"""What the DDL minimum assumes of the oracle, in its own words."""

from tidemark.models.protocols.tso.readings import AnswerOfACall
from tidemark.spec.ddl import Ddl


class StampOfATask(AnswerOfACall, user=Ddl, action="stamp", ts=Ddl.Ts):
    """A task's timestamp is the answer to its call."""

    @staticmethod
    def floor(ddl, t: Ddl.Task):
        return ddl.floor[t]


class StampOfAJob(AnswerOfACall, user=Ddl, action="stamp_job", ts=Ddl.Ts):
    """A job's timestamp is the answer to its call."""

    @staticmethod
    def floor(ddl, j: Ddl.Job):
        return ddl.job_floor[j]


class StampOfTheLoop(AnswerOfACall, user=Ddl, action="stamp_now", ts=Ddl.Ts):
    """The loop's timestamp is the answer to its call."""

    @staticmethod
    def floor(ddl):
        return ddl.loop_floor
