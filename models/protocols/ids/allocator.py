"""The root coordinator's allocator of ids by itself, with an oracle that refuses.

The explored programs of ``program`` have an oracle in its term, which has ids for every question.
"""

from __future__ import annotations

from collections.abc import Hashable

from tidemark.impl.errors import NoTimestampError, NotLeaderError
from tidemark.impl.rootcoord.ids import IdAllocator
from tidemark.impl.timestamp import Batch
from tidemark.models.protocols.common.scripted import Script, ScriptedProgram
from tidemark.models.simulation.world.process import Process

AS_ASKED = "a_batch_has_the_ids_that_are_asked_for"
"""Claim id: the oracle is asked for as many ids as the proxy asks for, and for the largest batch if that is
more; its answer is that of the allocator."""
REFUSED = "who_gets_no_ids_hears_why"
"""Claim id: a question for none, and a largest batch of none, are refused as mistakes; an oracle that has no
ids now is a failed call; what is broken is not hidden."""

_FAILURES = {
    "not the leader": (NotLeaderError("it does not lead"), "RpcError"),
    "no time": (NoTimestampError("the window is used up"), "RpcError"),
    "broken": (RuntimeError("a part of it is broken"), "RuntimeError"),
}
SCRIPTS: tuple[Script, ...] = (
    *({"most": most, "counts": [1, 2, 3, 4, 0, -1]} for most in (1, 3)),
    {"most": 2, "counts": [1, 2, 3], "allocate": list(_FAILURES)},
    *({"most": most, "counts": []} for most in (0, -1)),
)
"""``most``: the largest batch; ``counts``: how many ids are asked for. Each is explored by itself."""


class AllocatorProgram(ScriptedProgram):
    """One allocator, its oracle, and who asks."""

    claims = (AS_ASKED, REFUSED)

    async def live(self, process: Process) -> None:
        """Make the allocator, and ask."""
        self._process = process
        self._wrong: str | None = None
        self._given: list[int] = []
        self._heard: list[tuple[int, ...] | str] = []
        self.begun = True
        process.spawn(self._ask(), "who asks")

    async def _ask(self) -> None:
        most = self.script["most"]
        try:
            allocator = IdAllocator(oracle=self, most=most)
        except ValueError:
            self._compare(REFUSED, "ValueError", "ValueError" if most < 1 else "")
            return
        self._compare(REFUSED, "", "ValueError" if most < 1 else "")
        for place, count in enumerate(self.script["counts"]):
            answers = self.script.get("allocate", ())
            due: tuple[int, ...] | str = (1, min(count, most))
            if count < 1:
                due = "ValueError"
            elif answers:
                due = _FAILURES[answers[place]][1]
            before = len(self._given)
            heard: tuple[int, ...] | str
            try:
                heard = tuple(await allocator.allocate(count))
            except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
                heard = type(failure).__name__
            self._heard.append(heard)
            self._compare(REFUSED if isinstance(due, str) else AS_ASKED, heard, due)
            self._compare(AS_ASKED, self._given[before:], [min(count, most)] if count > 0 else [])

    def _compare(self, claim: str, found: object, due: object) -> None:
        if found != due and self._wrong is None:
            self._wrong = f"{claim}: {found!r}; due: {due!r}; {dict(self.script)}"

    async def allocate(self, count: int = 1) -> Batch:
        """See BatchSource."""
        self._given.append(count)
        answer = await self.answer(self._process, "allocate")
        if answer in _FAILURES:
            raise _FAILURES[answer][0]
        return Batch(1, count)

    # What is looked at.

    def look(self) -> Hashable:
        """Return what was asked of the oracle, and what was heard."""
        return (tuple(self._given), tuple(self._heard), self._wrong)

    def wrong(self) -> str | None:
        """Return what was seen to be wrong."""
        return self._wrong

    def wrong_after_a_step(self) -> str | None:
        """Likewise."""
        return self._wrong

    def wrong_at_the_end(self) -> str | None:
        """Return whether everything was asked."""
        due = len(self.script["counts"]) if self.script["most"] > 0 else 0
        if len(self._heard) < due:
            return f"{AS_ASKED}: {len(self._heard)} of {due} questions were answered"
        return self._wrong


def allocator() -> AllocatorProgram:
    """Return the program of all scripts."""
    return AllocatorProgram(SCRIPTS, timers=0)
