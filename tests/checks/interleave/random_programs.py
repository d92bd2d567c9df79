"""Random programs, to compare searches with each other."""

import asyncio
import random

from tidemark.models.simulation import (
    Cell,
    FaultBudget,
    Process,
    Program,
    ProgramRef,
    Settings,
    StorageFailedError,
    StorageUnknownError,
    World,
)


class Logged(Program):
    """What its processes have seen, and the cells, are its outcome."""

    cells: list[Cell[int]]
    log: dict[str, list[object]]

    def final(self) -> object:
        cells = tuple(cell.value for cell in self.cells)
        return cells, tuple((name, tuple(log)) for name, log in sorted(self.log.items()))

    async def access(self, what: str, cell: Cell[int], process: Process) -> object:
        """Cells, points and draws."""
        match what:
            case "l":
                return await cell.load()
            case "s":
                await cell.store(7)
            case "c":
                return await cell.compare_and_swap(0, 1)
            case "u":
                return await cell.update(lambda value: value + 1)
            case "p":
                await process.point("here")
            case "d":
                return await process.choose(2, "coin")
        return None


class Memory(Logged):
    """Processes that access few cells. What some of the steps touch depends on the values that they read."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        processes = draw.choice([2, 3, 3, 4])
        self._cells = draw.choice([1, 2, 3])
        self._scripts = [
            [
                (
                    draw.choice("lscuij"),
                    draw.randrange(self._cells),
                    draw.randrange(self._cells),
                    draw.randrange(3),
                    draw.randrange(3),
                )
                for _ in range(draw.randint(1, 3 if processes < 4 else 2))
            ]
            for _ in range(processes)
        ]
        self.log: dict[str, list[object]] = {}

    def build(self, world: World) -> None:
        self.world = world
        self.cells = [Cell(world, f"c{number}", 0) for number in range(self._cells)]
        for number, script in enumerate(self._scripts):
            world.process(f"p{number}", self._main(script))

    def _main(self, script: list[tuple[str, int, int, int, int]]):
        async def main(process: Process) -> None:
            log = self.log.setdefault(process.name, [])
            for what, one, other, x, y in script:
                log.append(await self._do(what, self.cells[one], self.cells[other], x, y))

        return main

    async def _do(self, what: str, one: Cell[int], other: Cell[int], x: int, y: int) -> object:
        match what:
            case "l":
                return await one.load()
            case "s":
                await one.store(x)
            case "c":
                return await one.compare_and_swap(x, y)
            case "u":
                return await one.update(lambda value: (value + 1) % 3)
            case "i":
                if await one.load() == x:
                    await other.store(y)
            case "j":
                return await self.world.operation("both", lambda: self._both(one, other, x, y))
        return None

    def _both(self, one: Cell[int], other: Cell[int], x: int, y: int) -> object:
        """Read a cell, and write another one, read it, or leave it alone, as the value says."""
        bits = [self.world.interner.bit(f"cell c{self.cells.index(cell)}") for cell in (one, other)]
        self.world.touch(reads=bits[0])
        if one.value == x:
            self.world.touch(writes=bits[1])
            other.value = y
            return None
        if one.value == y:
            self.world.touch(reads=bits[1])
            return other.value
        return -1


class Faulty(Logged):
    """Processes that call, post, store and crash under random budgets; some run forever, some restart.

    Args:
        seed: of all that is drawn.
        steps: what a process may do, a letter each.
    """

    KINDS = (
        ("drops",), ("lost_replies",), ("delays",), ("duplicates",), ("crashes",), ("drops", "crashes"),
        ("storage_failures", "storage_lost_acks"), ("crashes", "storage_lost_acks"), ("delays", "drops"),
    )  # fmt: skip

    def __init__(self, seed: int, steps: str) -> None:
        self._random, self._steps = random.Random(seed), steps
        kinds = self._random.choice(self.KINDS)
        self.settings = Settings(
            faults=FaultBudget(**dict.fromkeys(kinds, 1)),
            crashable=frozenset(self._random.sample(["p0", "p1", "p2"], 2)),
            timer_firings=1 + ("t" in steps),
        )
        self.log: dict[str, list[object]] = {}

    def build(self, world: World) -> None:
        draw = self._random
        self.cells = [Cell(world, name, 0) for name in "xy"]
        world.store("s")
        for number in range(3):
            script = [draw.choice(self._steps) for _ in range(draw.randint(0, 2))]
            main = self._main(script, self.cells[draw.randrange(2)], f"p{draw.randrange(3)}")
            world.process(f"p{number}", main, restarts=draw.random() < 0.6, daemon=draw.random() < 0.3)

    def _main(self, script: list[str], cell: Cell[int], other: str):
        async def main(process: Process) -> None:
            log = self.log.setdefault(process.name, [])
            asked = 0

            async def who() -> tuple[str, int]:
                nonlocal asked
                asked += 1
                if asked == 1:
                    await cell.update(lambda value: value + 1)
                return (process.name, asked)

            process.serve("who", who)
            for what in script:
                try:
                    log.append(await self._do(what, cell, process, other))
                except (
                    TimeoutError,
                    ConnectionError,
                    StorageFailedError,
                    StorageUnknownError,
                    KeyError,
                ) as error:
                    log.append(type(error).__name__)

        return main

    async def _do(self, what: str, cell: Cell[int], process: Process, other: str) -> object:
        match what:
            case "t":
                await asyncio.sleep(1)
            case "m":
                return await process.call(other, "who")
            case "q":
                process.post(other, "who")
            case "f":
                await process.store("s").put("k", process.name)
            case "g":
                return await process.store("s").get("k")
            case _:
                return await self.access(what, cell, process)
        return None


def faulty(seed: int) -> ProgramRef:
    return ProgramRef.of(f"{__name__}:Faulty", seed=seed, steps="lscupdmmqfg")


def anything(seed: int) -> ProgramRef:
    return ProgramRef.of(f"{__name__}:Faulty", seed=seed, steps="lscupdtm")


def memory(seed: int) -> ProgramRef:
    return ProgramRef.of(f"{__name__}:Memory", seed=seed)
