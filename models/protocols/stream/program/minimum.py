"""A consumer of channels with ticks of their own, as a program: packs end at the smallest of the last ticks.

Each step must be a step of ``AtTheMinimum`` (``mutants/minimum.py``), or change nothing of it; at the end
nothing waits that the ticks of all channels have passed.
"""

from typing import ClassVar

from tidemark.impl.stream.aligned import AlignedConsumer
from tidemark.impl.stream.minimum import MinimumConsumer
from tidemark.models.protocols.stream.program import AT_THE_MINIMUM, SPECIFICATION, StreamScenario
from tidemark.models.protocols.stream.program.aligned import AlignedProgram, AlignedScenario
from tidemark.models.refinement.scenario import program


class MinimumScenario(AlignedScenario):
    """What happens in a program of channels with ticks of their own."""

    consumer_class: ClassVar[type[AlignedConsumer]] = MinimumConsumer

    protocol: str = AT_THE_MINIMUM


class EqualScenario(MinimumScenario):
    """The same, of a consumer that waits for equal ticks, as in Milvus."""

    consumer_class = AlignedConsumer

    protocol: str = SPECIFICATION


class MinimumProgram(AlignedProgram):
    """Logs with ticks of their own, and a consumer of all of them."""

    def __init__(self, scenario: StreamScenario) -> None:
        super().__init__(scenario)
        if scenario.protocol != SPECIFICATION:
            self.at_rest = (*self.at_rest, "stream.packs_follow_ticks")


minimum = program(MinimumProgram, MinimumScenario)
equal = program(MinimumProgram, EqualScenario)
