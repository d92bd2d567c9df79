"""What happens in an oracle program, and the bounded instance of the specification that it must refine."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pydantic import model_validator

from tidemark.impl.timestamp import MAX_LOGICAL, NANOSECONDS
from tidemark.impl.tso.config import OracleConfig
from tidemark.models.instance import Instance
from tidemark.models.protocols.tso.refinement import Shape, Units
from tidemark.models.refinement.scenario import FaultyScenario
from tidemark.models.simulation.settings import ClockOrder, Settings

NAMES = ("a", "b", "c")
"""The servers, in the order in which they are elected."""


class OracleScenario(FaultyScenario):
    """What happens in an oracle program. Times in units of the fine clock, counters in batches of one.

    Attributes:
        clocks: by server what its clock may show at the start, and what at an update; an update shows the
            same as the start if that is left out.
        calls: (server, how many timestamps) of each call, in batches of one.
        early: the calls may begin before their server serves.
        updates: how often each server's updater runs.
        step_downs: so many servers, from the first on, may notice that their lease ends.
        late_watch: the time of a term runs out in a step before the one in which its watch finds out.
        lease_rule: the store ends a lease only after its holder has stopped.
        conditional: the store takes a save of the leader alone.
        raises: the store keeps the larger end.
        millisecond: units of the fine clock in one.
        interval: length of the window.
        max_logical: the counter stays below.
        tries: of one call.
        updaters: of each server, in the specification.
        protocol: the specification that each step must follow.
        sound: it keeps its own properties.
    """

    clocks: tuple[tuple[tuple[int, ...], ...], ...]
    calls: tuple[tuple[int, int], ...] = ()
    early: bool = False
    updates: int = 0
    step_downs: int = 0
    late_watch: bool = False
    lease_rule: bool = True
    conditional: bool = True
    raises: bool = True
    millisecond: int = 1
    interval: int = 3
    max_logical: int = 4
    tries: int = 2
    updaters: int = 1
    protocol: str = "tidemark.spec.tso:Tso"
    sound: bool = True

    @model_validator(mode="after")
    def _has_sizes_of_the_implementation(self) -> OracleScenario:
        if len(self.clocks) > len(NAMES):
            raise ValueError(f"{len(self.clocks)} clocks; there are at most {len(NAMES)} servers")
        if MAX_LOGICAL % self.max_logical or NANOSECONDS % self.millisecond:
            raise ValueError(
                f"max_logical {self.max_logical} must divide {MAX_LOGICAL}, "
                f"millisecond {self.millisecond} must divide {NANOSECONDS}"
            )
        return self

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

    def shape(self) -> Shape:
        """The size of the abstract state."""
        return Shape(
            servers=len(self.clocks),
            updaters=self.updaters,
            times=self.last_time,
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
            crashable=frozenset(self.names) if self.crashes else frozenset(),
            clock=ClockOrder.UNTIMED,
        )

    def instance(self) -> Instance:
        """Return the bounded instance of the specification."""
        stamp = [time // self.millisecond * self.max_logical for time in range(self.last_time + 1)]
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
            self.protocol,
            bounds={
                "Server": len(self.clocks),
                "Updater": self.updaters,
                "Call": len(self.calls),
                "Time": self.last_time,
                "Logical": self.max_logical,
                "Ts": stamp[-1] + self.max_logical,
            },
            constants=constants,
            name="scheduled",
        )
