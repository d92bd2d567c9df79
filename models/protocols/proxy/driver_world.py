"""The proxy's program as it is driven step by step: every action has an event that does it."""

from __future__ import annotations

from tidemark.impl.errors import RpcError
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.values import DmlTask
from tidemark.impl.timestamp import Timestamp
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.oracle import ChosenOracle
from tidemark.models.protocols.proxy.ports import LogProcess
from tidemark.models.protocols.proxy.program import ProxyProgram, ProxyScenario
from tidemark.models.simulation.settings import FaultBudget
from tidemark.models.simulation.world.process import Process

_ALWAYS = 1_000
_FAULTS = 4


def scenario_of(instance: Instance) -> ProxyScenario:
    """The tasks of a bounded instance, and as many ticks, reports and strangers as it wants."""
    names = [f"channel {place}" for place in range(int(str(instance.bounds["Channel"])))]
    uses = instance.map_constants["uses"]
    tasks = int(str(instance.bounds["Task"]))
    flat = [uses[t * len(names) : (t + 1) * len(names)] for t in range(tasks)]
    return ProxyScenario(
        tasks=tuple(tuple(n for n, used in zip(names, row, strict=True) if used) for row in flat),
        ticks=_ALWAYS,
        reports=_ALWAYS,
        others=_ALWAYS,
        parallel=_ALWAYS,
        interval=int(str(instance.constants["interval"])),
        greatest=int(str(instance.bounds["Ts"])),
        near_oracle=True,
        log_faults=FaultBudget(delays=_FAULTS, drops=_FAULTS, lost_replies=_FAULTS),
    )


class ChoosyLog(LogProcess):
    """Refuses what its driver has chosen.

    Attributes:
        rejected: timestamps of the tasks whose messages are refused.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rejected: set[Timestamp] = set()

    def append(self, channel: str, ts: Timestamp) -> None:
        """Append a message, or refuse it."""
        if ts in self.rejected:
            self.refused.add((channel, ts))
            raise RpcError(f"the message {ts} of {channel} is refused")
        super().append(channel, ts)


class DrivenProxy(ProxyProgram):
    """One proxy whose clients come in any order, and come again when they were refused."""

    def __init__(self, scenario: ProxyScenario, *, protocol: str) -> None:
        super().__init__(scenario, protocol=protocol)
        self.chosen = self.oracle = ChosenOracle()
        self.choosy = self.log = ChoosyLog()

    async def run_clients(self, process: Process, proxy: Proxy) -> None:
        """All clients at once, each with a point of its own."""
        for place in range(len(self.tasks)):
            process.spawn(self._come(process, proxy, place), f"client {place}")

    async def _come(self, process: Process, proxy: Proxy, place: int) -> None:
        while True:
            await process.point("client.write")
            try:
                await proxy.submit(self.tasks[place])
            except RpcError:
                self.tasks[place] = DmlTask(self.tasks[place].channels)
                continue
            return
