"""Drives the real coordinator, collector and readers by the actions of ``tidemark.spec.garbage``, in the
controlled world.

The driver plays nodes and readers: a node writes a file whenever it is told to, and what the coordinator has
to do is a call. The collector goes on only where the driver lets it: it has decided for one file at a time,
and takes them in the order of their names. By chance it comes in vain, everything crashes where nothing is
decided, or a save that must be refused comes: of a passed term, or once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, ClassVar

from tidemark.impl.types import (
    LOG_BEGINNING,
    BinlogRecord,
    EndPosition,
    Owner,
    SaveBinlogPaths,
    SegmentRecord,
)
from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.protocols.garbage.program import CHANNEL, CLUSTER, NODE, GarbageProgram
from tidemark.models.protocols.garbage.refinement import GarbageView
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.world.process import Process

_HAND, _CALL, _COLLECTOR = "driver", "call", "collector"
_MANY = 30
_WRITES = 2
_CRASHES = 8
_Work = Callable[[], Coroutine[Any, Any, object]]


class DrivenGarbage(GarbageProgram):
    """The cluster. What becomes of the channel is what the driver says.

    Attributes:
        order: what its task does next.
    """

    order: Callable[[], None]

    async def _plan(self, process: Process) -> None:
        self._process = process
        while True:
            await process.point(_HAND)
            self.order()

    def call(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin a call."""
        self._process.spawn(work, _CALL)

    def look_again(self) -> None:
        """The collector comes once more."""
        self.news.set()

    def store_file(self, path: str) -> None:
        """A node has written a file."""
        self._put(path)

    @property
    def view(self) -> GarbageView:
        """What is stored, written and about to be deleted."""
        view = self.observe()[CLUSTER]
        assert isinstance(view, GarbageView)
        return view

    @property
    def segments(self) -> dict[int, SegmentRecord]:
        """The stored records."""
        return self._stored.segments


