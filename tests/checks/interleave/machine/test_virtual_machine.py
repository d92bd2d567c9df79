"""Clocks, random numbers and ids of the machine, as code that knows nothing of this project asks for them."""

import asyncio
import os
import random
import secrets
import time
import uuid
from time import monotonic, time_ns

import pytest

from tidemark.checks.interleave import Status, explore_coroutine, require_every_order
from tidemark.models.simulation.virtual import EPOCH, PROCESS_ID, READINGS


async def measures() -> tuple[float, ...]:
    """The clocks agree, and what passes is what was slept."""
    loop = asyncio.get_running_loop()
    began, imported, day = time.monotonic(), monotonic(), time.time()
    assert began == imported == loop.time() == time.perf_counter()
    await asyncio.sleep(3)
    time.sleep(0.5)  # noqa: ASYNC251
    assert time.monotonic_ns() == round(monotonic() * 1e9)
    assert time.strftime("%Y", time.gmtime()) == "2023"
    return (time.monotonic() - began, time.time() - day, time_ns() / 1e9 - EPOCH)


def test_time_passes_as_the_timers_of_the_loop_say():
    result = require_every_order(measures)
    assert result.finals == {(3.5, 3.5, 3.5)}
    assert result.status is Status.EXHAUSTED


async def draws() -> tuple[object, ...]:
    """All sources of random numbers of the standard library."""
    several = random.Random().random(), random.SystemRandom().random(), random.choice("abc")
    ids = (
        uuid.uuid4(),
        uuid.uuid1(),
        os.getpid(),
        os.urandom(4),
        secrets.token_urlsafe(4),
        secrets.randbelow(9),
    )
    assert ids[0].version == 4
    assert len(set(several)) == 3
    await asyncio.sleep(0)
    return (*several, *map(str, ids))


def test_random_numbers_are_those_of_one_seed():
    result = require_every_order(draws)
    assert len(result.finals) == 1
    assert result.finals == explore_coroutine(draws).finals
    (final,) = result.finals
    assert str(PROCESS_ID) in final  # type: ignore[operator]
    assert "random numbers of one seed" in result.bounds
    assert "random" not in explore_coroutine(measures).bounds


def test_the_real_machine_is_back_afterwards():
    before = random.getstate()
    explore_coroutine(draws)
    assert random.getstate() == before
    assert time.time() > EPOCH + 1_000_000
    assert time_ns() > 1e9 * (EPOCH + 1_000_000)
    assert os.getpid() != PROCESS_ID
    assert random.Random().random() != random.Random().random()


async def expires() -> str:
    """A cache entry is dropped in the pause between the look and the use: only the clock shows it."""
    deadline = time.monotonic() + 5
    entries = {"key": "value"}

    async def sweep() -> None:
        while time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(3)
        entries.clear()

    sweeper = asyncio.create_task(sweep())
    if "key" in entries:
        await asyncio.sleep(1)
        value = entries["key"]
    await sweeper
    return value


def test_a_race_against_a_deadline_is_found():
    assert explore_coroutine(expires).first().violation.kind == "exception"
    assert require_every_order(expires, clock="per-process").finals == {"value"}


async def waits_for_the_clock() -> None:
    while time.monotonic() < 1:
        pass


def test_a_loop_that_waits_for_the_clock_cannot_be_explored():
    result = explore_coroutine(waits_for_the_clock)
    assert result.status is Status.UNEXPLORABLE
    assert f"read {READINGS} times" in result.reason
    assert "waits_for_the_clock" in result.reason


@pytest.mark.parametrize("name", ["open", "os.listdir"])
def test_files_stay_outside(name):
    async def main() -> None:
        eval(name)(".")

    assert explore_coroutine(main).status is Status.UNEXPLORABLE
