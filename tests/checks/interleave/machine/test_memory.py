"""Executions that meet with equal memories: the results are those without merging, nothing is missed."""
# ruff: noqa: ASYNC110, PLW0603

import array
import asyncio
import collections
import contextlib
import contextvars
import enum
import functools
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tests.checks.interleave.bugs.test_known_bugs import BUGS
from tests.checks.interleave.machine.test_merging import PROGRAMS
from tidemark.checks.interleave import Exploration, Options, Reduction, Status, explore, explore_coroutine
from tidemark.checks.interleave.coroutines import DEFAULT, program_of
from tidemark.models.simulation.coroutines import Main

MERGED = Options(reduction=Reduction.NONE, memories=True, stop_at_violation=True)


def merged(main: Main, **bounds: Any) -> Exploration:
    return explore(program_of(main, **bounds), MERGED)


@pytest.mark.parametrize("name", PROGRAMS)
def test_merging_equal_memories_changes_no_outcome(name):
    plain = explore_coroutine(PROGRAMS[name], options=replace(DEFAULT, stop_at_violation=False))
    result = merged(PROGRAMS[name])
    assert result.status is plain.status is Status.EXHAUSTED
    assert result.finals == plain.finals
    assert result.statistics.executions < plain.statistics.executions


class Counter:
    ticks = 0


class Slotted:
    __slots__ = ("ticks",)


class Numbers(list[int]):
    ticks = 0


class Text(str):  # noqa: SLOT000
    ticks = 0


class Member(enum.Enum):
    ONE = 1


VARIABLE = contextvars.ContextVar("VARIABLE", default=0)
COUNT = 0

Tick = Callable[[], int]
"""Returns 3 when it is called the third time, and less before; random numbers may take longer."""


def in_a_variable() -> int:
    VARIABLE.set(VARIABLE.get() + 1)
    return VARIABLE.get()


def in_a_module() -> int:
    global COUNT
    COUNT += 1
    return COUNT


def in_a_default(seen: list[int] = []) -> int:  # noqa: B006  # that is what is looked at
    seen.append(0)
    return len(seen)


def beginning(tick: Tick) -> Tick:
    """The same, from its beginning: these outlive an execution."""
    global COUNT
    COUNT = 0
    in_a_default.__defaults__[0].clear()  # type: ignore[index]
    return tick


def attribute(owner: Any) -> Tick:
    owner.ticks = 0

    def tick() -> int:
        owner.ticks += 1
        return owner.ticks

    return tick


def elements(held: Any, add: str = "append") -> Tick:
    def tick() -> int:
        getattr(held, add)(len(held))
        return len(held)

    return tick


def in_a_dict() -> Tick:
    held: dict[object, int] = {}
    return lambda: len(held) + 1 if held.setdefault(object(), 0) else len(held)


def in_a_generator() -> Tick:
    def numbers() -> Iterator[int]:
        yield 1
        yield 2
        yield 3

    return functools.partial(next, numbers())


def in_random_numbers() -> Tick:
    own = random.Random(1)
    return lambda: 3 * (own.random() > 0.8)


KINDS: dict[str, Callable[[], Tick]] = {
    "an object": lambda: attribute(Counter()),
    "a class": lambda: attribute(Counter),
    "a slot": lambda: attribute(Slotted()),
    "a subclass of list": lambda: attribute(Numbers()),
    "a subclass of str": lambda: attribute(Text("x")),
    "an enumeration": lambda: attribute(Member.ONE),
    "an error": lambda: attribute(ValueError()),
    "a function": lambda: attribute(lambda: None),
    "a future": lambda: attribute(type("Kept", (asyncio.Future,), {})()),
    "a list": lambda: elements([]),
    "a set": lambda: elements(set(), "add"),
    "a deque": lambda: elements(collections.deque()),
    "an array": lambda: elements(array.array("i")),
    "a dict": in_a_dict,
    "a generator": in_a_generator,
    "an iterator": lambda: functools.partial(next, iter([1, 2, 3])),
    "a counter": lambda: functools.partial(next, itertools.count(1)),
    "a module": lambda: beginning(in_a_module),
    "a default": lambda: beginning(in_a_default),
    "a context": lambda: in_a_variable,
    "random numbers": lambda: lambda: 3 * (random.random() > 0.9),
    "a generator of random numbers": in_random_numbers,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_poll_that_counts_is_not_taken_for_one_that_changes_nothing(kind):
    async def main() -> None:
        tick = KINDS[kind]()
        while True:
            assert tick() < 3, "counted"
            await asyncio.sleep(1)

    result = merged(main)
    assert result.status is Status.REFUTED, result.reason
    assert "counted" in result.first().violation.message
    assert not result.reasons, "it was found where memory led back, by going round"


async def polls_for_nothing() -> None:
    told = asyncio.Event()

    async def poll() -> None:
        while not told.is_set():
            await asyncio.sleep(1)

    await asyncio.gather(poll(), told.wait())


async def polls_for_what_never_comes() -> None:
    found: list[int] = []
    while not found:
        await asyncio.sleep(1)


def test_a_task_that_is_never_served_while_others_poll_is_found():
    result = merged(polls_for_nothing)
    assert result.first().violation.kind == "starvation"
    result = merged(polls_for_what_never_comes)
    assert result.status is Status.INCONCLUSIVE
    assert "none of its continuations comes to an end" in result.reason


async def waits_for_a_time_again_and_again() -> None:
    told = asyncio.Event()

    async def poll() -> None:
        while not told.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await told.wait()

    task = asyncio.create_task(poll())
    await asyncio.sleep(3)
    told.set()
    await task


def test_a_time_out_by_itself_does_not_tell_what_time_it_is():
    result = merged(waits_for_a_time_again_and_again)
    assert result.status is Status.EXHAUSTED
    assert result.statistics.merged > 0


async def holds_what_cannot_be_seen() -> None:
    held, done = memoryview(b"x"), asyncio.Event()

    async def poll() -> None:
        while not done.is_set():
            await asyncio.sleep(len(held))

    await asyncio.gather(poll(), asyncio.sleep(1))


def test_what_cannot_be_seen_is_not_compared():
    few = replace(MERGED, limits=replace(MERGED.limits, cut=1, steps=100))
    result = explore(program_of(holds_what_cannot_be_seen), few)
    assert result.status is Status.INCONCLUSIVE
    assert "memories are not compared that hold builtins.memoryview" in result.reason


@pytest.mark.parametrize("bug", BUGS, ids=[bug.program.__name__ for bug in BUGS])
def test_public_bugs_are_found_and_their_corrections_are_complete(bug):
    found = merged(partial(bug.program, fixed=False), cancellations=bug.cancellations)
    assert {violation.kind for violation in found.violations} == {bug.kind}
    fixed = merged(partial(bug.program, fixed=True), cancellations=bug.cancellations)
    assert fixed.status is Status.EXHAUSTED
