"""What a proxy assumes of the oracle, in its own words."""

from tidemark.models.protocols.tso.readings import AnswerOfACall
from tidemark.spec.proxy import Proxy


class StampOfATask(AnswerOfACall, user=Proxy, action="stamp", ts=Proxy.Ts):
    """A task's timestamp is the answer to its call."""

    @staticmethod
    def floor(proxy, t: Proxy.Task):
        return proxy.floor[t]


class StampOfTheTick(AnswerOfACall, user=Proxy, action="stamp_now", ts=Proxy.Ts):
    """The tick's timestamp is the answer to a call of the ticker."""

    @staticmethod
    def floor(proxy):
        return proxy.now_floor
