"""The data coordinator alone: clients call it side by side, over a metadata store that takes its time."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.errors import ImplementationError
from tidemark.impl.ports import MetaStore
from tidemark.impl.types import (
    ChannelPosition,
    ChannelRecord,
    EndPosition,
    MetaSnapshot,
    Owner,
    SaveBinlogPaths,
    SegmentRecord,
    StartPosition,
    UpdateCheckpoints,
)
from tidemark.models.protocols.channels.claims import RECORDS_ARE_STORED
from tidemark.models.protocols.channels.contract import MORE, Call, Records, binlog_of, effect, with_level
from tidemark.models.protocols.channels.ports import CHANNELS, META, SlowMeta, snapshot
from tidemark.models.protocols.channels.scenario import COORDINATOR
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CALLS_TAKE_TURNS = "calls_take_turns"
"""Each change of the records, and each answer, is that of one call with nothing between: ``contract``."""
CALLS_ARE_ANSWERED = "calls_are_answered"
"""At the end every call has its answer."""


class RecordsProgram(Program):
    """One coordinator and its clients.

    Args:
        before: calls that are made one after the other, before the coordinator is started anew.
        clients: by client its calls, in order.
        coordinator: class of the coordinator.
    """

    settings = Settings(clock=ClockOrder.UNTIMED)
    claims = (CALLS_TAKE_TURNS, CALLS_ARE_ANSWERED, RECORDS_ARE_STORED)

    def __init__(
        self,
        before: Sequence[Call],
        clients: Sequence[Sequence[Call]],
        *,
        coordinator: type[Coordinator] = Coordinator,
    ) -> None:
        self.first = Records((), ())
        for call in before:
            self.first, _ = effect(self.first, call)
        self.clients = tuple(tuple(calls) for calls in clients)
        self.coordinator: Coordinator | None = None
        self.done = [0] * len(self.clients)
        self.due: dict[int, Hashable] = {}
        """By client the answer of the call whose change has been stored."""
        self.seen: dict[int, tuple[Records, ...]] = {}
        """By client the records since its call began, as long as it has changed nothing."""
        self.wrong: str | None = None
        self._class = coordinator

    def build(self, world: World) -> None:
        """Define the process and what is stored at the start."""
        self.world = world
        self.fill(world)
        world.process(COORDINATOR, self._run, daemon=True)

    def fill(self, world: World) -> None:
        """Store what is stored at the start."""
        content = world.store(META, remote=False).content()
        content[CHANNELS] = self.first.channels
        content.update({f"segment {record.segment_id}": record for record in self.first.segments})

    def metadata(self, process: Process) -> MetaStore:
        """Return the coordinator's metadata store. It tells ``take_stock`` of each change."""
        return _Telling(process, self.take_stock)

    async def _run(self, process: Process) -> None:
        coordinator = self._class(meta=self.metadata(process))
        await coordinator.load()
        self.coordinator = coordinator
        for client in range(len(self.clients)):
            process.spawn(self._client(process, client), f"client {client}")

    async def _client(self, process: Process, client: int) -> None:
        for call in self.clients[client]:
            await process.point(f"client {client} {call.name}")
            self.seen[client] = (self.stored(),)
            try:
                answer = await self._called(call)
            except (ImplementationError, ValueError) as failure:
                answer = type(failure).__name__
            self._check_answer(client, call, answer)
            self.done[client] += 1

    async def _called(self, call: Call) -> Hashable:
        assert self.coordinator is not None
        found = await getattr(self, f"_call_{call.name}")(self.coordinator, *call.arguments)
        assert isinstance(found, Hashable)
        return found

    async def _call_assign(self, coordinator: Coordinator, *arguments: Any) -> Hashable:
        await coordinator.assign(*arguments)
        return None

    async def _call_unassign(self, coordinator: Coordinator, *arguments: Any) -> Hashable:
        await coordinator.unassign(*arguments)
        return None

    async def _call_recover(self, coordinator: Coordinator, *arguments: Any) -> Hashable:
        answer = await coordinator.recover_channel(*arguments)
        return (answer.owner, answer.seek, answer.segments, answer.asks_starts)

    async def _call_save(self, coordinator: Coordinator, *arguments: Any) -> Hashable:
        name, node, term, number, position, rows, end, *starts = arguments
        request = SaveBinlogPaths(
            channel=name,
            owner=Owner(node, term),
            segment_id=number,
            position=EndPosition(position),
            binlog=binlog_of(rows) if rows else None,
            flushed=end == "flush",
            dropped=end == "drop",
            starts=tuple((other, StartPosition(begins)) for told in starts for other, begins in told),
        )
        return (await coordinator.save_binlog_paths(request)).value

    async def _call_checkpoint(self, coordinator: Coordinator, *positions: Any) -> Hashable:
        reported = tuple(
            ChannelPosition(name, EndPosition(ts), Owner(node, term)) for name, node, term, ts in positions
        )
        await coordinator.update_channel_checkpoints(UpdateCheckpoints(reported))
        return None

    async def _call_ask(self, coordinator: Coordinator, *arguments: Any) -> Hashable:
        await coordinator.request_flush(*arguments)
        return None

    async def _call_confirm(self, coordinator: Coordinator, *arguments: Any) -> Hashable:
        return await coordinator.confirm_flush(*arguments)

    async def _call_drop(self, coordinator: Coordinator, *arguments: Any) -> Hashable:
        name, node, term = arguments
        await coordinator.drop_channel(name, Owner(node, term))
        return None

    async def _call_collect(self, coordinator: Coordinator, *arguments: Any) -> Hashable:
        await coordinator.collect_channel(*arguments)
        return None

    async def _call_create(self, coordinator: Coordinator, *arguments: Any) -> Hashable:
        name, begins = arguments
        await coordinator.create_channel(name, EndPosition(begins))
        return None

    async def _call_watch(self, coordinator: Coordinator, *arguments: Any) -> Hashable:
        name, begins = arguments
        await coordinator.watch_channel(name, EndPosition(begins))
        return None

    async def _call_begin(self, coordinator: Coordinator, *arguments: Any) -> Hashable:
        await coordinator.begin_checkpoint(*arguments)
        return None

    async def _call_deletes(self, coordinator: Coordinator, *arguments: Any) -> Hashable:
        return coordinator.delete_checkpoint(*arguments)

    async def _call_compact(self, coordinator: Coordinator, *arguments: Any) -> Hashable:
        """The record is read before the coordinator is asked to replace it, as a compactor does."""
        number, position, path = arguments
        read = coordinator.segments.get(number) or SegmentRecord(segment_id=number, channel="none")
        before = replace(read, dml_position=EndPosition(position))
        await coordinator.replace_segment(before, with_level(before, path))
        return None

    # What is looked at.

    def stored(self) -> Records:
        """Return the records that survive the coordinator."""
        return Records.of(snapshot(self.world.store(META).content()))

    def take_stock(self) -> None:
        """Note the change of the records since the last look: it must be that of one call under way."""
        now = self.stored()
        for client, seen in list(self.seen.items()):
            if client in self.due or seen[-1] == now:
                continue
            self._explain(seen[-1], now)
            return

    def _explain(self, old: Records, now: Records) -> None:
        waiting = [client for client in sorted(self.seen) if client not in self.due]
        for client in waiting:
            new, answer = effect(old, self._call_of(client))
            if new == now:
                if answer != MORE:
                    self.due[client] = answer
                break
        else:
            names = ", ".join(f"{call.name}{call.arguments}" for call in map(self._call_of, waiting))
            self.wrong = self.wrong or (f"{CALLS_TAKE_TURNS}: none of {names} makes {difference(old, now)}")
        for client in waiting:
            self.seen[client] = (*self.seen[client], now)

    def _call_of(self, client: int) -> Call:
        return self.clients[client][self.done[client]]

    def _check_answer(self, client: int, call: Call, answer: Hashable) -> None:
        seen = self.seen.pop(client)
        if client in self.due:
            allowed = {self.due.pop(client)}
        else:
            effects = [(records, effect(records, call)) for records in seen]
            allowed = {right for records, (new, right) in effects if new == records}
        if answer not in allowed:
            self.wrong = self.wrong or (
                f"{CALLS_TAKE_TURNS}: {call.name}{call.arguments} answers {answer!r}, "
                f"and not {' or '.join(map(repr, allowed)) or 'after a change of the records'}"
            )

    def observe(self) -> Observation:
        """Return what the coordinator remembers and has stored, and what was found wrong."""
        return {COORDINATOR: (self._remembered(), self.stored(), self.wrong, tuple(self.done))}

    def _remembered(self) -> Records | None:
        if self.coordinator is None:
            return None
        channels, segments = self.coordinator.channels.values(), self.coordinator.segments.values()
        return Records.of(MetaSnapshot(tuple(channels), tuple(segments)))

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """Each step: memory and store agree, and each change has its call."""
        del before, after, label
        remembered = self._remembered()
        if self.wrong is None and remembered is not None and remembered != self.stored():
            return f"{RECORDS_ARE_STORED}: the coordinator remembers {difference(self.stored(), remembered)}"
        return self.wrong

    def on_start(self, state: Observation) -> str | None:
        """The coordinator has taken up what was stored."""
        return self.on_step(state, state, "start")

    def check_final(self) -> str | None:
        """Every call has its answer."""
        late = [client for client, calls in enumerate(self.clients) if self.done[client] < len(calls)]
        if self.wrong is None and late:
            call = self._call_of(late[0])
            return f"{CALLS_ARE_ANSWERED}: {call.name}{call.arguments} has no answer"
        return self.wrong

    def final(self) -> Hashable:
        """Return the records at the end."""
        return self.stored()

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        users = () if self.coordinator is None else tuple(self.coordinator.lock.users)
        return (
            self.observe()[COORDINATOR],
            tuple(sorted(self.due.items())),
            tuple(sorted(self.seen.items())),
            users,
        )


