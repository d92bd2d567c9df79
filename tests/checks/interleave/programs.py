"""Small programs with known answers. Sources of the counts: GenMC's expected.sc files, and brute force."""

import asyncio

from tidemark.checks.crosscheck.peers.shared_memory import SharedMemory
from tidemark.models.simulation import Cell, FaultBudget, Order, Process, Program, ProgramRef, Settings, World


class NoLostUpdate(SharedMemory):
    def check_final(self) -> str | None:
        if self.cells[0].value != self.size:
            return f"no-lost-update: {self.size} increments made {self.cells[0].value}"
        return None


def shared(kind: str, size: int) -> ProgramRef:
    return ProgramRef.of("tidemark.checks.crosscheck.peers.shared_memory:shared", kind=kind, size=size)


def no_lost_update(size: int) -> Program:
    return NoLostUpdate("lost_update", size)


class Planted(Program):
    """Two processes set x and y independently; x before y is called wrong."""

    def __init__(self, *, observed: bool = True) -> None:
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


class WrongAtStart(Planted):
    """What is there before any step is called wrong."""

    def on_start(self, state) -> str | None:
        return f"begun: x is {state['cell x']}"


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


class Joint(Planted):
    """Observes a value that depends on two cells under the name of one of them."""

    def observe(self) -> dict[str, object]:
        return {"cell x": self.x.value > 0 and self.y.value > 0}

    def on_step(self, before, after, label) -> str | None:
        return None


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


class Chosen(Program):
    """A client sends one of two numbers: until it arrives only the message tells which one."""

    def build(self, world: World) -> None:
        self.got = -1

        async def server(process: Process) -> None:
            async def put(number: int) -> None:
                self.got = number

            process.serve("put", put)

        async def client(process: Process) -> None:
            process.post("server", "put", await process.choose(2, "number"))

        world.process("server", server, daemon=True)
        world.process("client", client)

    def declared(self) -> object:
        return self.got

    def final(self) -> object:
        return self.got
