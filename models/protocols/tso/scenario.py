"""What happens in an oracle program, and the bounded instance of the specification that it must refine."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tidemark.impl.timestamp import MAX_LOGICAL, NANOSECONDS
from tidemark.impl.tso.config import OracleConfig
from tidemark.models.instance import Instance
from tidemark.models.protocols.tso.refinement import Shape, Units
from tidemark.models.simulation.settings import ClockOrder, FaultBudget, Settings

NAMES = ("a", "b", "c")
"""The servers, in the order in which they are elected."""


@dataclass(frozen=True, kw_only=True)
class OracleScenario:
    """What happens in an oracle program. Times in units of the fine clock, counters in batches of one.

    Attributes:
        clocks: by server what its clock may show at the start, and what at an update.
        calls: (server, how many timestamps) of each call, in batches of one.
        early: the calls may begin before their server serves.
        updates: how often each server's updater runs.
        faults: budget of faults. Every server may crash.
        step_downs: so many servers, from the first on, may notice that their lease ends.
        late_watch: the time of a term runs out in a step before the one in which its watch finds out.
        lease_rule: the store ends a lease only after its holder has stopped.
        millisecond: units of the fine clock in one.
        interval: length of the window.
        max_logical: the counter stays below.
        tries: of one call.
    """

    clocks: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    calls: tuple[tuple[int, int], ...]
    early: bool = False
    updates: int = 0
    faults: FaultBudget = field(default_factory=FaultBudget)
    step_downs: int = 0
    late_watch: bool = False
    lease_rule: bool = True
    millisecond: int = 1
    interval: int = 3
    max_logical: int = 4
    tries: int = 2

    def __post_init__(self) -> None:
        if len(self.clocks) > len(NAMES):
            raise ValueError(f"{len(self.clocks)} clocks; there are at most {len(NAMES)} servers")
        if MAX_LOGICAL % self.max_logical or NANOSECONDS % self.millisecond:
            raise ValueError(
                f"max_logical {self.max_logical} must divide {MAX_LOGICAL}, "
                f"millisecond {self.millisecond} must divide {NANOSECONDS}"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the servers."""
        return NAMES[: len(self.clocks)]

    @property
    def units(self) -> Units:
        """What a step of the specification's numbers is in the implementation."""
        return Units(time=NANOSECONDS // self.millisecond, logical=MAX_LOGICAL // self.max_logical)

    @cached_property
    def last_time(self) -> int:
        """The greatest time that can be saved."""
        saved = 0
        for clock in self.clocks:
            shown = max(time for times in clock for time in times)
            reached = max(shown, saved + self.millisecond) + self.updates * self.millisecond
            saved = reached + self.interval
        return saved

    def shape(self, updaters: int, last: int) -> Shape:
        """The size of the abstract state, up to a time."""
        return Shape(
            servers=len(self.clocks),
            updaters=updaters,
            times=last,
            max_logical=self.max_logical,
            targets=tuple(server for server, _ in self.calls),
            units=self.units,
        )

    def config(self) -> OracleConfig:
        """Return the configuration of a server: the real one, with a short window."""
        return OracleConfig(window=self.interval * self.units.time, tries=self.tries)

    def settings(self) -> Settings:
        """Return the bounds of the world."""
        return Settings(
            faults=self.faults,
            crashable=frozenset(self.names) if self.faults.crashes else frozenset(),
            clock=ClockOrder.UNTIMED,
        )

    def instance(self, protocol: str, *, updaters: int = 1, last: int | None = None) -> Instance:
        """Return the bounded instance of a specification, up to a time if one is given."""
        last_time = self.last_time if last is None else last
        stamp = [time // self.millisecond * self.max_logical for time in range(last_time + 1)]
        constants: dict[str, Any] = {
            "stamp": stamp,
            "millisecond": self.millisecond,
            "interval": self.interval,
            "max_logical": self.max_logical,
            "ticker": 0,
        }
        if not self.lease_rule:
            constants["LEASE_RULE"] = False
        return Instance(
            protocol,
            bounds={
                "Server": len(self.clocks),
                "Updater": updaters,
                "Call": len(self.calls),
                "Time": last_time,
                "Logical": self.max_logical,
                "Ts": stamp[-1] + self.max_logical,
            },
            constants=constants,
            name="scheduled",
        )
