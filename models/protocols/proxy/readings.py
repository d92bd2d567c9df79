"""What a proxy assumes of the oracle, in its own words."""

from tidemark.models.composition.reading import Reading
from tidemark.models.protocols.tso.readings import is_an_answer
from tidemark.spec.proxy import Proxy
from tidemark.spec.tso import Tso


class StampOfATask(Reading, user=Proxy, owner=Tso, action="stamp"):
    """A task's timestamp is the answer to its call."""

    @staticmethod
    def glue(proxy, oracle, t: Proxy.Task, ts: Proxy.Ts):
        return is_an_answer(oracle, proxy.floor[t], ts)

    @staticmethod
    def takes(proxy, t, ts):
        return ts > proxy.floor[t]


class StampOfTheTick(Reading, user=Proxy, owner=Tso, action="stamp_now"):
    """The tick's timestamp is the answer to a call of the ticker."""

    @staticmethod
    def glue(proxy, oracle, ts: Proxy.Ts):
        return is_an_answer(oracle, proxy.now_floor, ts)

    @staticmethod
    def takes(proxy, ts):
        return ts > proxy.now_floor
