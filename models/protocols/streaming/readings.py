"""What a streaming node assumes of the oracle, in its own words."""

from tidemark.models.composition.reading import Reading
from tidemark.models.protocols.tso.readings import is_an_answer
from tidemark.spec.streaming import Streaming
from tidemark.spec.tso import Tso


class StampOfAMessage(Reading, user=Streaming, owner=Tso, action="draw"):
    """A message's timestamp is the answer to a call that began after all earlier answers to this channel."""

    @staticmethod
    def glue(streaming, oracle, m: Streaming.Message, ts: Streaming.Ts):  # noqa: ARG004
        return is_an_answer(oracle, streaming.issued, ts)

    @staticmethod
    def takes(streaming, m, ts):  # noqa: ARG004
        return ts > streaming.issued


class StampOfATerm(Reading, user=Streaming, owner=Tso, action="reopen"):
    """The first tick of a term is the answer to a call that began after all earlier answers."""

    @staticmethod
    def glue(streaming, oracle, ts: Streaming.Ts):
        return is_an_answer(oracle, streaming.issued, ts)

    @staticmethod
    def takes(streaming, ts):
        return ts >= streaming.issued
