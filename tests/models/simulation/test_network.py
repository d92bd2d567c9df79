"""Calls and their failures, by the set of outcomes."""

from typing import Any

import pytest

from tidemark.checks.interleave import Exploration, Options, Reduction, Status, explore
from tidemark.models.simulation import (
    CallTimeoutError,
    Process,
    Program,
    ProgramError,
    ProgramRef,
    Settings,
    World,
)
from tidemark.models.simulation.settings import FaultBudget, Link

CALLS = "tests.checks.interleave.programs:calls"
HERE = "tests.models.simulation.test_network:"


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


class Served(Program):
    take: Any
    client: Any

    def build(self, world):
        async def server(process):
            process.serve("take", self.take)

        world.process("server", server, daemon=True)
        world.process("client", self.client)


class Aliasing(Served):
    """Sends a list and changes it afterwards."""

    received: tuple[int, ...] = ()

    async def take(self, items):
        self.received = tuple(items)

    async def client(self, process):
        items = [1]
        process.post("server", "take", items)
        items.append(2)

    def final(self) -> object:
        return self.received


def test_a_message_is_a_copy():
    assert explore(ProgramRef.of(f"{HERE}Aliasing")).finals == {(1,)}


class TwoLinks(Program):
    """Two senders post two messages each; what the receiver sees, by sender. The link of `a` is special."""

    def __init__(self, *, ordered: bool = False, own: FaultBudget | None = None, **faults: int) -> None:
        self.settings = Settings(
            faults=FaultBudget(**faults),
            links=(Link(source="a", destination="server", ordered=ordered, faults=own),),
        )
        self.seen: dict[str, list[int]] = {"a": [], "b": []}

    def build(self, world: World) -> None:
        async def server(process: Process) -> None:
            async def take(sender: str, item: int) -> None:
                self.seen[sender].append(item)

            process.serve("take", take)

        async def sender(process: Process) -> None:
            process.post("server", "take", process.name, 1)
            process.post("server", "take", process.name, 2)

        world.process("server", server, daemon=True)
        world.process("a", sender)
        world.process("b", sender)

    def final(self) -> object:
        return tuple(self.seen["a"]), tuple(self.seen["b"])

    def declared(self) -> object:
        return self.final()


Seen = set[tuple[int, ...]]

FREE: Seen = {(1, 2), (2, 1)}
KEPT: Seen = {(1, 2)}
LOST: Seen = {(1,), (2,)}
TWICE: Seen = {(1, 1, 2), (1, 2, 1), (2, 1, 1), (1, 2, 2), (2, 1, 2), (2, 2, 1)}
NOTHING, ONE = FaultBudget(), FaultBudget(drops=1, duplicates=1, reorders=1)


def pairs(some: Seen, others: Seen) -> set[object]:
    return {(one, other) for one in some for other in others}


@pytest.mark.parametrize(
    ("options", "finals"),
    [
        ({}, pairs(FREE, FREE)),
        # The budget of the world alone: one fault on either link.
        ({"drops": 1}, pairs(FREE, FREE) | pairs(LOST, FREE) | pairs(FREE, LOST)),
        ({"duplicates": 1}, pairs(FREE, FREE) | pairs(TWICE, FREE) | pairs(FREE, TWICE)),
        # A link without faults, beside one that has them.
        ({"drops": 1, "own": NOTHING}, pairs(FREE, FREE) | pairs(FREE, LOST)),
        ({"duplicates": 1, "own": NOTHING}, pairs(FREE, FREE) | pairs(FREE, TWICE)),
        # Two drops in all, of which one may be on the special link.
        ({"drops": 2, "own": ONE}, pairs(FREE | LOST, FREE | LOST) | pairs(FREE, {()})),
        # Both kinds are allowed, one fault of a message in all.
        (
            {"drops": 1, "duplicates": 1, "messages": 1, "own": ONE},
            pairs(FREE, FREE) | pairs(LOST | TWICE, FREE) | pairs(FREE, LOST | TWICE),
        ),
        # In order, unless one message overtakes; the other link knows no order.
        ({"ordered": True}, pairs(KEPT, FREE)),
        ({"ordered": True, "reorders": 1}, pairs(FREE, FREE)),
        ({"ordered": True, "reorders": 1, "own": NOTHING}, pairs(KEPT, FREE)),
        # On an ordered link a copy comes directly behind its original.
        (
            {"ordered": True, "duplicates": 1, "own": ONE},
            pairs(KEPT, FREE | TWICE) | pairs({(1, 1, 2), (1, 2, 2)}, FREE),
        ),
        ({"ordered": True, "drops": 1, "own": ONE}, pairs(KEPT | LOST, FREE) | pairs(KEPT, LOST)),
    ],
)
def test_each_link_has_its_own_order_and_its_own_budget(options, finals):
    program = ProgramRef.of(f"{HERE}TwoLinks", **options)
    for reduction in Reduction:
        result = explore(program, Options(reduction=reduction))
        assert (result.status, result.finals) == (Status.EXHAUSTED, finals), reduction


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


def test_a_link_has_no_budget_of_crashes():
    with pytest.raises(ProgramError, match="budget of crashes"):
        Link(source="a", destination="server", faults=FaultBudget(crashes=1))


class Misspelt(TwoLinks):
    """A link to a process that does not exist."""

    def __init__(self) -> None:
        super().__init__()
        self.settings = Settings(links=(Link(source="a", destination="nobody", ordered=True),))


def test_a_link_to_nobody_is_no_pass():
    result = explore(ProgramRef.of(f"{HERE}Misspelt"))
    assert result.status is Status.REFUTED
    assert "a link names no process: 'nobody'" in result.first().violation.message


def test_the_links_stand_in_the_bounds():
    program = ProgramRef.of(f"{HERE}TwoLinks", ordered=True, own=ONE, drops=2, messages=2)
    bounds = explore(program).bounds
    assert "2 drops, at most 2 faults of messages in all" in bounds
    assert "a to server: in order, 1 drops, 1 duplicates, 1 reorders" in bounds


def test_a_copy_may_come_after_a_crash_of_its_sender():
    """The sender calls, its call is answered, it crashes, and the copy arrives at last."""
    result = explore(ProgramRef.of(CALLS, crashes=1, duplicates=1))
    once = explore(ProgramRef.of(CALLS, crashes=1))
    assert once.finals < result.finals
    assert _most(result) == _most(once) + 1


def _most(result: Exploration) -> int:
    return max(int(final[0]) for final in result.finals if isinstance(final, tuple))


class Refusing(Served):
    """A handler that fails, asked by a caller that may give up, or whose request may be copied."""

    told = ""

    def __init__(self, **faults: int) -> None:
        self.settings = Settings(faults=FaultBudget(**faults))

    async def take(self):
        raise ValueError("no")

    async def client(self, process):
        try:
            await process.call("server", "take")
        except (ValueError, CallTimeoutError) as error:
            self.told = type(error).__name__

    def final(self) -> object:
        return self.told


@pytest.mark.parametrize(
    ("faults", "finals"),
    [
        ({}, {"ValueError"}),
        ({"delays": 1}, {"ValueError", "CallTimeoutError"}),
        ({"duplicates": 1}, {"ValueError"}),
    ],
)
def test_a_refusal_that_nobody_waits_for_is_no_failure_of_the_server(faults, finals):
    result = explore(ProgramRef.of(f"{HERE}Refusing", **faults))
    assert result.violations == {}
    assert result.finals == finals
