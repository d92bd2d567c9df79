"""A consumer of several channels, or one that pursues, as a program: each pack against a reckoning."""

from collections.abc import Sequence

from tidemark.impl.stream.aligned import AlignedConsumer, AlignedPack
from tidemark.impl.stream.config import Pursuit
from tidemark.impl.values.messages import ChannelMessage
from tidemark.models.protocols.stream.program import PACKS_MEET, StreamProgram, StreamScenario
from tidemark.models.refinement.scenario import program

PACKS_END = "a_pack_ends_when_it_may_not_grow"
"""Claim id: a pack that may grow gets the next tick, or has waited long enough; another one does not."""


class AlignedScenario(StreamScenario):
    """What happens in a program of several channels, or of one whose packs grow."""

    consumer_class = AlignedConsumer


class AlignedProgram(StreamProgram):
    """Logs that all get the same ticks, and a consumer of all of them. The specification leaves open where a
    pack ends; this one knows.
    """

    claims = (PACKS_MEET, PACKS_END)
    _objection = ""

    def handed_over(self, waited: float) -> None:
        """See ``StreamProgram``."""
        pursuit = self.scenario.pursuit
        if pursuit is not None:
            assert isinstance(self.pack, AlignedPack)
            self._objection = self._objection_to(self.pack, pursuit, waited)

    def complaint(self) -> str | None:
        """See ``StreamProgram``."""
        return f"{PACKS_END}: {self._objection}" if self._objection else super().complaint()

    def _objection_to(self, pack: AlignedPack, pursuit: Pursuit, waited: float) -> str:
        start, finish = pack.start.ts, pack.finish.ts
        channels = range(len(self.scenario.names))
        ticks = {tick for channel in channels for tick in self.scenario.ticks_of(channel)}
        for tick in sorted(tick for tick in ticks if start < tick < finish):
            if not self._is_behind(tick, [message for message in pack.messages if message.ts <= tick]):
                return f"a pack up to {finish} has grown beyond {tick}"
        may_grow = self._is_behind(finish, pack.messages) and not self._drops(pack)
        if may_grow != (waited >= pursuit.seconds):
            return f"a pack up to {finish} is handed over after {waited} s"
        return ""

    def _is_behind(self, tick: int, messages: Sequence[ChannelMessage]) -> bool:
        """That a pack grows beyond a drop is the specification's to refute."""
        scenario = self.scenario
        return tick < (scenario.pursues or 0) and len(messages) < scenario.at_most

    def _drops(self, pack: AlignedPack) -> bool:
        drops = [self._message(number)[1] for number in self.scenario.dropping]
        return any(message in drops for message in pack.messages)


aligned = program(AlignedProgram, AlignedScenario)
