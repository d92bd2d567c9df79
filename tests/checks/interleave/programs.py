"""Small programs with known answers. Sources of the counts: GenMC's expected.sc files, and brute force."""

import asyncio

from tidemark.models.simulation import Cell, FaultBudget, Order, Process, Program, Settings, World


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

        def swap(number: int):
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

        def copy(number: int):
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

        def insert(number: int):
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


class NoLostUpdate(SharedMemory):
    """Demands that no update is lost."""

    def check_final(self) -> str | None:
        if self.cells[0].value != self.size:
            return f"no-lost-update: {self.size} increments made {self.cells[0].value}"
        return None


def shared(kind: str, size: int) -> Program:
    return SharedMemory(kind, size)


def no_lost_update(size: int) -> Program:
    return NoLostUpdate("lost_update", size)


class Planted(Program):
    """Two processes set x and y independently; x before y is called wrong."""

    def __init__(self, *, observed: bool) -> None:
        self.observed = observed

    def build(self, world: World) -> None:
        self.x = Cell(world, "x", 0)
        self.y = Cell(world, "y", 0)

        async def first(_process: Process) -> None:
            await self.y.store(1)

        async def second(_process: Process) -> None:
            await self.x.store(1)

        world.process("sets y", first)
        world.process("sets x", second)

    def observe(self) -> dict[str, object]:
        return {"cell x": self.x.value, "cell y": self.y.value} if self.observed else {}

    def on_step(self, before, after, label) -> str | None:
        if after["cell x"] == 1 and after["cell y"] == 0:
            return f"y-before-x: {label}"
        return None

    def final(self) -> object:
        return (self.x.value, self.y.value)


def planted() -> Program:
    return Planted(observed=True)


class Blind(Planted):
    """The same, but the checker looks at the cells behind the back of the reduction."""

    def __init__(self) -> None:
        super().__init__(observed=False)
        self.complaint: str | None = None

    def build(self, world: World) -> None:
        super().build(world)
        fire = world.fire

        def spying(event):
            footprint = fire(event)
            if self.x.value == 1 and self.y.value == 0:
                self.complaint = f"y-before-x: {event.label}"
            return footprint

        world.fire = spying  # type: ignore[method-assign]

    def check_final(self) -> str | None:
        return self.complaint


def blind() -> Program:
    return Blind()


class Joint(Planted):
    """Observes a value that depends on two cells under the name of one of them."""

    def __init__(self) -> None:
        super().__init__(observed=True)

    def observe(self) -> dict[str, object]:
        return {"cell x": self.x.value > 0 and self.y.value > 0}

    def on_step(self, before, after, label) -> str | None:
        return None


def joint() -> Program:
    return Joint()


class Deadlock(Program):
    """Two processes take two tokens in opposite order."""

    def build(self, world: World) -> None:
        cells = {name: Cell(world, name, 0) for name in "ab"}

        def grab(one: str, two: str):
            async def main(process: Process) -> None:
                first = await cells[one].compare_and_swap(0, 1)
                second = await cells[two].compare_and_swap(0, 1)
                if first != second:
                    await asyncio.get_running_loop().create_future()

            return main

        world.process("left", grab("a", "b"))
        world.process("right", grab("b", "a"))


def deadlock() -> Program:
    return Deadlock()


class Calls(Program):
    """A client adds to a counter of a server by calls that may fail; it repeats a call that timed out."""

    def __init__(self, *, faults: FaultBudget, repeats: bool, order: Order = Order.ATOMIC) -> None:
        self.settings = Settings(faults=faults, crashable=frozenset({"client", "server"}), order=order)
        self.repeats = repeats
        self.counter = 0
        self.outcome: list[str] = []

    def build(self, world: World) -> None:
        async def server(process: Process) -> None:
            self.counter = 0

            async def add(amount: int) -> int:
                self.counter += amount
                return self.counter

            process.serve("add", add)

        async def client(process: Process) -> None:
            for _ in range(2 if self.repeats else 1):
                try:
                    await process.call("server", "add", 1)
                except (TimeoutError, ConnectionError) as error:
                    self.outcome.append(type(error).__name__)
                else:
                    self.outcome.append("done")
                    return

        world.process("server", server, daemon=True)
        world.process("client", client)

    def final(self) -> object:
        return self.counter, tuple(self.outcome)


def calls(repeats: bool = False, order: str = "atomic", **faults: int) -> Program:
    return Calls(faults=FaultBudget(**faults), repeats=repeats, order=Order(order))
