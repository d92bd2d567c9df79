"""Ids as a program under exploration: proxies with their caches, and a coordinator over its store. Both sides
may crash, at any step.

Each step must be a step of ``tidemark.spec.ids``, or change nothing of it.
"""

import asyncio
import functools
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tidemark.impl.errors import ImplementationError
from tidemark.impl.proxy.ids import IdCache, IdRequest
from tidemark.impl.rootcoord.ids import IdAllocator
from tidemark.impl.runtime import Supervisor
from tidemark.impl.timestamp import NANOSECONDS, split
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.oracle import TimestampOracle
from tidemark.impl.tso.ports import Leadership, OraclePorts
from tidemark.impl.tso.term import Term
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.oracle import CountedClock
from tidemark.models.protocols.ids.ports import (
    ANSWERS,
    COORDINATOR,
    Answers,
    IdCalls,
    Runs,
    StillClock,
    Window,
)
from tidemark.models.protocols.ids.refinement import ProxyView, Question, abstract, question_view
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, mapped, program
from tidemark.models.refinement.step import NoCounterpartError
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

SPECIFICATION = "tidemark.spec.ids:Ids"
WINDOW_NS = NANOSECONDS + 1
"""The shortest: with a clock at rest, each incarnation begins two milliseconds above the one before."""


class IdsScenario(FaultyScenario):
    """What happens in a program of ids.

    Attributes:
        takes: (proxy, how many ids) of each request.
        leaves: requests whose callers may be cancelled, at any step.
        patient: a request of a proxy comes when the one before is over.
        batch: how many ids a proxy asks for at least. most: the largest batch.
        questions: how many batches a proxy may ask for.
        doubled: how many questions of each proxy, the first ones, are delivered twice.
        crashable: processes that may crash.
        protocol: the specification, or a variant of it.
    """

    takes: tuple[tuple[int, int], ...]
    leaves: tuple[int, ...] = ()
    patient: bool = False
    batch: int = 2
    most: int = 2
    questions: int = 2
    doubled: int = 0
    crashable: tuple[str, ...] = ()
    protocol: str = SPECIFICATION

    @property
    def proxies(self) -> tuple[str, ...]:
        """Names of the proxies."""
        return tuple(f"proxy {place}" for place in range(1 + max(proxy for proxy, _ in self.takes)))

    @property
    def slots(self) -> tuple[tuple[int, int], ...]:
        """By row of the specification its request, and which run of it. At most two batches for one."""
        return tuple(
            (request, run) for request, (_, count) in enumerate(self.takes) for run in range(min(count, 2))
        )

    @property
    def span(self) -> int:
        """So many ids one incarnation of the coordinator may hand out."""
        return self.most * (self.questions + self.doubled) * len(self.proxies)

    def key(self, one: int) -> int:
        """The specification's number of an id. The milliseconds 1, 3, 5 are those of the coordinator's
        incarnations. NoCounterpartError for another one.
        """
        physical, logical = split(one)
        incarnation, between = divmod(physical - 1, 2)
        if between:
            raise NoCounterpartError(f"an id of millisecond {physical}, at which no incarnation begins")
        return incarnation * self.span + logical

    def settings(self) -> Settings:
        """The bounds of the world."""
        return Settings(faults=self.faults, crashable=frozenset(self.crashable), clock=ClockOrder.UNTIMED)

    def instance(self) -> Instance:
        """The bounded instance of a specification with these requests."""
        lives = 1 + (self.crashes if COORDINATOR in self.crashable else 0)
        proxies = len(self.proxies)
        return Instance(
            self.protocol,
            bounds={
                "Proxy": proxies,
                "Batch": proxies * self.questions,
                "Row": len(self.slots),
                "Key": lives * self.span + 1,
                "Faults": 1,
            },
            constants={"by": [proxy for proxy in range(proxies) for _ in range(self.questions)]},
            name="scheduled",
        )


@dataclass(eq=False)
class Asker:
    """One proxy, all its incarnations. ``begun``: its requests, by number; ``over``: which wait no longer."""

    questions: list[Question] = field(default_factory=list)
    begun: dict[int, IdRequest] = field(default_factory=dict)
    over: set[int] = field(default_factory=set)
    cache: IdCache | None = None
    calls: IdCalls | None = None


