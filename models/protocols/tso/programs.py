"""The oracle program by plain arguments, as the manifest gives them."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.models.protocols.tso.ports import SharedStore
from tidemark.models.protocols.tso.program import OracleProgram
from tidemark.models.protocols.tso.scenario import OracleScenario
from tidemark.models.simulation.settings import FaultBudget


def oracle(
    *,
    clocks: Sequence[Sequence[Sequence[int]]],
    calls: Sequence[Sequence[int]] = (),
    early: bool = False,
    updates: int = 0,
    crashes: int = 0,
    storage_failures: int = 0,
    storage_lost_acks: int = 0,
    step_downs: int = 0,
    late_watch: bool = False,
    lease_rule: bool = True,
    millisecond: int = 1,
    interval: int = 3,
    max_logical: int = 4,
    tries: int = 2,
    updaters: int = 1,
    store: type[SharedStore] = SharedStore,
    protocol: str = "tidemark.spec.tso:Tso",
    sound: bool = True,
) -> OracleProgram:
    """Return a program. See ``OracleScenario`` for the units.

    Args:
        clocks: by server what its clock may show at the start, and what at an update; an update shows the
            same as the start if that is left out.
        calls: server and number of timestamps of each call.
        early: the calls may begin before their server serves.
        updates: how often each server's updater runs.
        crashes: budget of crashes of servers.
        storage_failures: budget of operations of the store that fail without effect.
        storage_lost_acks: budget of those that take effect and are reported as failed.
        step_downs: so many servers, from the first on, may notice that their lease ends.
        late_watch: the time of a term runs out in a step before the one in which its watch finds out.
        lease_rule: the store ends a lease only after its holder has stopped.
        millisecond: units of the fine clock in one.
        interval: length of the window.
        max_logical: the counter stays below.
        tries: of one call.
        updaters: of each server. Two are one too many.
        store: class of the store's client.
        protocol: the specification that each step must follow.
        sound: it keeps its own properties.
    """
    scenario = OracleScenario(
        clocks=tuple((tuple(clock[0]), tuple(clock[-1])) for clock in clocks),
        calls=tuple((server, count) for server, count in calls),
        early=early,
        updates=updates,
        faults=FaultBudget(
            crashes=crashes, storage_failures=storage_failures, storage_lost_acks=storage_lost_acks
        ),
        step_downs=step_downs,
        late_watch=late_watch,
        lease_rule=lease_rule,
        millisecond=millisecond,
        interval=interval,
        max_logical=max_logical,
        tries=tries,
    )
    return OracleProgram(scenario, updaters=updaters, store=store, protocol=protocol, sound=sound)
