"""Drives the real allocator of segments, with flushes, coordinator and data node, by the actions of
``tidemark.spec.allocation``, in the controlled world.

The implementation grants each message its own part, at the moment at which the message is made, and for no
time: a grant's expiry is the timestamp of its row. So ``allocate`` makes the message of the row that has this
timestamp, and ``assign`` sends it. ``seal`` is a flush of the collection, or a segment that is full; ``end``
lets a flush that was told of a tick come to the data node. What a coordinator knows of expiries is not kept
anywhere: a flush is for a timestamp above all of them. It is reckoned here, from the grants that were given.
"""

from __future__ import annotations

from collections.abc import Callable

from tidemark.impl.types import SegmentId
from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.allocation.driven import CHANNEL, HAND, MAX_ROWS, DrivenAllocation, DrivenWrite
from tidemark.models.protocols.allocation.refinement import GrantView, full, growing, is_ended, phase, rows
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event

_MANY = 80
_STOPS = ("resume row.", f"resume {HAND}", "allocate", "append", "resume pause")
"""Labels of the events that wait for the driver."""
_SEAL, _TELL = "resume node.seal", "resume coordinator.tell"
"""The same, where the data node would end a segment."""
_SYNC = "sync "
"""Begin of the names of the node's tasks that pause; all others that do carry a flush."""