class IdsProgram(RefiningProgram):
    """Proxies, their clients, and a coordinator."""

    table = "ids"

    def __init__(self, scenario: IdsScenario) -> None:
        super().__init__(mapped(scenario, _values, ignored=("faults",)))
        self.scenario = scenario
        self.settings = scenario.settings()
        self.askers = [Asker() for _ in scenario.proxies]
        self.oracle: TimestampOracle | None = None
        self._answers: Answers | None = None

    @property
    def answers(self) -> Answers:
        """What the coordinator has answered."""
        assert self._answers is not None
        return self._answers

    def populate(self, world: World) -> None:
        """Define the processes."""
        self._answers = Answers(world)
        world.process(COORDINATOR, self._coordinate, daemon=True)
        for place, name in enumerate(self.scenario.proxies):
            world.process(name, functools.partial(self._proxy, place), daemon=True)

    # The coordinator.

    async def _coordinate(self, process: Process) -> None:
        still = StillClock()
        leadership = Leadership(server=COORDINATOR, term=process.incarnation, lease=1.0)
        oracle = self.oracle = TimestampOracle(
            ports=OraclePorts(
                store=Window(process),
                wall=still,
                steady=still,
                clock=CountedClock(process, {}),
                preemption=process,
            ),
            term=Term(leadership, steady=still, asked_at=0.0, margin=0.0),
            config=OracleConfig(window=WINDOW_NS),
        )
        allocator = IdAllocator(oracle=oracle, most=self.scenario.most)
        ready = asyncio.Event()

        async def allocate(count: int, place: tuple[int, int]) -> tuple[int, int]:
            await ready.wait()
            batch = await allocator.allocate(count)
            proxy, number = place
            if self.askers[proxy].questions[number].open:
                self.answers.add(place, batch)
            return batch.first, batch.last

        async def copy(count: int) -> None:
            await ready.wait()
            with suppress(ImplementationError):
                await allocator.allocate(count)

        process.serve("allocate", allocate)
        process.serve("copy", copy)
        await oracle.start()
        ready.set()

    # The proxies.

    async def _proxy(self, place: int, process: Process) -> None:
        supervisor = Supervisor()
        asker = self.askers[place]
        calls = asker.calls = IdCalls(process, place, asker.questions, doubled=self.scenario.doubled)
        cache = IdCache(
            source=calls,
            preemption=calls,
            spawn=supervisor.spawn,
            batch=self.scenario.batch,
            deadline=1.0,
        )
        calls.cache = cache
        self.begin(asker, cache)
        process.spawn(self.clients(process, place), "clients")
        await supervisor.wait_failed()

    def begin(self, asker: Asker, cache: IdCache) -> None:
        """A proxy begins, with an empty cache. Whoever waited for the one before has heard of its end."""
        asker.cache = cache
        asker.over |= set(asker.begun)

    async def clients(self, process: Process, place: int) -> None:
        """Clients come one after another."""
        asker = self.askers[place]
        for number, (proxy, _) in enumerate(self.scenario.takes):
            if proxy != place or number in asker.begun:
                continue
            await process.point("client.take")
            client = asyncio.create_task(self.client(asker, number), name=f"client {number}")
            if number in self.scenario.leaves:
                process.spawn(_leave(process, client), f"leaver {number}")
            if self.scenario.patient:
                await asyncio.wait([client])

    def count_of(self, number: int) -> int:
        """How many ids a request wants."""
        return self.scenario.takes[number][1]

    async def client(self, asker: Asker, number: int) -> None:
        """Want ids, once; nothing more is done where there are none."""
        cache = asker.cache
        assert cache is not None
        count = self.count_of(number)
        request = asker.begun[number] = IdRequest(count, Runs(count))
        try:
            await cache.fill(request)
            assert not request.missing, f"request {number} ends with {request.runs}"
        except ImplementationError:
            assert any(one.failed for one in asker.questions), f"request {number} fails, and no question has"
        finally:
            asker.over.add(number)

    # What is looked at.

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """Each request of a living proxy has its ids, or was told that there are none."""
        del values
        for number, (proxy, _) in enumerate(self.scenario.takes):
            if number not in self.askers[proxy].over and self.world.lanes[f"proxy {proxy}"].alive:
                return f"request {number} waits"
        for place, asker in enumerate(self.askers):
            if asker.cache is not None and asker.cache.waiting and self.world.lanes[f"proxy {place}"].alive:
                return f"proxy {place} keeps requests that are over"
        return None

    def observe(self) -> Observation:
        """Return what proxies and coordinator hold."""
        views = {name: self._view(place) for place, name in enumerate(self.scenario.proxies)}
        return {**views, ANSWERS: self.answers.view()}

    def _view(self, place: int) -> ProxyView:
        asker = self.askers[place]
        came = {id(question.cache): question for question in asker.questions if question.answer is not None}
        requests = [asker.begun.get(number) for number in range(len(self.scenario.takes))]
        return ProxyView(
            questions=tuple(
                question_view(question, is_last=came.get(id(question.cache)) is question)
                for question in asker.questions
            ),
            runs=tuple(() if request is None else tuple(request.runs) for request in requests),
        )

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        published = None if self.oracle is None else self.oracle.published
        return (
            tuple(self._observed.values()),
            self.oracle and self.oracle.base,
            None if published is None else (published.physical, published.logical),
            tuple(self._memory(asker) for asker in self.askers),
        )

    def _memory(self, asker: Asker) -> Hashable:
        cache = asker.cache
        return (
            tuple(sorted(asker.begun)),
            tuple(sorted(asker.over)),
            tuple((question.answer, question.failed) for question in asker.questions),
            asker.calls and asker.calls.woken,
            cache
            and (
                cache.left,
                cache.asking,
                tuple(cache.turn.users),
                tuple((request.missing, request.failure) for request in cache.waiting),
            ),
        )


async def _leave(process: Process, client: asyncio.Task[None]) -> None:
    """The client is cancelled, wherever it waits."""
    await process.point("client.leave")
    client.cancel()


def _values(scenario: IdsScenario, known: Any) -> Mapping[str, Any]:
    return abstract(
        [known[name] for name in scenario.proxies],
        Answers.of(known[ANSWERS]),
        questions=scenario.questions,
        slots=scenario.slots,
        key=scenario.key,
    )


ids = program(IdsProgram, IdsScenario)
