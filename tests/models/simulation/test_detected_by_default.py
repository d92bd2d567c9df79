"""What is found without writing a property: deadlock, leaks, lost exceptions, spinning, an open world."""

import asyncio
import datetime as dt
import inspect
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
from typing import Any

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


async def fails(process: Process) -> None:
    raise KeyError("main")


async def fails_in_a_callback(process: Process) -> None:
    asyncio.get_running_loop().call_soon(lambda: 1 // 0)
    await process.point("after")


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("fails", "exception", "KeyError('main')"),
        ("fails_in_a_callback", "callback-exception", "ZeroDivisionError"),
    ],
)
def test_it_is_found(name, kind, words):
    result = explore(ProgramRef.of(f"{HERE}Misbehaving", name=name))
    assert result.status.value == "refuted"
    violation = result.first().violation
    assert violation.kind == kind
    assert words in violation.message


async def connects() -> None:
    await asyncio.open_connection("localhost", 1)


async def hides_it() -> None:
    try:
        time.time()
    except Exception:  # noqa: BLE001
        await asyncio.sleep(0)  # as if nothing had happened


REACHES: dict[str, Callable[[], Any]] = {
    "the clock": lambda: time.time(),  # noqa: PLW0108 - the line of the call is what the test reads
    "an imported clock": lambda: monotonic(),  # noqa: PLW0108
    "the date": lambda: dt.datetime.now(dt.UTC),
    "a random number": lambda: random.random(),  # noqa: PLW0108
    "an imported function that draws": lambda: imported_choice([1, 2]),
    "a seed of the machine": lambda: random.Random(),  # noqa: PLW0108
    "the hour": lambda: time.strftime("%H"),
    "its own time": lambda: time.process_time(),  # noqa: PLW0108
    "a unique id": lambda: uuid.uuid4(),  # noqa: PLW0108
    "a secret": lambda: secrets.token_hex(4),
    "a raw socket": lambda: socket.socket().close(),
    "a database": lambda: sqlite3.connect(":memory:").close(),
    "whether there is a file": lambda: Path("/").exists(),
    "descriptors": lambda: select.select([], [], [], 0),
    "a signal": lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN),
    "a file": lambda: Path("/dev/null").open().close(),
    "a thread": lambda: threading.Thread(target=len, args=((),)).start(),
    "an executor": lambda: asyncio.get_running_loop().run_in_executor(None, len, ()),
    "connects": connects,
    "hides it": hides_it,
}


class Reaching(Program):
    """Reaches for something outside of the closed world."""

    def __init__(self, what: str) -> None:
        self.what = what

    def build(self, world: World) -> None:
        async def main(process: Process) -> None:
            found = REACHES[self.what]()
            if inspect.iscoroutine(found):
                await found

        world.process("p", main)


@pytest.mark.parametrize("what", REACHES)
def test_the_world_is_closed_and_the_error_names_the_line(what: str):
    result = explore(ProgramRef.of(f"{HERE}Reaching", what=what))
    kinds = {violation.kind for violation in result.violations}
    assert "closed-world" in kinds
    message = next(v.message for v in result.violations if v.kind == "closed-world")
    code = REACHES[what].__code__
    line = code.co_firstlineno + {"connects": 1, "hides it": 2}.get(what, 0)
    assert f"test_detected_by_default.py:{line} in {code.co_qualname}" in message


def test_the_real_world_is_back_afterwards():
    explore(ProgramRef.of(f"{HERE}Reaching", what="the clock"))
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