class AllocationAdapter(DrivenRun):
    """One run."""

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        self._checker = checker
        self._of = [int(str(segment)) for segment in instance.map_constants["of"]]
        self._segments = int(str(instance.bounds["Segment"]))
        self._program = DrivenAllocation(writes=int(str(instance.bounds["Row"])))
        self._program.order = lambda: None
        self._given: dict[int, GrantView] = {}
        self._sealed: set[SegmentId] = set()
        """Segments that were seen to take no rows any more: they stay so."""
        self._expiry: dict[int, int] = {}
        self._flushes = 0
        self._begun = False
        super().__init__(self._program)
        self._settle()
        self._begun = True
        self._state = self._look()

    # What is looked at.

    def _look(self) -> State:
        if not self._begun:
            return ()
        program = self._program
        self._sealed |= full(program.allocator, CHANNEL) | program.named
        return self._checker.encode(
            {
                **rows([write.view for write in program.writes], self._given, len(self._of)),
                "issued": program.issued,
                "tick": program.packs[-1].end.ts if program.packs else 0,
                "told": program.buffer.consumed.ts,
                "up": program.coordinator is not None,
                "since": program.since,
                "span": 0,
                "expiry": {g: self._expiry.get(g, 0) for g in range(self._segments)},
                "phase": {g: self._phase(g) for g in range(self._segments)},
                "faults": program.crashes,
            }
        )

    def _phase(self, segment: int) -> str:
        program = self._program
        return phase(segment + 1, buffer=program.buffer, allocator=program.allocator, sealed=self._sealed)

    def _is_ended(self, segment: int) -> bool:
        return is_ended(self._program.buffer, segment + 1)

    # What the machine asks.

    def offers(self, step: Step) -> bool:
        """See ``Adapter``. The oracle gives the next timestamp. The data node reads up to ticks that were
        sent. No coordinator ends while a flush has no timestamp: that flush would be forgotten.

        Timestamps are few: they are for rows and flushes. One row alone may fail, and segments have rows.
        """
        args = tuple(map(int, step.args))
        program = self._program
        match step.action:
            case "others_allocate":
                return bool(self._asking())
            case "crash":
                return bool(self._given) and not self._asking()
            case "fail":
                return args[0] == len(program.writes) - 1
            case "send_tick":
                return args[0] in (program.issued, *(row.view.ts for row in program.writes))
            case "stamp":
                return args[1] == program.issued + 1
            case "allocate":
                return self._of[args[0]] == self._next() and self._row_at(args[1]) is not None
            case "assign":
                return args[1] in self._given and self._given[args[1]].insert is program.writes[args[0]].view
            case "tell":
                return args[0] in [pack.end.ts for pack in program.packs]
            case "seal":
                used = any(self._of[a] == args[0] for a in self._given)
                return used and {args[0]} == self._would_seal() and not self._asking()
            case "end":
                return self._may_end(args[0])
            case "restart":
                return args == (program.issued + 1, 0)
        return True

    def _row_at(self, ts: int) -> DrivenWrite | None:
        """The row that has this timestamp, and no segment yet."""
        waiting = (one for one in self._program.writes if one.view.stage == "stamped")
        return next((one for one in waiting if one.view.ts == ts and one.view.segment is None), None)

    def _next(self) -> int | None:
        """The segment to which the next row has to go; None if another one ends before."""
        allocator = self._program.allocator
        taking = None if allocator is None else allocator.growing.get((CHANNEL, False))
        if taking is None:
            return self._program.number
        return taking.segment_id - 1 if taking.rows < MAX_ROWS else None

    def _would_seal(self) -> set[int]:
        """What a flush ends that takes rows: what grows, and what was left open by an earlier coordinator."""
        records = self._program.meta.segments.values()
        left = {one.segment_id for one in records if not (one.flushed or one.dropped)}
        taking = growing(self._program.allocator) | left
        return {known - 1 for known in taking if self._phase(known - 1) == "growing"}

    def _asking(self) -> list[Event]:
        """Flushes that ask the oracle."""
        return [one for one in self._enabled("allocate") if not one.owner.startswith("row ")]

    def _may_end(self, segment: int) -> bool:
        return any(self._would_end(event) == segment for event in self._world.enabled())

    def _would_end(self, event: Event) -> int | None:
        """The segment that the data node ends if a flush goes on with this event."""
        ts = self._program.flush_of.get(event.owner)
        if (
            ts is None
            or ts > self._program.buffer.consumed.ts
            or not event.label.startswith((_SEAL, _TELL, "resume pause"))
        ):
            return None
        named = sorted(self._program.asked.get(ts, ()))
        if event.label.startswith(_SEAL):
            named = [self._program.next_to_seal[event.owner]]
        left = [one - 1 for one in named if not self._is_ended(one - 1)]
        return left[0] if left else None

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        args = tuple(map(int, step.args))
        match step.action:
            case "others_allocate":
                self._allocate_another(chance)
            case "ask" | "assign" | "stamp" | "append":
                self._go_on(step.action, f"row {args[0]}")
            case "fail":
                self._order(self._program.writes[args[0]].fail)
            case "send_tick" | "tell":
                deed = self._program.send_tick if step.action == "send_tick" else self._program.let_read
                self._order(lambda: deed(args[0]))
            case "allocate":
                self._make(*args)
            case "seal":
                self._seal(chance)
            case "end":
                self._end(args[0])
            case "crash":
                self._expiry = {}
                self._order(self._program.stop_coordinator)
            case "restart":
                self._restart()
        self._settle()
        self._state = self._look()
        self._disturb(chance)

    def _go_on(self, action: str, row: str) -> None:
        label = {
            "ask": "resume row.come", "stamp": "allocate", "assign": "resume row.send", "append": "append"
        }[action]  # fmt: skip
        self._must_fire(label, row)

    def _allocate_another(self, chance: int) -> None:
        """A flush is answered by the oracle."""
        asking = self._asking()
        self._fire(asking[chance % len(asking)])

    def _count_on(self) -> None:
        self._program.issued += 1

    def _make(self, grant: int, ts: int) -> None:
        """The row's message is made, and with it the grant is given: for the segment that the row has got."""
        row = self._row_at(ts)
        assert row is not None
        self._must_fire("resume row.make", row.name)
        self._settle()
        if row.view.segment is None:
            raise BrokenRunError(f"{row.name} gets no segment")
        segment = row.view.segment - 1
        if segment != self._of[grant]:
            free = [a for a, g in enumerate(self._of) if g == segment and a not in self._given]
            if not free:
                raise BrokenRunError(f"{row.name} goes to segment {segment}, of which all was given")
            grant = free[0]
        self._given[grant] = GrantView(row.view, ts)
        self._expiry[self._of[grant]] = max(self._expiry.get(self._of[grant], 0), ts)

    def _seal(self, chance: int) -> None:
        """A segment is full when the next row comes, which is nobody's here; or the collection is flushed."""
        program = self._program
        room = program.number < self._segments
        if chance % 2 and growing(program.allocator) and self._next() is None and room:
            self._order(lambda: program.begin(self._one_more_row(), "more"))
            return
        self._flushes += 1
        assert program.flushes is not None
        flush = program.flushes
        name = f"flush {self._flushes}"
        self._order(lambda: program.begin(flush.flush((CHANNEL,)), name))

    async def _one_more_row(self) -> None:
        self._program.allocate(CHANNEL, 1)

    def _end(self, segment: int) -> None:
        """A flush goes on until the data node ends the segment."""
        for _ in range(_MANY):
            event = next((one for one in self._world.enabled() if self._would_end(one) == segment), None)
            if event is None:
                break
            self._fire(event)
            self._settle()
            if self._is_ended(segment):
                return
        raise BrokenRunError(f"segment {segment} is not ended by any flush")

    def _restart(self) -> None:
        program = self._program
        self._order(self._count_on)
        self._expiry = dict.fromkeys(range(self._segments), program.issued)
        self._order(lambda: program.begin(program.start_coordinator(), "start"))

    # Letting things happen.

    def _disturb(self, chance: int) -> None:
        """By chance flushes poll in vain, and syncs that could not be recorded try again."""
        for event in self._enabled("resume pause"):
            is_sync = event.owner.startswith(_SYNC)
            if self._would_end(event) is None and (self._program.coordinator if is_sync else chance):
                self._fire(event)
                self._settle()
        self._state = self._look()

    def _settle(self) -> None:
        """Let everything happen that does not wait for the driver."""
        for _ in range(_MANY):
            waiting = self._world.enabled()
            event = next((one for one in waiting if not self._waits(one)), None)
            if event is None:
                self._raise_failures()
                if self._begun and self._program.node.supervisor.failure is not None:
                    raise BrokenRunError(f"the node fails: {self._program.node.supervisor.failure!r}")
                return
            self._fire(event)
        raise BrokenRunError("the implementation does not come to rest")

    def _order(self, order: Callable[[], None]) -> None:
        self._program.order = order
        self._must_fire(f"resume {HAND}")
        self._settle()

    def _waits(self, event: Event) -> bool:
        """Whether an event is the driver's to choose."""
        return event.label.startswith(_STOPS) or self._would_end(event) is not None
