"""The lock whose waiters begin in a step of their own, by itself: turns, names, points, failing holders."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

from tidemark.impl.stepped_lock import SteppedLock
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

TURNS = "a_lock_has_one_holder_and_turns"
"""Claim id: one task holds the lock, the others follow in the order in which they came, whoever fails or
leaves; the users of the lock are those, by name."""
POINTS = "who_has_waited_begins_in_a_step_of_its_own"
"""Claim id: who had to wait passes the point of preemption once it holds the lock; nobody else passes it."""

SCRIPTS: tuple[Script, ...] = (
    {"users": {"a": (0, 2, "")}},
    {"users": {"a": (0, 2, ""), "b": (1, 2, ""), "c": (1.5, 2, "")}},
    {"users": {"a": (0, 2, "fails"), "b": (1, 2, "fails"), "c": (6, 1, "")}},
    {"users": {"a": (0, 4, ""), "b": (1, 2, "leaves"), "c": (2, 1, "")}},
)
"""By user: when it comes, how long it holds the lock, and how it ends. Who leaves does so after a second."""


class LocksProgram(ComparedProgram):
    """One lock and its users."""

    async def live(self, process: Process) -> None:
        """Let the users come."""
        self._process, self._from = process, process.now()
        self._seen: list[tuple[float, str]] = []
        self._lock = SteppedLock(self)
        self.begun = True
        loop = asyncio.get_running_loop()
        users = self.script["users"]
        tasks = [loop.create_task(self._use(name, *how), name=name) for name, how in users.items()]
        await asyncio.sleep(1.75)
        early = [name for name, (comes, _, how) in users.items() if comes < 1.75 and how != "leaves"]
        self.compare(TURNS, "the users of the lock", self._lock.users, [*early, *self._leaving()])
        await asyncio.wait(tasks)
        self.compare(TURNS, "the users at the end", self._lock.users, [])
        self._compare_points()
        self.compare(TURNS, "what has happened", self._seen, self._due())

    def _leaving(self) -> list[str]:
        return [name for name, (_, _, how) in self.script["users"].items() if how == "leaves"]

    async def point(self, name: str) -> None:
        """See Preemption: the lock passes it in the name of a user."""
        self._note(f"{name} passes a point")

    async def _use(self, name: str, comes: float, holds: float, how: str) -> None:
        await asyncio.sleep(comes)
        try:
            async with asyncio.timeout(1 if how == "leaves" else None), self._lock.holding(name):
                self._note(f"{name} holds")
                await asyncio.sleep(holds)
                _fail_if(how)
                self._note(f"{name} lets go")
        except (TimeoutError, ValueError):
            self._note(f"{name} ends")

    def _note(self, what: str) -> None:
        self._seen.append((self._process.now() - self._from, what))

    def _compare_points(self) -> None:
        """One after the other: who comes while the lock is held passes a point when it has it."""
        points = [what.partition(" ")[0] for _, what in self._seen if what.endswith("point")]
        free, due = 0.0, []
        for name, (comes, holds, how) in self.script["users"].items():
            if how == "leaves":
                continue
            due += [name] if comes < free else []
            free = max(comes, free) + holds
        self.compare(POINTS, "who passes a point", points, due)

    def _due(self) -> list[tuple[float, str]]:
        """All that has to happen, by time; of one time the end of a holder comes before its successor."""
        free = 0.0
        found: list[tuple[float, str]] = []
        for name, (comes, holds, how) in self.script["users"].items():
            if how == "leaves":
                found.append((comes + 1, f"{name} ends"))
                continue
            found += [(free, f"{name} passes a point")] if comes < free else []
            begins, free = max(comes, free), max(comes, free) + holds
            found += [(begins, f"{name} holds"), (free, f"{name} {'ends' if how else 'lets go'}")]
        return sorted(found, key=lambda one: one[0])

    def look(self) -> Hashable:
        """What has happened."""
        return tuple(self._seen)


def _fail_if(how: str) -> None:
    if how == "fails":
        raise ValueError(how)


def locks() -> LocksProgram:
    """Return the program of all scripts."""
    return LocksProgram(SCRIPTS, timers=20)
