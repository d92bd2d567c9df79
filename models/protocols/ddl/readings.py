"""What the DDL minimum assumes of the oracle, in its own words."""

from tidemark.models.composition.reading import Reading
from tidemark.models.protocols.tso.readings import is_an_answer
from tidemark.spec.ddl import Ddl
from tidemark.spec.tso import Tso


class StampOfATask(Reading, user=Ddl, owner=Tso, action="stamp"):
    """A task's timestamp is the answer to its call."""

    @staticmethod
    def glue(ddl, oracle, t: Ddl.Task, ts: Ddl.Ts):
        return is_an_answer(oracle, ddl.floor[t], ts)

    @staticmethod
    def takes(ddl, t, ts):
        return ts > ddl.floor[t]


class StampOfAJob(Reading, user=Ddl, owner=Tso, action="stamp_job"):
    """A job's timestamp is the answer to its call."""

    @staticmethod
    def glue(ddl, oracle, j: Ddl.Job, ts: Ddl.Ts):
        return is_an_answer(oracle, ddl.job_floor[j], ts)

    @staticmethod
    def takes(ddl, j, ts):
        return ts > ddl.job_floor[j]


class StampOfTheLoop(Reading, user=Ddl, owner=Tso, action="stamp_now"):
    """The loop's timestamp is the answer to its call."""

    @staticmethod
    def glue(ddl, oracle, ts: Ddl.Ts):
        return is_an_answer(oracle, ddl.loop_floor, ts)

    @staticmethod
    def takes(ddl, ts):
        return ts > ddl.loop_floor