class _Telling(SlowMeta):
    """Tells of each change of the store, in the step of the change."""

    def __init__(self, process: Process, told: Callable[[], None]) -> None:
        super().__init__(process)
        self._told = told

    async def save_channels(self, records: Sequence[ChannelRecord]) -> None:
        """Save the records."""
        await super().save_channels(records)
        self._told()

    async def save_segment(self, record: SegmentRecord) -> None:
        """Save the record."""
        await super().save_segment(record)
        self._told()


def difference(old: Records, new: Records) -> str:
    """What is in one and not in the other, in words."""
    before = {*old.channels, *old.segments}
    after = {*new.channels, *new.segments}
    return f"{_words(before - after)} -> {_words(after - before)}"


def _words(records: set[Any]) -> str:
    return ", ".join(sorted(map(repr, records))) or "nothing"


Script = Sequence[Sequence[Any]]


def records(
    *,
    before: Script = (),
    clients: Sequence[Script],
    coordinator: type[Coordinator] = Coordinator,
    program: type[RecordsProgram] = RecordsProgram,
) -> RecordsProgram:
    """Return a program.

    Args:
        before: calls that have made the records with which the coordinator starts.
        clients: by client its calls: a name and its arguments, see ``contract``.
        coordinator: class of the coordinator.
        program: class of the program; it says in which store the records are.
    """
    made = [[Call(str(call[0]), tuple(call[1:])) for call in script] for script in (before, *clients)]
    return program(made[0], made[1:], coordinator=coordinator)
