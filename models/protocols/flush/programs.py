"""The flush program by plain arguments, as the manifest gives them."""

from collections.abc import Sequence
from typing import Any

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datanode.data_node import DataNodeParts
from tidemark.models.protocols.flush.program import FlushProgram
from tidemark.models.protocols.flush.scenario import FlushScenario
from tidemark.models.simulation.settings import FaultBudget


def flush(
    *,
    rows: Sequence[int],
    flushes: Sequence[int] = (),
    sync_each_row: bool = False,
    seals: bool = False,
    timer_firings: int = 0,
    endless: bool = False,
    crashes: int = 0,
    lost_replies: int = 0,
    delays: int = 0,
    drops: int = 0,
    duplicates: int = 0,
    messages: int | None = None,
    storage_failures: int = 0,
    torn_writes: int = 0,
    local_storage: bool = False,
    moves: int = 0,
    remote_client: bool = False,
    repetitions: int | None = None,
    parts: DataNodeParts | None = None,
    coordinator: type[Coordinator] = Coordinator,
    program: type[FlushProgram] = FlushProgram,
) -> FlushProgram:
    """Return a program.

    Args:
        rows: the segment of the row at each tick, from tick 1 on; 0 for a tick without a row.
        flushes: flush timestamps that the client asks for, each in a request of its own.
        sync_each_row: the buffer is full with one row.
        seals: a flush also ends the segments whose last row it covers.
        timer_firings: how often timers fire; ``endless``: without a limit.
        crashes: budget of crashes of the node.
        lost_replies: budget of calls that take effect while their caller sees a time-out.
        delays: budget of requests that arrive after their caller has given up.
        drops: budget of requests that vanish.
        duplicates: budget of requests of which a copy is under way as well.
        messages: budget of faults of messages, all kinds together; None: only those of the kinds.
        storage_failures: budget of writes to the object store that fail.
        torn_writes: budget of writes to the object store that fail half-way.
        local_storage: the binlogs lie on the node's own disk, which loses at a crash what was not synced.
        moves: how often the operator takes the channel from the node and gives it back.
        remote_client: the client is a process of its own.
        repetitions: how many failed calls and writes are repeated by each; None: a firing of a timer each.
        parts: classes of the node.
        coordinator: class of the coordinator; ``program``: that of the whole.
    """
    scenario = FlushScenario(
        rows=tuple(rows),
        flushes=tuple(flushes),
        sync_each_row=sync_each_row,
        seals=seals,
        timer_firings=None if endless else timer_firings,
        faults=FaultBudget(
            crashes=crashes,
            lost_replies=lost_replies,
            delays=delays,
            drops=drops,
            duplicates=duplicates,
            messages=messages,
            storage_failures=storage_failures,
            torn_writes=torn_writes,
        ),
        repeats_calls=False,
        moves=moves,
        remote_client=remote_client,
        repetitions=repetitions,
        local_storage=local_storage,
    )
    return program(scenario, parts=parts, coordinator=coordinator)


def over_files(**scenario: Any) -> FlushProgram:
    """Return the program over the real adapters, with the same arguments."""
    from tidemark.models.protocols.flush.real_stores import RealStoresProgram  # needs pyarrow, an extra

    return flush(program=RealStoresProgram, **scenario)
