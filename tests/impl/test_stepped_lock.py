"""The lock whose waiters begin in a step of their own: turns, names, points, holders that fail or leave."""

import asyncio
from typing import Any

import pytest

from tests.impl.parts import VirtualLoop, run
from tidemark.impl.stepped_lock import SteppedLock

HAPPENS: dict[str, Any] = {
    "turns": (
        [("a", 0, 2, ""), ("b", 1, 2, ""), ("c", 2 + 1e-10, 2, "")],  # behind a, in the same pass of the loop
        "a holds 0, a lets go 2, b passes 2, b holds 2, b lets go 4, c passes 4, c holds 4, c lets go 6",
        "bc",
    ),
    "holders that fail": (
        [("a", 0, 2, "fails"), ("b", 1, 2, "fails"), ("c", 6, 1, "")],
        "a holds 0, a ends 2, b passes 2, b holds 2, b ends 4, c holds 6, c lets go 7",
        "b",
    ),
    "a waiter that leaves": (
        [("a", 0, 4, ""), ("b", 1, 2, "leaves"), ("c", 1.5, 1, "")],
        "a holds 0, b ends 2, a lets go 4, c passes 4, c holds 4, c lets go 5",
        "ac",
    ),
}
"""Users: name, seconds until it comes, of its turn, how it ends. What happens; the users after 2.25 s."""


@pytest.mark.parametrize("case", HAPPENS)
def test_the_lock_is_passed_on_in_turn_and_a_waiter_passes_a_point_first(case):
    users, happens, early = HAPPENS[case]
    seen = []

    def note(what):
        seen.append(f"{what} {asyncio.get_running_loop().time():g}")

    class Preemption:
        async def point(self, name):
            note(f"{name} passes")

    async def use(lock, name, comes, holds, how):
        await asyncio.sleep(comes)
        try:
            async with asyncio.timeout(1 if how == "leaves" else None), lock.holding(name):
                note(f"{name} holds")
                await asyncio.sleep(holds)
                assert how != "fails"
                note(f"{name} lets go")
        except (TimeoutError, AssertionError):
            note(f"{name} ends")

    async def scenario():
        lock = SteppedLock(Preemption())
        tasks = [asyncio.create_task(use(lock, *user), name=user[0]) for user in users]
        await asyncio.sleep(2.25)
        assert lock.users == list(early)
        await asyncio.gather(*tasks)
        assert lock.users == []
        assert seen == happens.split(", ")

    run(scenario(), loop=VirtualLoop)
