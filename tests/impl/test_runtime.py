"""The supervisor: failures are kept, and work that never ran leaves nothing behind."""

import pytest

from tests.impl.parts import run, settle
from tidemark.impl.runtime import Supervisor


def test_the_first_failure_is_kept_and_raised():
    async def fail(error):
        raise error

    async def scenario():
        supervisor = Supervisor()
        supervisor.check()
        supervisor.spawn(lambda: fail(ValueError("first")), "one")
        supervisor.spawn(lambda: fail(KeyError("second")), "two")
        await settle()
        with pytest.raises(ValueError, match="first"):
            supervisor.check()

    run(scenario())


def test_work_that_is_stopped_before_it_began_is_never_made():
    async def scenario():
        made = []

        async def work():
            made.append("ran")

        supervisor = Supervisor()
        supervisor.spawn(work, "never")
        await supervisor.stop()
        await settle()
        assert made == []

    run(scenario())


def test_work_may_stop_its_own_supervisor():
    async def scenario():
        supervisor = Supervisor()
        stopped = []

        async def work():
            await supervisor.stop()
            stopped.append(True)

        supervisor.spawn(work, "last")
        await settle()
        assert stopped == [True]

    run(scenario())
