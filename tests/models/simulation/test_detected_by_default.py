"""What is found without writing a property: deadlock, leaks, lost exceptions, spinning, an open world."""

import asyncio
import datetime as dt
import random
import secrets
import select
import signal
import socket
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from random import choice as imported_choice
from time import monotonic

import pytest

from tidemark.checks.interleave import explore
from tidemark.models.simulation import Process, Program, ProgramRef, World

HERE = "tests.models.simulation.test_detected_by_default:"


class Misbehaving(Program):
    """Runs one of the functions below as the only process."""

    def __init__(self, name: str) -> None:
        self.name = name

    def build(self, world: World) -> None:
        world.process("p", globals()[self.name])


async def deadlocks(process: Process) -> None:
    lock = asyncio.Lock()
    async with lock, lock:
        pass


async def leaks_a_task(process: Process) -> None:
    leaks_a_task.kept = asyncio.create_task(asyncio.Event().wait())  # type: ignore[attr-defined]


async def loses_an_exception(process: Process) -> None:
    async def fail() -> None:
        raise ValueError("unseen")

    task = asyncio.create_task(fail())
    await process.point("let it fail")
    assert task.done()


async def fails(process: Process) -> None:
    raise KeyError("main")


async def fails_in_a_callback(process: Process) -> None:
    asyncio.get_running_loop().call_soon(lambda: 1 // 0)
    await process.point("after")


async def spins(process: Process) -> None:
    while True:  # noqa: ASYNC110
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("deadlocks", "deadlock", "p/main in deadlocks"),
        ("leaks_a_task", "task-leak", "left tasks behind"),
        ("loses_an_exception", "unretrieved-exception", "ValueError('unseen')"),
        ("fails", "exception", "KeyError('main')"),
        ("fails_in_a_callback", "callback-exception", "ZeroDivisionError"),
        ("spins", "livelock", "spins without waiting"),
    ],
)
def test_it_is_found(name, kind, words):
    result = explore(ProgramRef.of(f"{HERE}Misbehaving", name=name))
    assert result.status.value == "refuted"
    violation = result.first().violation
    assert violation.kind == kind
    assert words in violation.message


async def reads_the_clock(process: Process) -> None:
    time.time()


async def reads_an_imported_clock(process: Process) -> None:
    monotonic()


async def asks_for_the_date(process: Process) -> None:
    dt.datetime.now(dt.UTC)


async def draws_a_number(process: Process) -> None:
    random.random()


async def draws_from_an_imported_function(process: Process) -> None:
    imported_choice([1, 2])


async def seeds_from_the_machine(process: Process) -> None:
    random.Random()


async def asks_for_the_hour(process: Process) -> None:
    time.strftime("%H")


async def measures_its_own_time(process: Process) -> None:
    time.process_time()


async def makes_a_unique_id(process: Process) -> None:
    uuid.uuid4()


async def makes_a_secret(process: Process) -> None:
    secrets.token_hex(4)


async def opens_a_raw_socket(process: Process) -> None:
    socket.socket().close()


async def opens_a_database(process: Process) -> None:
    sqlite3.connect(":memory:").close()


async def looks_for_a_file(process: Process) -> None:
    Path("/").exists()  # noqa: ASYNC240


async def polls_descriptors(process: Process) -> None:
    select.select([], [], [], 0)


async def handles_a_signal(process: Process) -> None:
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)


async def opens_a_file(process: Process) -> None:
    with Path("/dev/null").open():  # noqa: ASYNC230
        pass


async def starts_a_thread(process: Process) -> None:
    threading.Thread(target=len, args=((),)).start()


async def uses_an_executor(process: Process) -> None:
    await asyncio.get_running_loop().run_in_executor(None, len, ())


async def connects(process: Process) -> None:
    await asyncio.open_connection("localhost", 1)


async def hides_it(process: Process) -> None:
    try:
        time.time()
    except Exception:  # noqa: BLE001
        await process.point("as if nothing had happened")


@pytest.mark.parametrize(
    "function",
    [
        reads_the_clock,
        reads_an_imported_clock,
        asks_for_the_date,
        draws_a_number,
        draws_from_an_imported_function,
        seeds_from_the_machine,
        asks_for_the_hour,
        measures_its_own_time,
        makes_a_unique_id,
        makes_a_secret,
        opens_a_raw_socket,
        opens_a_database,
        looks_for_a_file,
        polls_descriptors,
        handles_a_signal,
        opens_a_file,
        starts_a_thread,
        uses_an_executor,
        connects,
        hides_it,
    ],
)
def test_the_world_is_closed_and_the_error_names_the_line(function: Callable[[Process], object]):
    result = explore(ProgramRef.of(f"{HERE}Misbehaving", name=function.__name__))
    kinds = {violation.kind for violation in result.violations}
    assert "closed-world" in kinds
    message = next(v.message for v in result.violations if v.kind == "closed-world")
    line = function.__code__.co_firstlineno + (2 if function is hides_it else 1)
    assert f"test_detected_by_default.py:{line} in {function.__name__}" in message


def test_the_real_world_is_back_afterwards():
    explore(ProgramRef.of(f"{HERE}Misbehaving", name="reads_the_clock"))
    assert time.time() > 0
    assert random.random() < 1


async def works_with_what_it_is_given(process: Process) -> None:
    """A seed, a moment: nothing of the machine."""
    assert random.Random(7).random() == random.Random(7).random()
    assert time.gmtime(0).tm_year == 1970
    assert time.strftime("%Y", time.gmtime(0)) == "1970"


def test_pure_functions_of_the_same_modules_are_allowed():
    result = explore(ProgramRef.of(f"{HERE}Misbehaving", name="works_with_what_it_is_given"))
    assert result.status.value == "exhausted"
    assert not result.violations


async def imports(process: Process) -> None:
    import wave  # a module that nothing else has imported

    assert wave.__name__ == "wave"


def test_an_import_inside_a_function_is_allowed():
    assert explore(ProgramRef.of(f"{HERE}Misbehaving", name="imports")).status.value == "exhausted"
