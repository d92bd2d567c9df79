"""The oracle program as it is driven step by step: every action has an event that does it.

Beyond what the explored programs have: servers that are elected in any order, clients that ask any server for
any number of timestamps, clocks that show anything, and every fault.
"""

from __future__ import annotations

from tidemark.models.instance import Instance
from tidemark.models.protocols.tso.ports import SharedStore
from tidemark.models.protocols.tso.program import OracleProgram, ServerMemory
from tidemark.models.protocols.tso.refinement import CallView
from tidemark.models.protocols.tso.scenario import OracleScenario
from tidemark.models.simulation.settings import FaultBudget

_FAULTS = 8
_TRIES = 2


def scenario_of(instance: Instance) -> OracleScenario:
    """The sizes of a bounded instance.

    ValueError if the clock or the layout of its timestamps is none that the implementation has.
    """
    constants, bounds = instance.map_constants, instance.bounds
    servers, calls, last = (int(str(bounds[name])) for name in ("Server", "Call", "Time"))
    times = tuple(range(last + 1))
    scenario = OracleScenario(
        # Servers start early in time: there must be room for what follows.
        clocks=((times[: last // 3 + 1], times),) * servers,
        calls=((0, 1),) * calls,
        early=True,
        updates=10**6,
        step_downs=servers,
        faults=FaultBudget(crashes=servers, storage_failures=_FAULTS, storage_lost_acks=_FAULTS),
        millisecond=int(instance.constants["millisecond"]),
        interval=int(instance.constants["interval"]),
        max_logical=int(instance.constants["max_logical"]),
        tries=_TRIES,
    )
    same = scenario.instance(instance.protocol, last=last)
    if same.map_constants["stamp"] != constants["stamp"]:
        raise ValueError(
            f"instance {instance.name!r}: stamp is {constants['stamp']}, the implementation has "
            f"{same.map_constants['stamp']}; give the conformance entry these constants"
        )
    return scenario


class DrivenMemory(ServerMemory):
    """Counts the tries of each call, too."""

    def __init__(self) -> None:
        super().__init__()
        self.tried: dict[int, int] = {}

    def retries(self, call: int) -> None:
        """A call has got nothing and tries again."""
        super().retries(call)
        self.tried[call] = self.tried.get(call, 0) + 1

    def out_of_tries(self, call: int) -> bool:
        """Whether the call gives up when its pause ends."""
        return self.tried.get(call, 0) >= _TRIES


class DrivenOracle(OracleProgram):
    """Servers, and a client for each call at each of them.

    Attributes:
        counts: how many timestamps the calls ask for; to be set before a call begins.
    """

    def __init__(self, scenario: OracleScenario, *, store: type[SharedStore], instance: Instance) -> None:
        super().__init__(scenario, store=store, protocol=instance.protocol, instance=instance)
        self.driven = [DrivenMemory() for _ in scenario.names]
        self.memories = list(self.driven)
        self.counts: dict[int, int] = {}

    def goes_first(self, place: int) -> bool:
        """Everybody may."""
        del place
        return True

    def told_of_the_end(self, place: int) -> tuple[str, ...]:
        """Everybody else is."""
        return tuple(name for other, name in enumerate(self.scenario.names) if other != place)

    def calls_at(self, place: int) -> tuple[int, ...]:
        """Every call may ask every server."""
        del place
        return tuple(range(len(self.scenario.calls)))

    def count_of(self, call: int) -> int:
        """What was set for it."""
        return self.counts[call] * self.scenario.units.logical

    def may_begin(self, call: int) -> bool:
        """Whether the call has not asked another server."""
        return call in self.counts and self.view_of(call) is None

    def view_of(self, call: int) -> tuple[int, CallView] | None:
        """Return the server that a call has asked, and how far it has come; None before it begins."""
        for place, memory in enumerate(self.memories):
            if call in memory.calls:
                return place, memory.calls[call]
        return None
