"""Assigns targets to dispatchers of a physical channel: targets come, lag, catch up and leave (facts 5.2).

Unlike the original, the manager looks at each change, and not every 0.1 s. It holds no lock while it merges:
it takes one step at a time, and decides it by the present state.
"""

import asyncio
from collections.abc import Callable

from tidemark.impl.ports import Preemption
from tidemark.impl.runtime import NoPreemption, Supervisor
from tidemark.impl.stream.config import DispatcherConfig
from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.stream.dispatchers import Deputy, Dispatcher, MainDispatcher
from tidemark.impl.stream.packs import StreamPosition
from tidemark.impl.stream.targets import Changes, Target
from tidemark.impl.types import ChannelName
from tidemark.impl.values.log import EntryLog


class DispatcherManager:
    """The dispatchers of one physical channel and their targets.

    Attributes:
        waiting: targets that have no dispatcher yet, by channel.
        main: the main dispatcher; None without targets.
        deputies: by the channel of their target.
        tasks: those of the dispatchers that work.
        supervisor: owner of all tasks. A failure in any of them is raised by its ``check``.
    """

    def __init__(
        self,
        *,
        log: EntryLog,
        channel: ChannelName,
        preemption: Preemption | None = None,
        config: DispatcherConfig | None = None,
    ) -> None:
        self.channel = channel
        self.waiting: dict[ChannelName, Target] = {}
        self.main: MainDispatcher | None = None
        self.deputies: dict[ChannelName, Deputy] = {}
        self.supervisor = Supervisor()
        self._log = log
        self._preemption = preemption if preemption is not None else NoPreemption()
        self._config = config if config is not None else DispatcherConfig()
        self._changes = Changes()
        self.tasks: dict[Dispatcher, asyncio.Task[None]] = {}

    def start(self) -> None:
        """Begin to serve."""
        self.supervisor.spawn(self._run, f"dispatchers {self.channel}")

    async def stop(self) -> None:
        """End all work. Targets get no more packs."""
        for channel in self.channels():
            self.deregister(channel)
        await self.supervisor.stop()

    def channels(self) -> tuple[ChannelName, ...]:
        """The targets, by channel."""
        main = () if self.main is None else tuple(self.main.targets)
        return (*self.waiting, *main, *self.deputies)

    def register(self, channel: ChannelName, position: StreamPosition) -> Target:
        """A target comes. It gets all packs that end above its position, which is the end of a pack.

        Raise ValueError if it is there already.
        """
        if channel in self.channels():
            raise ValueError(f"{channel!r} has a dispatcher already; deregister it first")
        target = self.waiting[channel] = Target(
            channel,
            position,
            changes=self._changes,
            preemption=self._preemption,
            capacity=self._config.capacity,
        )
        self._changes.tell()
        return target

    def deregister(self, channel: ChannelName) -> None:
        """A target leaves, and gets no more packs. Does nothing if it is not there."""
        target = self.waiting.pop(channel, None)
        if channel in self.deputies:
            deputy = self.deputies.pop(channel)
            target = deputy.target
            self._end(deputy)
        main = self.main
        if main is not None and channel in main.targets:
            target = main.targets[channel]
            main.drop(target)
            if not main.targets:
                self.main = None
                self._end(main)
        if target is not None:
            target.gone = True
            self._changes.tell()

    # ---- one step after the other ----

    async def _run(self) -> None:
        while True:
            await self._changes.until(lambda: self.next_step() is not None)
            await self._preemption.point("dispatch.manage")
            step = self.next_step()
            if step is not None:
                step()
                self._changes.tell()

    def next_step(self) -> Callable[[], None] | None:
        """The next step, if any."""
        if self.waiting:
            return self._build_main if self.main is None else self._start_deputy
        return self._next_of_a_merge()

    def _next_of_a_merge(self) -> Callable[[], None] | None:
        """A deputy is found at the main dispatcher's tick; both are paused; the second check decides."""
        main, candidates = self.main, self._candidates()
        if any(deputy.paused for deputy in candidates):
            return self._merge
        if main is None:
            return None
        if main.paused:
            return self._pause_deputy if candidates else self._resume_main
        if self._found() is not None:
            return self._find
        # A current pack is sent before the pause.
        return self._pause_main if candidates and not main.owed else None

    def _candidates(self) -> list[Deputy]:
        return [deputy for deputy in self.deputies.values() if deputy.candidate]

    def _build_main(self) -> None:
        position = self.first_position([target.position for target in self.waiting.values()])
        main = self.main = MainDispatcher(
            consumer=self._consumer(position),
            changes=self._changes,
            preemption=self._preemption,
            config=self._config,
            split_off=self._split_off,
        )
        main.targets, self.waiting = self.waiting, {}
        self._begin(main, f"main {self.channel}")

    def first_position(self, positions: list[StreamPosition]) -> StreamPosition:
        """Where a main dispatcher begins."""
        return min(positions, key=lambda position: position.ts)

    def _start_deputy(self) -> None:
        channel = next(iter(self.waiting))
        target = self.waiting.pop(channel)
        deputy = self.deputies[channel] = Deputy(
            target=target,
            consumer=self._consumer(target.position),
            changes=self._changes,
            preemption=self._preemption,
        )
        self._begin(deputy, f"deputy {channel}")

    def _split_off(self, target: Target) -> None:
        """Moves a slow target away from the main dispatcher."""
        assert self.main is not None
        self.main.targets.pop(target.channel)
        self.waiting[target.channel] = target
        self._changes.tell()

    def _found(self) -> Deputy | None:
        """A deputy at the main dispatcher's tick that is no candidate yet."""
        fresh = (deputy for deputy in self.deputies.values() if not deputy.candidate)
        return next((deputy for deputy in fresh if self.main is not None and deputy.at == self.main.at), None)

    def _find(self) -> None:
        deputy = self._found()
        assert deputy is not None
        deputy.candidate = True

    def _pause_main(self) -> None:
        assert self.main is not None
        self.main.paused = True

    def _pause_deputy(self) -> None:
        self._candidates()[0].paused = True

    def is_level(self, deputy: Deputy, main: MainDispatcher) -> bool:
        """The second check: both are paused, and still at the same tick."""
        return deputy.at == main.at

    def _merge(self) -> None:
        deputy = next(deputy for deputy in self._candidates() if deputy.paused)
        if self.main is not None and self.is_level(deputy, self.main):
            target = deputy.target
            del self.deputies[target.channel]
            self._end(deputy)
            self.main.targets[target.channel] = target
        else:
            self._give_up(deputy)

    def _give_up(self, deputy: Deputy) -> None:
        """One of them advanced before it was paused: the deputy continues, too."""
        deputy.candidate = deputy.paused = False

    def _resume_main(self) -> None:
        assert self.main is not None
        self.main.paused = False

    # ---- tasks ----

    def _consumer(self, position: StreamPosition) -> ChannelConsumer:
        return ChannelConsumer(log=self._log, channel=self.channel, position=position)

    def _begin(self, dispatcher: Dispatcher, name: str) -> None:
        self.tasks[dispatcher] = self.supervisor.spawn(dispatcher.run, name)

    def _end(self, dispatcher: Dispatcher) -> None:
        self.tasks.pop(dispatcher).cancel()
