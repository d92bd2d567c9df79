"""A consumer of channels with ticks of their own, as a program: packs end at the smallest of the last ticks.

Each step must be a step of ``AtTheMinimum`` (``mutants/minimum.py``), or change nothing of it; at the end
nothing waits that the ticks of all channels have passed.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.impl.stream.aligned import AlignedConsumer
from tidemark.impl.stream.minimum import MinimumConsumer
from tidemark.models.protocols.stream.aligned import AlignedProgram
from tidemark.models.protocols.stream.program import (
    AT_THE_MINIMUM,
    SPECIFICATION,
    StreamProgram,
    StreamScenario,
)
from tidemark.models.simulation.settings import FaultBudget


class MinimumProgram(AlignedProgram):
    """Logs with ticks of their own, and a consumer of all of them."""

    at_rest = ("stream.every_message_is_stored", "stream.packs_follow_ticks")


def minimum(
    *,
    messages: Sequence[int],
    ticks: Sequence[Sequence[int]],
    copies: Sequence[int] = (),
    start: int = 0,
    channel: Sequence[int] = (),
    drops: Sequence[int] = (),
    pursues: int | None = None,
    at_most: int = 100,
    crashes: int = 0,
    unknown_stores: int = 0,
    consumer: type[AlignedConsumer] = MinimumConsumer,
    protocol: str = AT_THE_MINIMUM,
) -> StreamProgram:
    """Return a program of channels with ticks of their own.

    Args:
        ticks: by channel its ticks.
        consumer: class of the consumer. Milvus' rule follows ``tidemark.spec.stream:Stream`` itself.
        protocol: the specification, or a variant of it.
        messages, copies, start, channel, drops, pursues, at_most, crashes, unknown_stores: see ``aligned``.
    """
    scenario = StreamScenario(
        messages=tuple(messages),
        copies=tuple(copies),
        own_ticks=tuple(tuple(own) for own in ticks),
        start=start,
        channels=len(ticks),
        channel=tuple(channel),
        drops=tuple(drops),
        aligned=True,
        pursues=pursues,
        at_most=at_most,
        faults=FaultBudget(crashes=crashes, storage_lost_acks=unknown_stores),
    )
    made = MinimumProgram if protocol != SPECIFICATION else AlignedProgram
    return made(scenario, consumer=consumer, protocol=protocol)


def equal(
    *, messages: Sequence[int], ticks: Sequence[Sequence[int]], channel: Sequence[int] = ()
) -> StreamProgram:
    """Return a program of such channels with a consumer that waits for equal ticks, as in Milvus."""
    return minimum(
        messages=messages, ticks=ticks, channel=channel, consumer=AlignedConsumer, protocol=SPECIFICATION
    )
