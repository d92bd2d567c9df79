"""Inserts of one client side by side: each question and each insert is answered when the script says so.

An insert is for the version that its own question has brought, or that is kept when it begins, whatever the
others hear meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from tidemark.impl.client.client import Client
from tidemark.impl.system.connection import Json, RequestRefusedError
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.protocols.retries.client_scripts import MISMATCH
from tidemark.models.simulation.world.process import Process

OWN = "an_insert_is_for_the_version_that_it_was_told"
"""Claim id: who asks for a version sends its rows for that one, and asks again when it is refused as too old;
what others hear meanwhile changes nothing of it."""

SCRIPTS: tuple[Script, ...] = (
    # b is refused for 1 and asks again; a is told 1 by a proxy that lags; then b is told 2.
    {
        "events": [
            ("insert", "b"),
            ("answer", 0, 1),
            ("answer", 1, MISMATCH),
            ("insert", "a"),
            ("answer", 3, 1),
            ("answer", 2, 2),
            ("answer", 5, 9),
            ("answer", 4, MISMATCH),
            ("answer", 6, 2),
            ("answer", 7, 10),
        ]
    },
    # Both ask at once, and are told different versions, the newer one first.
    {
        "events": [
            ("insert", "a"),
            ("insert", "b"),
            ("answer", 1, 4),
            ("answer", 0, 3),
            ("answer", 3, MISMATCH),
            ("insert", "c"),
            ("answer", 2, 8),
            ("answer", 4, 4),
            ("answer", 5, 4),
        ]
    },
    # What is kept is used at once, and refused for both.
    {
        "events": [
            ("insert", "a"),
            ("answer", 0, 1),
            ("insert", "b"),
            ("answer", 1, MISMATCH),
            ("answer", 2, MISMATCH),
            ("answer", 3, 2),
            ("answer", 4, 2),
            ("answer", 5, 7),
            ("answer", 6, MISMATCH),
            ("answer", 7, 2),
            ("answer", 8, MISMATCH),
        ]
    },
)


@dataclass(eq=False)
class Insert:
    """One insert as it has to be. ``last``: the version that was refused before. ``heard``: its end."""

    name: str
    version: int = 0
    last: int = -1
    heard: Hashable = None


class BesideProgram(ComparedProgram):
    """One client, its connection, and inserts."""

    async def live(self, process: Process) -> None:
        """Make the client, and let happen what the script says."""
        self._ended = False
        self._calls: list[tuple[str, str, int]] = []
        self._answers: list[asyncio.Future[Json]] = []
        self._heard: dict[str, Hashable] = {}
        # What is due: the calls, whose they are, and what is kept.
        self._due: list[tuple[str, str, int]] = []
        self._of: list[Insert] = []
        self._kept: int | None = None
        self._client = Client(self)
        self.begun = True
        for event in self.script["events"]:
            self._happen(event)
            await process.point("a little later")
            self._look(event)
            await self.halt_if_wrong()
        self._ended = True

    def _happen(self, event: tuple[Any, ...]) -> None:
        match event:
            case ("insert", name):
                self._begin(Insert(name))
                asyncio.get_running_loop().create_task(self._insert(name), name=name)
            case (_, number, answer):
                self._reckon(number, answer)
                refused = RequestRefusedError(MISMATCH, "another version")
                if number >= len(self._answers):
                    self._problem = f"{OWN}: call {number} is not made"
                elif answer == MISMATCH:
                    self._answers[number].set_exception(refused)
                else:
                    self._answers[number].set_result({"version": answer, "ts": answer})

    async def _insert(self, name: str) -> None:
        try:
            self._heard[name] = await self._client.insert("c", {1: name})
        except RequestRefusedError as refused:
            self._heard[name] = refused.kind

    async def call(self, method: str, **arguments: Any) -> Json:
        """See Connection."""
        name = asyncio.current_task()
        self._calls.append((name.get_name() if name else "", method, arguments.get("version", 0)))
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._answers.append(answer)
        return await answer

    async def close(self) -> None:
        """See Connection."""

    # What is right.

    def _begin(self, one: Insert) -> None:
        """It is sent for the version that is kept; else it asks."""
        if self._kept is None:
            self._made(one, "describe", 0)
        else:
            one.version = self._kept
            self._made(one, "insert", one.version)

    def _made(self, one: Insert, method: str, version: int) -> None:
        self._due.append((one.name, method, version))
        self._of.append(one)

    def _reckon(self, number: int, answer: Any) -> None:
        one, method = self._of[number], self._due[number][1]
        if method == "describe":
            self._kept = one.version = answer
            self._made(one, "insert", answer)
        elif answer != MISMATCH:
            one.heard = answer
        elif one.version <= one.last:
            one.heard = MISMATCH
        else:
            one.last, self._kept = one.version, None
            self._begin(one)

    # What is looked at.

    def _look(self, event: tuple[Any, ...]) -> None:
        ended = {one.name: one.heard for one in self._of if one.heard is not None}
        kept = self._client.schemas.versions.get("c")
        found, due = (self._calls, self._heard, kept), (self._due, ended, self._kept)
        if found != due and self._problem is None:
            self._problem = f"{OWN}: after {event}: {found}, and not {due}"

    def look(self) -> Hashable:
        """What was asked and heard."""
        return tuple(self._calls), tuple(sorted(self._heard.items(), key=repr))

    def wrong_at_the_end(self) -> str | None:
        """All of the script has happened."""
        return None if self._ended else f"{OWN}: the script does not come to its end"


def beside() -> BesideProgram:
    """Return the program of all scripts."""
    return BesideProgram(SCRIPTS, timers=0)
