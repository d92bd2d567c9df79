"""The supervisor of a process: its first failure is kept, a stop ends all tasks but the caller."""

import asyncio

import pytest

from tests.impl.parts import VirtualLoop
from tidemark.impl.runtime import AsyncioClock, NoPreemption, Supervisor

LOOP = VirtualLoop


class Bench:
    """A supervisor, and what has happened to its tasks: when and what."""

    def __init__(self):
        self.supervisor = Supervisor()
        self.seen = []

    def note(self, what):
        self.seen.append((asyncio.get_running_loop().time(), what))

    def kept(self):
        return list(self.supervisor._tasks.values())

    def works(self, name, seconds, *, fails=False, after=0.0):
        """Spawn a task that ends after some seconds, and takes some more when it is stopped."""

        async def work():
            self.note(f"{name} begins")
            try:
                await asyncio.sleep(seconds)
            except asyncio.CancelledError:
                await asyncio.sleep(after)
                self.note(f"{name} is stopped")
                if not fails:
                    raise
            if fails:
                raise ValueError(name)

        return self.supervisor.spawn(work, name)


@pytest.fixture
def bench():
    return Bench()


async def test_the_first_failure_is_kept_and_raised_to_all_who_ask(bench):
    waiter = asyncio.create_task(bench.supervisor.wait_failed())
    waiter.add_done_callback(lambda _: bench.note("the waiter hears"))
    for name, seconds, fails in (("a", 1, False), ("b", 2, True), ("c", 3, True)):
        bench.works(name, seconds, fails=fails)
    await asyncio.sleep(1.5)
    bench.supervisor.check()
    assert bench.kept() == ["b", "c"]
    await asyncio.sleep(2.5)
    for asked in (waiter, bench.supervisor.wait_failed()):
        with pytest.raises(ValueError, match=r"^b$"):
            await asked
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^b$"):
            bench.supervisor.check()
    assert bench.kept() == []
    assert bench.seen == [*((0, f"{name} begins") for name in "abc"), (2, "the waiter hears")]


async def test_a_stop_waits_for_the_end_of_each_task(bench):
    tasks = [bench.works("a", 9), bench.works("b", 9, after=1), bench.works("c", 9, fails=True)]
    await asyncio.sleep(2)
    await bench.supervisor.stop()
    assert bench.seen[3:] == [(2, "a is stopped"), (2, "c is stopped"), (3, "b is stopped")]
    assert asyncio.get_running_loop().time() == 3
    assert [task.cancelled() for task in tasks] == [True, True, False]
    assert bench.kept() == []
    with pytest.raises(ValueError, match=r"^c$"):
        bench.supervisor.check()


async def test_work_that_is_stopped_before_it_began_is_never_made(bench):
    bench.works("a", 9)
    await bench.supervisor.stop()
    assert (bench.seen, bench.kept()) == ([], [])


async def test_a_task_that_is_cancelled_by_itself_is_forgotten_and_no_failure(bench):
    task = bench.works("a", 9)
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait([task])
    assert bench.kept() == []
    bench.supervisor.check()


async def test_a_clock_waits_as_long_as_it_is_asked_to_and_a_point_does_not_wait(bench):
    await NoPreemption().point("here")
    bench.note("a point")
    await AsyncioClock().sleep(2.5)
    bench.note("a pause")
    assert bench.seen == [(0, "a point"), (2.5, "a pause")]
