"""Programs of channels by plain arguments, as the manifest gives them."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.models.protocols.channels.program import ChannelsProgram
from tidemark.models.protocols.channels.scenario import ChannelsScenario
from tidemark.models.simulation.settings import FaultBudget


def channels(
    *,
    logs: Sequence[Sequence[Sequence[int]]],
    drops: Sequence[int] = (),
    flushes: Sequence[Sequence[int]] = (),
    sync_each_row: bool = False,
    memory: int = 1_000_000,
    memory_checks: int = 0,
    timers: int = 1,
    batch: int = 1,
    parallel: int = 1,
    repetitions: int = 0,
    slow_store: bool = False,
    deadlines: int = 0,
    crashes: int = 0,
    lost_replies: int = 0,
    storage_failures: int = 0,
) -> ChannelsProgram:
    """Return a program.

    Args:
        logs: by channel its packs, by pack the segments of its rows.
        drops: channels whose last pack carries the drop message.
        flushes: (channel, flush timestamp) of each client.
        sync_each_row: a buffer is full with one row.
        memory: rows that may be in memory before the memory check acts.
        memory_checks: how often the node looks at its memory.
        timers: how often the updater's timer ends.
        batch: positions in a call of the updater.
        parallel: calls of the updater at the same time.
        repetitions: failed calls and writes that the node repeats.
        slow_store: each change of the coordinator's metadata takes a step.
        deadlines: how many deadlines of calls may pass; the node then shares the coordinator's process.
        crashes: budget of crashes of the coordinator.
        lost_replies: budget of calls that take effect while their caller sees a time-out.
        storage_failures: budget of writes that fail, of objects and of metadata.
    """
    scenario = ChannelsScenario(
        logs=tuple(tuple(tuple(pack) for pack in packs) for packs in logs),
        drops=tuple(drops),
        flushes=tuple((int(place), int(ts)) for place, ts in flushes),
        sync_each_row=sync_each_row,
        memory=memory,
        memory_checks=memory_checks,
        timers=timers,
        batch=batch,
        parallel=parallel,
        repetitions=repetitions,
        slow_store=slow_store,
        deadlines=deadlines,
        faults=FaultBudget(crashes=crashes, lost_replies=lost_replies, storage_failures=storage_failures),
    )
    return ChannelsProgram(scenario)
