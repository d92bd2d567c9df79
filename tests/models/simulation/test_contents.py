"""Two executions are not merged that differ only in what a task holds, in who waits first, or in what a dead
process has begun: what follows depends on it, and the program declares nothing of it.
"""

import asyncio
import collections
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from tidemark.checks.interleave import Options, Reduction, explore
from tidemark.models.simulation import FaultBudget, Process, Program, ProgramRef, Settings, World

HERE = f"{__name__}:"
PLAIN = Options(reduction=Reduction.NONE)
MERGED = replace(PLAIN, reduction=Reduction.STATES, audit=0)


@dataclass
class Note:
    """A record of one number."""

    number: int


HOLDERS: dict[str, Callable[[int], Any]] = {
    "list": lambda number: [number],
    "dict": lambda number: {"number": number},
    "set": lambda number: {number, "number"},
    "deque": lambda number: collections.deque([number]),
    "list of lists": lambda number: [[number]],
    "record": Note,
}


class Holds(Program):
    """A task chooses a number, and holds nothing but a container of it while it waits."""

    def __init__(self, *, kept: str) -> None:
        self.kept, self.got = kept, ""

    def build(self, world: World) -> None:
        world.process("one", self.choose)

    async def choose(self, process: Process) -> None:
        held = HOLDERS[self.kept](await process.choose(2, "number"))
        await process.point("wait")
        await process.point("wait more")
        self.got = repr(held)

    def declared(self) -> object:
        return self.got

    def final(self) -> str:
        return self.got


class Queues(Program):
    """Two tasks wait for a lock; who came first gets it first."""

    def __init__(self) -> None:
        self.got, self.came = "", 0

    def build(self, world: World) -> None:
        world.process("one", self.hold)

    async def hold(self, process: Process) -> None:
        lock, both = asyncio.Lock(), asyncio.Event()
        await lock.acquire()
        tasks = [asyncio.create_task(self.come(process, lock, both, name), name=name) for name in "ab"]
        await both.wait()
        await process.point("release")
        lock.release()
        await asyncio.gather(*tasks)

    async def come(self, process: Process, lock: asyncio.Lock, both: asyncio.Event, name: str) -> None:
        await process.point(f"come {name}")
        self.came += 1
        if self.came == 2:
            both.set()
        async with lock:
            self.got += name

    def declared(self) -> object:
        return self.got

    def final(self) -> str:
        return self.got


class Leaves(Program):
    """A process chooses a number, begins to store it, and crashes: the number may be stored after its
    successor has looked.
    """

    settings = Settings(faults=FaultBudget(crashes=1), crashable=frozenset({"one"}))

    def __init__(self) -> None:
        self.found: object = "nobody has looked"

    def build(self, world: World) -> None:
        self.store = world.store("shelf")
        world.process("one", self.choose)

    async def choose(self, process: Process) -> None:
        if process.incarnation > 1:
            self.found = await self.store.get("number")
            return
        change = partial(dict.update, number=await process.choose(2, "number"))
        await self.store.transact("save", change, keys=["number"], remote=True)

    def declared(self) -> object:
        return self.found

    def final(self) -> object:
        return self.store.content().get("number"), self.found


PROGRAMS = {
    **{kept: (ProgramRef.of(f"{HERE}Holds", kept=kept), 2) for kept in HOLDERS},
    "place in a queue": (ProgramRef.of(f"{HERE}Queues"), 2),
    "operation of the dead": (ProgramRef.of(f"{HERE}Leaves"), 5),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_merging_leaves_out_no_outcome(name: str) -> None:
    program, outcomes = PROGRAMS[name]
    plain = explore(program, PLAIN)
    merged = explore(program, MERGED)
    assert len(plain.finals) == outcomes
    assert merged.finals == plain.finals