class GarbageAdapter(DrivenRun):
    """One run of the cluster."""

    ignored: ClassVar[tuple[str, ...]] = ("faults",)

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        self._terms = [int(str(term)) for term in instance.map_constants["term_of"]]
        self._readers = range(int(str(instance.bounds["Reader"])))
        self._unread: set[tuple[int, int]] = set()
        self._lent: set[tuple[int, int]] = set()  # what a reader has read it gives back with the rest
        self._writes: Counter[int] = Counter()
        self._due: int | None = None  # the collector has decided for this file
        self._forgets = False  # the records of files are gone, and that of the channel is on its way
        self._checker = checker
        self._program = DrivenGarbage(plan=(), readers=False, crashes=_CRASHES)
        super().__init__(self._program)
        self._begin()
        self._state = self._look()

    def offers(self, step: Step) -> bool:
        """See ``Adapter``. What an owner does needs one: after its creation a channel has none.

        A file is written twice at most, a term with files ends when one of them is recorded, and a reader
        keeps its files until their collection is dropped: or else most examples would write and delete.
        """
        record = self._program.view.record
        deleting = bool(self._program.deleting)
        match step.action:
            case "write":
                return self._writes[int(step.args[0])] < _WRITES
            case "record":
                return record.assigned_to is not None
            case "take":
                return self._has_recorded(record.term)
            case "drop":
                return record.assigned_to is not None and self._has_recorded(record.term)
            case "end_read":
                return record.dropped or len(self._unread) > 1
            case "mark":
                next_one = min(self._marks(), default=None) if self._due is None else self._due
                return not (deleting or self._forgets) and int(step.args[0]) == next_one
            case "forget_files" | "forget":
                return not self._program.files or self._forgets
            case "restart":
                return not self._unread
        return True

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        args = tuple(map(int, step.args))
        if step.action in ("mark", "forget_files", "forget"):
            self._collect_until(step.action)
            self._forgets = step.action == "forget_files"
        elif step.action == "delete":
            self._delete(args[0])
        elif step.action == "restart":
            self._crash()
        elif step.action in ("begin_read", "end_read"):
            self._read(step.action, *args)
        elif step.action == "write":
            self._writes[args[0]] += 1
            self._order(lambda: self._program.store_file(self._path(args[0])))
        else:
            self._call(self._work(step.action, args))
        self._state = self._look()
        if chance:
            self._in_vain(chance)
        self._state = self._look()

    # What is looked at.

    def _look(self) -> State:
        view = self._program.view
        record, every = view.record, range(len(self._terms))
        files, written = self._numbers(self._program.files), self._numbers(self._program.written)
        return self._checker.encode(
            {
                "stored": {f: f in files for f in every},
                "written": {f: f in written for f in every},
                "reading": {(r, f): (r, f) in self._unread for r in self._readers for f in every},
                "life": "gone" if record.collected else "dropped" if record.dropped else "living",
                "term": record.term,
                "first": view.first,
                "entry": {f: self._entry(f) for f in every},
                "marked": {f: f in self._numbers(self._program.deleting) for f in every},
            }
        )

    def _entry(self, file: int) -> str:
        record = self._program.segments.get(file)
        if record is None:
            return "none"
        return "named" if any(one.path == self._path(file) for one in record.binlogs) else "replaced"

    def _has_recorded(self, term: int) -> bool:
        """A file of the term was recorded, or it has none."""
        of_term = [file for file, its in enumerate(self._terms) if its == term]
        return not of_term or any(file in self._program.segments for file in of_term)

    def _path(self, file: int) -> str:
        return f"{CHANNEL}/segment-{file}/term-{self._terms[file]:06d}-position-{1:020d}"

    def _numbers(self, paths: set[str]) -> set[int]:
        return {file for file in range(len(self._terms)) if self._path(file) in paths}

    def _marks(self) -> list[int]:
        """The files for which the collector may decide now; those that are lent are kept."""
        lent = {file for _, file in self._lent}
        found = self._checker.successors(self._state)
        marks = {int(one.step.args[0]) for one in found if one.step.action == "mark"}
        return sorted(marks - lent)

    # Calls of the coordinator.

    def _work(self, action: str, args: tuple[int, ...]) -> _Work:
        coordinator, record = self._program.coordinator, self._program.view.record
        match action:
            case "take":
                return lambda: coordinator.recover_channel(CHANNEL, NODE)
            case "drop":
                return lambda: coordinator.drop_channel(CHANNEL, Owner(NODE, record.term))
            case "create":
                return lambda: coordinator.create_channel(CHANNEL, LOG_BEGINNING)
            case "record":
                return lambda: coordinator.save_binlog_paths(self._save(args[0]))
        before = self._program.segments[args[0]]
        return lambda: coordinator.replace_segment(before, replace(before, binlogs=(), dropped=True))

    def _save(self, file: int) -> SaveBinlogPaths:
        binlog = BinlogRecord(self._path(file), (1,))
        return SaveBinlogPaths(CHANNEL, Owner(NODE, self._terms[file]), file, EndPosition(1), binlog)

    def _read(self, action: str, reader: int, file: int) -> None:
        """A reader gives all back when it has read all."""
        readers, name, path = self._program.readers, f"reader {reader}", self._path(file)
        if action == "begin_read":
            self._unread.add((reader, file))
            self._lent.add((reader, file))
            self._order(lambda: readers.lend(name, [path]))
            return
        self._unread.discard((reader, file))
        if not any(one == reader for one, _ in self._unread):
            self._lent = {(one, its) for one, its in self._lent if one != reader}
            self._order(lambda: readers.give_back(name))

    # The collector.

    def _collect_until(self, action: str) -> None:
        """Let the collector go on until it deletes a file, or has forgotten the records."""
        for _ in range(_MANY):
            if self._program.deleting or (action == "forget" and self._record_is_gone()):
                break
            if action == "forget_files" and not self._program.segments:
                break
            event = self._event(_COLLECTOR)
            if event is None:
                self._order(self._program.look_again)
            else:
                self._fire(event)
        self._due = None

    def _record_is_gone(self) -> bool:
        """The last step of the collector's call has been taken: what it keeps says the same."""
        record = self._program.view.record
        return record.collected and self._program.coordinator.channel(CHANNEL) == record

    def _delete(self, file: int) -> None:
        """The file goes, and the collector looks at the next one of its list."""
        self._must_fire("delete", _COLLECTOR)
        self._state = self._look()
        if self._event(_COLLECTOR, "resume garbage.delete") is None:
            return
        listed = self._program.looks.split(",")
        later = [one for one in self._marks() if one > file and self._path(one) in listed]
        self._due = min(later, default=None)
        if self._due is None:  # for one that is not garbage: the comparison of states will see it
            self._collect_until("mark")

    def _in_vain(self, chance: int) -> None:
        """What may happen at any time, and changes nothing."""
        record = self._program.view.record
        at_rest = not self._program.deleting and self._due is None and not self._marks()
        if self._forgets:  # the coordinator's lock is held: a crash alone comes between the two steps
            if not self._unread:
                self._crash()
        elif chance % 3 == 0 and at_rest and (self._program.files or not record.dropped or record.collected):
            self._come_in_vain()
        elif chance % 3 == 1 and at_rest and not self._unread:
            self._crash()
        elif chance % 3 == 2:
            refused = [
                file
                for file in sorted(self._numbers(self._program.written))
                if record.dropped or self._terms[file] < record.term or self._entry(file) != "none"
            ]
            if refused:
                file = refused[chance % len(refused)]
                self._call(lambda: self._program.coordinator.save_binlog_paths(self._save(file)))

    def _come_in_vain(self) -> None:
        self._order(self._program.look_again)
        for _ in range(_MANY):
            event = self._event(_COLLECTOR)
            if event is None:
                return
            self._fire(event)
            if self._look() != self._state:
                return
        raise BrokenRunError("the collector does not come to rest")

    # Events.

    def _begin(self) -> None:
        self._must_fire("load")

    def _crash(self) -> None:
        """Everything but metadata and files is lost."""
        self._due, self._forgets = None, False
        for label in ("crash", "restart"):
            self._must_fire(label)
        self._begin()

    def _order(self, order: Callable[[], None]) -> None:
        self._program.order = order
        self._must_fire(f"resume {_HAND}")

    def _call(self, work: _Work) -> None:
        """Let a call of the coordinator be carried out."""
        ended: list[object] = []

        async def carry_out() -> None:
            ended.append(await work())

        self._order(lambda: self._program.call(carry_out()))
        for _ in range(_MANY):
            self._raise_failures()
            if ended:
                return
            self._must_fire("", _CALL)
        raise BrokenRunError("a call of the coordinator does not end")

    def _event(self, owner: str, label: str = "") -> Event | None:
        """The event that begins so, of a task if one is named."""
        return next(iter(self._enabled(label, owner)), None)
