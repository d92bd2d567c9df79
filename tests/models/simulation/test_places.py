"""Two executions that wait at two places of a generator are not merged, wherever the generator is."""

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    aclosing,
    asynccontextmanager,
    contextmanager,
)

import pytest

from tidemark.checks.interleave import Options, Reduction, explore
from tidemark.models.simulation import Process, Program, ProgramRef, World

HERE = "tests.models.simulation.test_places:"


def managed(generator: Iterator[None]) -> AbstractContextManager[None]:
    return contextmanager(lambda: generator)()


class TwoPlaces(Program):
    """A generator stops at one of two places, before the task waits at one; what follows depends on it."""

    def __init__(self, *, kept: str) -> None:
        self.kept = kept
        self.got: list[str] = []

    def declared(self) -> object:
        """All data there is: the generator is no data."""
        return tuple(self.got)

    def places(self, *, first: bool) -> Iterator[None]:
        """Two places; the choice is not kept."""
        if first:
            del first
            yield
            self.got.append("first")
        else:
            del first
            yield
            self.got.append("second")

    async def waiting_places(self, process: Process):
        """The same, and it waits itself."""
        if await process.choose(2, "place"):
            await process.point("choose")
            yield
            self.got.append("first")
        else:
            await process.point("choose")
            yield
            self.got.append("second")

    async def held(self, process: Process) -> None:
        match self.kept:
            case "asynccontextmanager":
                async with asynccontextmanager(self.waiting_places)(process):
                    await process.point("inside")
            case "AsyncExitStack":
                async with AsyncExitStack() as stack:
                    await stack.enter_async_context(asynccontextmanager(self.waiting_places)(process))
                    await process.point("inside")
            case "aclosing":
                async with aclosing(self.waiting_places(process)) as places:
                    async for _ in places:
                        await process.point("inside")
            case "async for":
                async for _ in self.waiting_places(process):
                    await process.point("inside")
            case _:
                first = bool(await process.choose(2, "place"))
                generator = self.places(first=first)
                del first
                await self.held_by_hand(process, generator)

    async def held_by_hand(self, process: Process, generator: Iterator[None]) -> None:
        match self.kept:
            case "contextmanager":
                manager = managed(generator)
                del generator
                with manager:
                    del manager
                    await process.point("inside")
            case "ExitStack":
                with ExitStack() as stack:
                    stack.enter_context(managed(generator))
                    del generator
                    await process.point("inside")
            case "for":
                for _ in generator:
                    await process.point("inside")
            case "enumerate":
                for _ in enumerate(generator):
                    await process.point("inside")
            case "chain":
                for _ in itertools.chain([0], generator):
                    await process.point("inside")
            case "list":
                held = [generator]
                del generator
                next(held[0])
                await process.point("inside")
                list(held.pop())

    def build(self, world: World) -> None:
        async def main(process: Process) -> None:
            await asyncio.ensure_future(self.held(process))

        world.process("p", main)

    def final(self) -> object:
        return tuple(self.got)


@pytest.mark.parametrize(
    "kept",
    [
        "asynccontextmanager", "AsyncExitStack", "aclosing", "async for", "contextmanager",
        "ExitStack", "for", "enumerate", "chain", "list",
    ],
)  # fmt: skip
def test_two_places_are_not_merged(kept: str) -> None:
    program = ProgramRef.of(f"{HERE}TwoPlaces", kept=kept)
    merged = explore(program, Options(reduction=Reduction.STATES, audit=0))
    assert merged.finals == {("first",), ("second",)}
    assert merged.finals == explore(program, Options(reduction=Reduction.NONE)).finals
