"""Programs over shared memory whose numbers of Mazurkiewicz traces are published."""

from collections.abc import Callable, Coroutine
from typing import Any

from tidemark.models.simulation import Cell, Process, Program, World


class SharedMemory(Program):
    """Processes that access cells. The outcome is the value of all cells and what was read."""

    def __init__(self, kind: str, size: int) -> None:
        self.kind = kind
        self.size = size
        self.seen: dict[str, object] = {}
        self.cells: list[Cell[int]] = []

    def build(self, world: World) -> None:
        getattr(self, self.kind)(world)

    def cell(self, world: World, name: str) -> Cell[int]:
        self.cells.append(Cell(world, name, 0))
        return self.cells[-1]

    def ainc(self, world: World) -> None:
        """Atomic increments of one cell."""
        x = self.cell(world, "x")

        async def increment(_process: Process) -> None:
            await x.update(lambda value: value + 1)

        for number in range(self.size):
            world.process(f"p{number}", increment)

    def readers(self, world: World) -> None:
        """One writer, many readers."""
        x = self.cell(world, "x")

        async def write(_process: Process) -> None:
            await x.store(1)

        async def read(process: Process) -> None:
            self.seen[process.name] = await x.load()

        world.process("w", write)
        for number in range(self.size):
            world.process(f"r{number}", read)

    def casrot(self, world: World) -> None:
        """Process i swaps i-1 for i."""
        x = self.cell(world, "x")

        def swap(number: int) -> Callable[[Process], Coroutine[Any, Any, None]]:
            async def main(process: Process) -> None:
                self.seen[process.name] = await x.compare_and_swap(number - 1, number)

            return main

        for number in range(1, self.size + 1):
            world.process(f"p{number}", swap(number))

    def lastzero(self, world: World) -> None:
        """A reader scans down for a zero while writers copy their left neighbour plus one."""
        array = [self.cell(world, f"a{number}") for number in range(self.size + 1)]

        async def scan(_process: Process) -> None:
            place = self.size
            while await array[place].load() != 0:
                place -= 1
            self.seen["place"] = place

        def copy(number: int) -> Callable[[Process], Coroutine[Any, Any, None]]:
            async def main(_process: Process) -> None:
                value = await array[number - 1].load()
                await array[number].store(value + 1)

            return main

        world.process("scan", scan)
        for number in range(1, self.size + 1):
            world.process(f"w{number}", copy(number))

    def binc(self, world: World) -> None:
        """Atomic increments of x, then of y."""
        x, y = self.cell(world, "x"), self.cell(world, "y")

        async def increment(_process: Process) -> None:
            await x.update(lambda value: value + 1)
            await y.update(lambda value: value + 1)

        for number in range(self.size):
            world.process(f"p{number}", increment)

    def indexer(self, world: World) -> None:
        """Each process puts four values into a hash table of 128 places; few of them collide."""
        table = [self.cell(world, f"t{place}") for place in range(128)]

        def insert(number: int) -> Callable[[Process], Coroutine[Any, Any, None]]:
            async def main(_process: Process) -> None:
                for turn in range(1, 5):
                    value = turn * 11 + number
                    place = value * 7 % 128
                    while not await table[place].compare_and_swap(0, value):
                        place = (place + 1) % 128

            return main

        for number in range(self.size):
            world.process(f"p{number}", insert(number))

    def lost_update(self, world: World) -> None:
        """Read, then write: the toy that loses an update."""
        x = self.cell(world, "x")

        async def increment(_process: Process) -> None:
            value = await x.load()
            await x.store(value + 1)

        for number in range(self.size):
            world.process(f"p{number}", increment)

    def final(self) -> object:
        return tuple(cell.value for cell in self.cells), tuple(sorted(self.seen.items()))


def shared(kind: str, size: int) -> Program:
    return SharedMemory(kind, size)
