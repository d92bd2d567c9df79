"""What the broker's log promises to those who append: ``ChannelLog`` over files in memory, in every order.

What was given up, or comes from a source that was fenced, never comes; what is answered is there, and what is
refused is not, in the next incarnation of the log neither.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path

from tidemark.impl.broker.channel_log import ChannelLog, entries_of
from tidemark.impl.errors import RpcError, StoreError
from tidemark.impl.storage.file_log import log_file, whole_lines
from tidemark.impl.values.messages import InsertMessage
from tidemark.models.protocols.common.memory_files import MemoryFiles
from tidemark.models.protocols.common.scripted import OK, Script, ScriptedProgram
from tidemark.models.simulation.world.process import Process

RULED_OUT = "what_is_given_up_never_comes"
"""Claim id: what ``settle`` has called absent never comes, and what it has called present is there."""
FENCED = "a_fenced_source_adds_nothing"
"""Claim id: when a source is fenced, or a newer coordinator followed, nothing of it comes any more."""
ANSWERED = "answers_say_what_is_there"
"""Claim id: an append that is answered is there, and one that is refused never comes."""

_ROOT, _CHANNEL = Path("log"), "a"
_FILE = log_file(_ROOT, _CHANNEL)

SCRIPTS: tuple[Script, ...] = (
    {"appends": [(1, 10), (1, 20)], "settles": [(1, 20)]},
    {"appends": [(1, 10), (1, 20)], "fences": [1]},
    {"appends": [(1, 10), (2, 20)], "fences": [1]},
    {"follows": -1, "appends": [(-1, 10), (-1, 20)], "coordinators": [-2]},
    {"follows": -1, "appends": [(-1, 10)], "coordinators": [-2, -1]},
    {"appends": [(1, 10), (2, 20)], "disk": ["fail", "ok"]},
)
"""Appends, settlements, fences and coordinators of each come in any order."""

Key = tuple[int, int]
"""Source and timestamp of a message."""


class _Disk(MemoryFiles):
    """Files whose forcing may fail when the content is there."""

    def __init__(self, program: LogPromises, process: Process) -> None:
        super().__init__(process)
        self._program = program
        self._owner = process

    async def sync(self, path: Path) -> None:
        """See Files."""
        await super().sync(path)
        if await self._program.answer(self._owner, "disk") != OK:
            raise OSError("the disk fails")


class LogPromises(ScriptedProgram):
    """One log.

    Scripts have the question ``disk``, and ``appends`` and ``settles`` (source, timestamp), ``fences`` of
    sources, and ``coordinators`` that are followed; ``follows``: the one that is followed at first.
    """

    claims = (RULED_OUT, FENCED, ANSWERED)

    def __init__(self, scripts: Sequence[Script]) -> None:
        super().__init__(scripts, timers=2)
        self._wrong: str | None = None
        self.places: dict[Key, int] = {}
        self.refused: list[Key] = []
        self.settled: dict[Key, bool] = {}
        self.over: dict[int, frozenset[Key]] = {}

    async def live(self, process: Process) -> None:
        """Open the log, and let all of it happen."""
        files = self.files = _Disk(self, process)
        self.log = ChannelLog(_ROOT, _CHANNEL, files=files)
        self.begun = True
        if "follows" in self.script:
            await self.log.follow(self.script["follows"])
        for kind in ("appends", "settles", "fences", "coordinators"):
            for one in self.script.get(kind, ()):
                process.spawn(self._does(process, kind, one), f"{kind} {one}")
        process.spawn(self._serves(files), "log")

    async def _serves(self, files: MemoryFiles) -> None:
        try:
            await self.log.run()
        except StoreError:
            again = ChannelLog(_ROOT, _CHANNEL, files=files)
            await again.load()
            self.log = again

    async def _does(self, process: Process, kind: str, one: int | Key) -> None:
        await process.point(kind)
        if isinstance(one, tuple):
            await (self._appends(one) if kind == "appends" else self._settles(one))
        elif kind == "fences":
            await self.log.fence(one)
            self.over[one] = self._present()
        else:
            await self.log.follow(one)
            if one < self.script["follows"]:
                self.over[self.script["follows"]] = self._present()

    async def _appends(self, key: Key) -> None:
        source, ts = key
        try:
            self.places[key] = await self.log.append(source, InsertMessage(ts, "a_1v0", ()))
        except RpcError:
            self.refused.append(key)

    async def _settles(self, key: Key) -> None:
        self.settled[key] = await self.log.settle(*key)

    # What is looked at.

    def _present(self) -> frozenset[Key]:
        return frozenset((entry.source, entry.message.ts) for entry in self.log.entries)

    def _forced(self) -> frozenset[Key]:
        """What the next incarnation of the log finds."""
        lines = whole_lines(self.files.forced.get(_FILE, b""), where=_FILE)
        found = (entry for line in lines for entry in entries_of(line, where=_FILE))
        return frozenset((entry.source, entry.message.ts) for entry in found)

    def look(self) -> Hashable:
        """Return what is in the log, and what was answered."""
        return (
            tuple((entry.source, entry.message.ts) for entry in self.log.entries),
            tuple(self.places.items()),
            tuple(self.refused),
            tuple(self.settled.items()),
            tuple(self.over.items()),
            self._wrong,
        )

    def wrong(self) -> str | None:
        """Return what was seen to be wrong."""
        return self._wrong

    def wrong_after_a_step(self) -> str | None:
        """Return which promise is broken."""
        present = self._present()
        for key, there in self.settled.items():
            if there != (key in present):
                self._note(RULED_OUT, f"{key} was settled as {there}, and the log has {sorted(present)}")
        for source, before in self.over.items():
            if any(key[0] == source for key in present - before):
                self._note(FENCED, f"{source} was fenced at {sorted(before)}, and has {sorted(present)}")
        for key, place in self.places.items():
            entry = self.log.entries[place - 1] if place <= len(self.log.entries) else None
            if entry is None or (entry.source, entry.message.ts) != key:
                self._note(ANSWERED, f"{key} is not at place {place}")
        for key in self.refused:
            if key in present or key in self._forced():
                self._note(ANSWERED, f"{key} was refused, and is there")
        return self._wrong

    def wrong_at_the_end(self) -> str | None:
        """Return who is not answered, unless the disk has failed."""
        asked = set(self.script.get("appends", ()))
        missing = asked - set(self.places) - set(self.refused)
        if missing and "disk" not in self.script:
            self._note(ANSWERED, f"nobody is told of {sorted(missing)}")
        return self._wrong

    def _note(self, claim: str, words: str) -> None:
        self._wrong = self._wrong or f"{claim}: {words}"


def promises() -> LogPromises:
    """Return the program of all scripts."""
    return LogPromises(SCRIPTS)
