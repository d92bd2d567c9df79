"""A channel that moves from node to node, with incarnations that each node counts for itself.

One coordinator over a metadata store that takes its time; an operator; nodes that ask for their channel, and
those who had it before and go on writing.
"""

from collections.abc import Hashable, Sequence

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.errors import NotOwnerError
from tidemark.impl.types import BinlogRecord, EndPosition, Owner, SaveBinlogPaths, SaveOutcome
from tidemark.models.protocols.channels.claims import THE_OWNER_IS_SERVED
from tidemark.models.protocols.channels.ports import META, SlowMeta
from tidemark.models.protocols.channels.scenario import COORDINATOR
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CHANNEL = "channel"
THE_FENCED_DO_NOT_WRITE = "the_fenced_do_not_write"
"""Once a later owner has recovered the channel, nothing of an earlier one is recorded."""


class OwnersProgram(Program):
    """A coordinator, an operator, and the nodes to which the channel goes in turn.

    Args:
        moves: (node, number of its incarnation) in the order in which the channel comes to them.
    """

    settings = Settings(clock=ClockOrder.UNTIMED)
    claims = (THE_OWNER_IS_SERVED, THE_FENCED_DO_NOT_WRITE)

    def __init__(self, moves: Sequence[tuple[str, int]]) -> None:
        self.moves = tuple(moves)
        self.coordinator: Coordinator | None = None
        self.owners: list[tuple[int, Owner]] = []
        self.latest: tuple[str, int] | None = None
        self.wrong: str | None = None

    def build(self, world: World) -> None:
        """Define the process."""
        self.world = world
        world.store(META, remote=False)
        world.process(COORDINATOR, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        coordinator = self.coordinator = Coordinator(meta=SlowMeta(process))
        await coordinator.load()
        for place, (node, session) in enumerate(self.moves):
            await process.point("operator.assign")
            await coordinator.assign(CHANNEL, node)
            self.latest = (node, session)
            # The network may double the question: both copies are answered, in one term.
            for copy in range(2):
                process.spawn(self._recover(process, node, session), f"{node} {session} copy {copy}")
            while len(self.owners) <= place and self.wrong is None:
                await process.point("operator.wait")

    async def _recover(self, process: Process, node: str, session: int) -> None:
        await process.point("node.recover")
        assert self.coordinator is not None
        # The node that has the channel may have changed while the question was under way.
        before = self.coordinator.channel(CHANNEL)
        try:
            answer = await self.coordinator.recover_channel(CHANNEL, node, session)
        except NotOwnerError as failure:
            latest = (node, session) == self.latest
            if latest and before.assigned_to == node == self.coordinator.channel(CHANNEL).assigned_to:
                self.wrong = f"{THE_OWNER_IS_SERVED}: {failure}"
            return
        if (session, answer.owner) in self.owners:
            return
        earlier = [owner for _, owner in self.owners]
        self.owners.append((session, answer.owner))
        if answer.owner in earlier:
            self.wrong = f"{THE_FENCED_DO_NOT_WRITE}: {answer.owner} represents two incarnations"
        for place, owner in enumerate(earlier):
            process.spawn(self._write_late(process, owner, answer.owner, place), f"late {owner} {place}")

    async def _write_late(self, process: Process, owner: Owner, now: Owner, place: int) -> None:
        await process.point("fenced.write")
        assert self.coordinator is not None
        request = SaveBinlogPaths(
            channel=CHANNEL,
            owner=owner,
            segment_id=1,
            position=EndPosition(10 * owner.term + place + 1),
            binlog=BinlogRecord(f"{owner.node_id}/{owner.term}/{place}", (owner.term,)),
        )
        outcome = await self.coordinator.save_binlog_paths(request)
        if outcome is not SaveOutcome.NOT_OWNER:
            self.wrong = f"{THE_FENCED_DO_NOT_WRITE}: {owner} has written after {now} has taken the channel"

    def observe(self) -> Observation:
        """Return the records and what was found wrong."""
        assert self.coordinator is not None
        return {COORDINATOR: (tuple(sorted(self.coordinator.channels.items())), self.wrong)}

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """Return what was found wrong."""
        del before, after, label
        return self.wrong

    def check_final(self) -> str | None:
        """Every node has had the channel."""
        if self.wrong is None and len(self.owners) < len(self.moves):
            return f"{THE_OWNER_IS_SERVED}: of {self.moves} only {self.owners} have had the channel"
        return self.wrong

    def final(self) -> Hashable:
        """Return who has had the channel."""
        return tuple(self.owners)

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        assert self.coordinator is not None
        segments = tuple(sorted(self.coordinator.segments.items()))
        return (
            self._observed[COORDINATOR],
            segments,
            tuple(self.owners),
            self.latest,
            tuple(self.coordinator.lock.users),
        )


def owners(*, moves: Sequence[Sequence[object]]) -> OwnersProgram:
    """Return a program.

    Args:
        moves: (node, number of its incarnation) in the order in which the channel comes to them.
    """
    return OwnersProgram([(str(node), int(str(session))) for node, session in moves])
