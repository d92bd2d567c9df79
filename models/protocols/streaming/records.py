"""The recovery storage of a streaming node by itself: checkpoints, records, and where the log is cut.

What is saved, where recovery starts and what is cut off follows from the calls. A save may fail, or may be
under way while the log goes on.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from tidemark.impl.errors import StoreError
from tidemark.impl.streaming.ports import Summary
from tidemark.impl.streaming.recovery_storage import RecoveryStorage
from tidemark.impl.streaming.values import Checkpoints
from tidemark.impl.types import Row
from tidemark.impl.values.messages import DeleteMessage, InsertMessage
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

SAVED = "a_checkpoint_is_saved_before_it_is_used"
"""Claim id: a checkpoint moves forward only; it counts when the store has it, and a failed save changes
nothing."""
COUNTED = "each_place_is_counted_once"
"""Claim id: the records count the rows of each place behind the start once, deletes too; they go on before
the begin of a transaction that is not over."""
CUT = "the_log_is_cut_behind_both_checkpoints"
"""Claim id: recovery starts at the lesser checkpoint, and nothing behind it is cut off."""

SCRIPTS: tuple[Script, ...] = (
    {
        "calls": [
            ("load",),
            ("persist",),
            ("rows", 1, {7: 2, 8: 1}),
            ("deletes", 2, 9),
            ("persist",),
            ("move", 1),
            ("persist",),
            ("rows", 2, {7: 5}),
            ("rows", 3, {7: 1}),
            ("move", 3),
            ("move", 2),
            ("move", 3),
            ("persist",),
            ("persist",),
        ]
    },
    # What was saved before.
    {
        "saved": (4, 6),
        "summary": (8, {7: 3}),
        "calls": [
            ("load",),
            ("rows", 7, {7: 1}),
            ("rows", 8, {7: 1}),
            ("rows", 9, {7: 1}),
            ("persist",),
            ("move", 4),
            ("move", 9),
            ("persist",),
            ("load",),
        ],
    },
    {
        "saved": (9, 2),
        "summary": (5, {}),
        "calls": [("load",), ("persist",), ("move", 8), ("rows", 6, {}), ("persist",)],
    },
    # Transactions that are not over hold the records back.
    {
        "calls": [
            ("load",),
            ("move", 9),
            ("rows", 1, {7: 1}),
            ("open", 2, 2),
            ("open", 5, 2),
            ("persist",),
            ("open", 6, 6),
            ("persist",),
            ("rows", 7, {7: 1}),
            ("open", 8, 9),
            ("persist",),
            ("persist",),
        ]
    },
    # The store fails.
    {
        "calls": [
            ("load",),
            ("rows", 3, {7: 1}),
            ("fail",),
            ("move", 2),
            ("move", 2),
            ("fail",),
            ("persist",),
            ("persist",),
            ("fail",),
            ("load",),
            ("load",),
        ]
    },
    # The log goes on, and so does the other checkpoint, while a save is under way.
    {
        "calls": [
            ("load",),
            ("move", 5),
            ("rows", 3, {7: 1}),
            ("hold", "recovery"),
            ("persist",),
            ("rows", 4, {8: 1}),
            ("move", 6),
            ("go",),
            ("persist",),
        ]
    },
    {
        "calls": [
            ("load",),
            ("rows", 3, {7: 1}),
            ("hold", "flusher"),
            ("move", 2),
            ("rows", 4, {8: 1}),
            ("persist",),
            ("go",),
            ("persist",),
        ]
    },
)


class RecordsProgram(ComparedProgram):
    """One recovery storage, its store and its log."""

    async def live(self, process: Process) -> None:
        """Make the storage, and call."""
        self._process = process
        self._fails, self._ended = False, False
        self._held, self._gate = "", asyncio.Event()
        self._later: list[Callable[[], None]] = []
        self._told: list[Hashable] = []
        self._names = [call[0] for call in self.script["calls"]]
        self._heard: list[str] = []
        flusher, recovery = self.script.get("saved", (0, 0))
        place, rows = self.script.get("summary", (0, {}))
        self._stored = Checkpoints(flusher=flusher, recovery=recovery), Summary(place, dict(rows), recovery)
        # What is right: what the store was told, what is known here, and where the log was cut.
        self._right_told: list[Hashable] = []
        self._right_heard: list[str] = []
        self._known = [0, 0]
        self._place, self._rows, self._earliest = 0, Counter[int](), 0
        self._real = RecoveryStorage(store=self, log=self)  # type: ignore[arg-type]
        self.begun = True
        for call in self.script["calls"]:
            await self._happen(call)
            await process.point("a little later")
            self._look(call)
            await self.halt_if_wrong()
        self._ended = True

    async def _happen(self, call: tuple[Any, ...]) -> None:
        match call:
            case ("fail",):
                self._fails = True
            case ("hold", what):
                self._held, self._gate = what, asyncio.Event()
            case ("go",):
                self._gate.set()
                self._held = ""
                for effect in self._later:
                    effect()
                self._later.clear()
            case ("load",):
                self._reckon_load()
                self._begin(self._real.load)
            case ("move", place):
                self._reckon_move(place)
                self._begin(lambda: self._real.move_flusher(place))
            case ("persist",):
                self._reckon_persist()
                self._begin(self._real.persist)
            case ("rows", place, rows):
                made = [
                    Row(place, segment, 100 * place + n)
                    for segment, count in rows.items()
                    for n in range(count)
                ]
                self._observe(place, InsertMessage(place, "c", tuple(made)), rows)
            case ("deletes", place, segment):
                self._observe(place, DeleteMessage(place, "c", segment, (1,)), {segment: 1})
            case (_, place, earliest):
                self._real.observe(place, [], earliest)
                self._place, self._earliest = place, earliest

    def _begin(self, work: Callable[[], Any]) -> None:
        async def heard() -> None:
            try:
                await work()
            except StoreError:
                self._heard.append("StoreError")
            else:
                self._heard.append("")

        asyncio.get_running_loop().create_task(heard(), name="call")

    def _observe(self, place: int, message: Any, rows: Mapping[int, int]) -> None:
        self._real.observe(place, [message])
        if place > self._place:
            self._place, self._earliest = place, 0
            self._rows.update(rows)

    # What is right.

    def _failed(self) -> bool:
        self._right_heard.append("StoreError" if self._fails else "")
        return self._fails

    def _reckon_load(self) -> None:
        if not self._failed():
            checkpoints, summary = self._stored
            self._known = [checkpoints.flusher, checkpoints.recovery]
            self._place, self._rows = summary.place, Counter(summary.rows)

    def _reckon_move(self, place: int) -> None:
        def saved() -> None:
            self._right_told.append(("flusher", place))
            self._known[0] = place

        if place <= self._known[0]:
            self._right_heard.append("")
        elif not self._failed():
            self._then("flusher", saved)

    def _reckon_persist(self) -> None:
        place, rows = self._place, tuple(sorted(self._rows.items()))
        start = min(place, self._earliest - 1) if self._earliest else place

        def saved() -> None:
            self._right_told.append(("recovery", place, rows, start))
            self._known[1] = start
            self._cut()

        if start <= self._known[1]:
            self._right_heard.append("")
            self._cut()
        elif not self._failed():
            self._then("recovery", saved)

    def _cut(self) -> None:
        if min(self._known):
            self._right_told.append(("cut", min(self._known)))

    def _then(self, what: str, effect: Callable[[], None]) -> None:
        """What a save changes, when it has ended."""
        if self._held == what:
            self._later.append(effect)
        else:
            effect()

    # The edges.

    async def load(self) -> tuple[Checkpoints, Summary]:
        """See CheckpointStore."""
        await self._answer("load")
        return self._stored

    async def save_flusher(self, upto: int) -> None:
        """See CheckpointStore."""
        before = self._real.saved
        await self._answer("flusher")
        self._told.append(("flusher", upto))
        self._unchanged(before)
        self._stored = Checkpoints(flusher=upto, recovery=self._stored[0].recovery), self._stored[1]

    async def save_recovery(self, summary: Summary) -> None:
        """See CheckpointStore."""
        before = self._real.saved
        await self._answer("recovery")
        self._told.append(("recovery", summary.place, tuple(sorted(summary.rows.items())), summary.start))
        self._unchanged(before)
        self._stored = Checkpoints(flusher=self._stored[0].flusher, recovery=summary.start), summary

    async def truncate(self, upto: int) -> None:
        """See TermLog."""
        self._told.append(("cut", upto))

    def _unchanged(self, before: Checkpoints) -> None:
        if "hold" not in self._names and self._real.saved != before:
            self._problem = f"{SAVED}: {self._real.saved} is used before the store has it"

    async def _answer(self, what: str) -> None:
        if self._held == what:
            await self._gate.wait()
        failed, self._fails = self._fails, False
        if failed:
            raise StoreError("no answer")

    # What is looked at.

    def _look(self, call: tuple[Any, ...]) -> None:
        if self._held:
            return
        real = self._real
        saved = [real.saved.flusher, real.saved.recovery]
        self._compare(call, SAVED, "what was heard", self._heard, self._right_heard)
        self._compare(call, CUT, "what was told", self._told, self._right_told)
        self._compare(call, SAVED, "checkpoints", saved, self._known)
        self._compare(call, COUNTED, "the place", real.observed, self._place)
        self._compare(call, COUNTED, "rows", dict(real.rows), dict(self._rows))
        self._compare(call, CUT, "the start", real.start(), min(self._known))

    def _compare(self, call: tuple[Any, ...], claim: str, what: str, found: object, due: object) -> None:
        self.compare(claim, f"after {call}: {what}", found, due)

    def look(self) -> Hashable:
        """What the store and the log were told."""
        return tuple(self._told)

    def wrong_at_the_end(self) -> str | None:
        """All calls were made."""
        return None if self._ended else f"{SAVED}: a call does not return"


def records() -> RecordsProgram:
    """Return the program of all scripts."""
    return RecordsProgram(SCRIPTS, timers=0)
