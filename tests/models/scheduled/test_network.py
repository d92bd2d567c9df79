"""Calls and their failures, by the set of outcomes."""

import pytest

from checks.interleave import Options, Reduction, explore
from models.scheduled import Process, Program, ProgramRef, Settings, World

CALLS = "tests.checks.interleave.programs:calls"
HERE = "tests.models.scheduled.test_network:"


@pytest.mark.parametrize(
    ("options", "finals"),
    [
        ({}, {(1, ("done",))}),
        # Dropped: no effect. Delayed and lost: the caller times out, the request takes effect.
        ({"drops": 1}, {(1, ("done",)), (0, ("CallTimeoutError",))}),
        ({"delays": 1}, {(1, ("done",)), (1, ("CallTimeoutError",))}),
        ({"lost_replies": 1}, {(1, ("done",)), (1, ("CallTimeoutError",))}),
        ({"duplicates": 1}, {(1, ("done",)), (2, ("done",))}),
        # A client that repeats after a time-out adds twice, unless the request was dropped.
        ({"drops": 1, "repeats": True}, {(1, ("done",)), (1, ("CallTimeoutError", "done"))}),
        ({"lost_replies": 1, "repeats": True}, {(1, ("done",)), (2, ("CallTimeoutError", "done"))}),
    ],
)
def test_outcomes_of_a_call(options, finals):
    result = explore(ProgramRef.of(CALLS, **options))
    assert result.finals == finals
    assert result.finals == explore(ProgramRef.of(CALLS, **options), Options(reduction=Reduction.NONE)).finals


def test_a_request_under_way_outlives_its_sender():
    result = explore(ProgramRef.of(CALLS, crashes=1))
    assert (1, ()) not in result.finals, "the client restarts and calls again"
    assert (2, ("done",)) in result.finals
    assert (0, ("done",)) in result.finals, "the server lost its memory after the answer"


@pytest.mark.parametrize("order", ["fifo", "relaxed"])
def test_finer_steps_find_the_same_outcomes_here(order):
    fine = explore(ProgramRef.of(CALLS, order=order, drops=1, lost_replies=1, repeats=True))
    coarse = explore(ProgramRef.of(CALLS, drops=1, lost_replies=1, repeats=True))
    assert coarse.finals < fine.finals, "the server may be asked before it serves"
    assert order in fine.bounds


class Aliasing(Program):
    """Sends a list and changes it afterwards."""

    def build(self, world: World) -> None:
        self.received: list[int] = []

        async def server(process: Process) -> None:
            async def take(items: list[int]) -> list[int]:
                self.received = items
                return items

            process.serve("take", take)

        async def client(process: Process) -> None:
            items = [1]
            process.post("server", "take", items)
            items.append(2)

        world.process("server", server, daemon=True)
        world.process("client", client)

    def final(self) -> object:
        return tuple(self.received)


def test_a_message_is_a_copy():
    assert explore(ProgramRef.of(f"{HERE}Aliasing")).finals == {(1,)}


class Ordered(Program):
    """Two messages on one link."""

    def __init__(self, *, ordered: bool) -> None:
        self.ordered = ordered
        self.seen: list[int] = []

    def build(self, world: World) -> None:
        if self.ordered:
            world.network.order_link("client", "server")

        async def server(process: Process) -> None:
            async def take(item: int) -> None:
                self.seen.append(item)

            process.serve("take", take)

        async def client(process: Process) -> None:
            process.post("server", "take", 1)
            process.post("server", "take", 2)

        world.process("server", server, daemon=True)
        world.process("client", client)

    def final(self) -> object:
        return tuple(self.seen)


@pytest.mark.parametrize(("ordered", "finals"), [(True, {(1, 2)}), (False, {(1, 2), (2, 1)})])
def test_links_are_unordered_unless_declared(ordered, finals):
    assert explore(ProgramRef.of(f"{HERE}Ordered", ordered=ordered)).finals == finals


class Sharing(Program):
    """Two processes share an event of asyncio behind the world's back."""

    settings = Settings()

    def build(self, world: World) -> None:
        import asyncio

        event = asyncio.Event()

        async def waits(process: Process) -> None:
            await event.wait()

        async def sets(process: Process) -> None:
            await process.point("before")
            event.set()

        world.process("waits", waits)
        world.process("sets", sets)


def test_processes_that_share_a_python_object_are_caught():
    violations = explore(ProgramRef.of(f"{HERE}Sharing")).violations
    assert {violation.kind for violation in violations} == {"shared-object"}
