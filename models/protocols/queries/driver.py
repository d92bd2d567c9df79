"""Drives real proxy and query nodes by the actions of ``tidemark.spec.queries``, in the controlled world.

The driver plays the coordinators and the clients: a task of the cluster carries out their calls, one each
time that it is told to. The task that waits for an event says what the event represents; a result is
delivered when it is chosen, late or once more. A node is told to load both shards, or by chance one of them,
or rows that are not persisted yet. By chance it passes over a request while it serves nothing, reads requests
again, or is slow to put a result in the channel.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

from tidemark.impl.queries.streams import QueryStream, StreamPhase
from tidemark.impl.queries.values import QueryResult
from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import SettlingRun
from tidemark.models.protocols.queries.program import (
    CLUSTER,
    COLLECTION,
    Ends,
    QueriesProgram,
    QueriesScenario,
)
from tidemark.models.protocols.queries.refinement import SHARDS, Sizes, abstract
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

_HAND = "driver"
_COMES = 2
"""How often a result comes at most."""
_AT_MOST = {"load": 2, "give_up": 1}
"""How often these happen in a run."""
_STAYS = 12
"""How many steps the first load lasts at least."""
_YOUNG = 40
"""Before this step of a run, a request that has no stream does not run out of time."""
_MORE = 6
"""Above this chance a node is told to load rows that are not persisted yet."""
_REREADS, _PASSES = 7, 5
"""Above these chances a node reads the requests again, or passes over one."""


class _ChosenEnds(Ends):
    """The channels; the proxy reads the result that the driver has chosen. ``by``: its node, in order."""

    def __init__(self, program: DrivenQueries, world: World, node: int) -> None:
        super().__init__(program, world, node)
        self._driven = program

    async def put(self, result: QueryResult) -> None:
        """See ResultChannel. The order in which nodes answer is noted."""
        number = len(self._driven.results)
        await super().put(result)
        self._driven.arrived[number] = result

    async def next_result(self) -> QueryResult:
        """See Results."""
        while not self._driven.arrived:
            await self._driven.changed.wait()
        found: QueryResult = await self._world.operation(
            "result", lambda: self._driven.arrived[self._driven.chosen]
        )
        return found


class DrivenQueries(QueriesProgram):
    """The cluster. Coordinators and clients do what the driver says.

    arrived: the results in the channel, by the order in which nodes have answered. chosen: the next one.
    order: what the task of the driver does next.
    """

    def __init__(self, scenario: QueriesScenario, **parts: Any) -> None:
        super().__init__(scenario, **parts)
        self.arrived: dict[int, QueryResult] = {}
        self.chosen = 0
        self.order: Callable[[], None] | None = None

    def script(self, process: Process) -> None:
        """The driver's hand, and a client for each request."""
        process.spawn(self._hand(process), _HAND)
        for number in range(self.scenario.requests):
            process.spawn(self.ask(number), f"client {number}")

    async def _hand(self, process: Process) -> None:
        while True:
            await process.point(_HAND)
            assert self.order is not None
            self.order()
            self.wake()

    def ends(self, world: World, node: int) -> Ends:
        """See QueriesProgram."""
        return _ChosenEnds(self, world, node)


class QueriesAdapter(SettlingRun):
    """One run of a proxy and its query nodes."""

    never_offered: ClassVar[dict[str, str]] = {"stop_serving": "no shard is moved"}

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        bounds = {name: int(str(size)) for name, size in instance.bounds.items()}
        constants = {name: [int(str(v)) for v in of] for name, of in instance.map_constants.items()}
        self._results = list(zip(constants["by"], constants["node"], strict=True))
        self._sizes = Sizes(bounds["Row"], bounds["Shard"], bounds["Stream"], tuple(self._results))
        self._checker = checker
        self._come: Counter[int] = Counter()
        self._left = dict(_AT_MOST)
        self._steps = self._loaded = 0
        self._chance = 0
        self._timers: dict[int, str] = {}
        self._rows: dict[tuple[int, int], list[int]] = {}
        """By node and shard, what the last load has to bring."""
        self._program = DrivenQueries(
            QueriesScenario(
                requests=bounds["Request"],
                shards=bounds["Shard"],
                rows=tuple(constants["shard"]),
                deadline=True,
            ),
            protocol=instance.protocol,
        )
        super().__init__(self._program)

    def _look(self) -> State:
        observed: Any = self._program.observe()
        return self._checker.encode(abstract(observed[CLUSTER], self._sizes))

    def offers(self, step: Step) -> bool:
        """See ``Adapter``. What the coordinators may do, the specification says."""
        if step.action in self.never_offered or not self._left.get(step.action, 1):
            return False
        may = getattr(self, f"_may_{step.action}", None)
        return may is None or bool(may(*step.args))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        self._steps += 1
        if step.action in self._left:
            self._left[step.action] -= 1
        self._chance = chance
        do = getattr(self, f"_do_{step.action}", None)
        if do is None:
            events = getattr(self, f"_may_{step.action}")(*step.args)
            if not events:
                raise BrokenRunError(f"{step} was offered, and no event is that step any more")
            self._fire(events[chance % len(events)])
        else:
            do(*step.args)
        self._state = self._look()
        self._settle()
        if chance:
            self._disturb(chance)

    # The coordinators.

    def _do_store(self, w: int) -> None:
        self._program.coordinators.stored.append(w)

    def _do_persist(self, w: int) -> None:
        self._program.coordinators.persisted.append(w)

    def _do_load(self) -> None:
        known = self._program.coordinators
        self._loaded = self._steps
        known.phase, known.wanted = "loading", list(known.persisted)

    def _do_tell(self, n: int) -> None:
        known, shard_of, chance = self._program.coordinators, self._program.scenario.rows, self._chance
        shards = range(self._sizes.shards) if not chance % 3 else [(n + chance) % self._sizes.shards]

        def tell() -> None:
            for c in shards:
                rows = [
                    w for w, of in enumerate(shard_of) if of == c and (w in known.wanted or chance > _MORE)
                ]
                self._rows[n, c] = rows
                node = self._program.nodes[n]
                node.load(SHARDS[c], rows)
                node.loads[SHARDS[c]].set_name(f"load {n} {c}")

        self._order(tell)

    def _do_end_load(self) -> None:
        self._program.coordinators.phase = "loaded"

    def _may_release(self) -> bool:
        return not self._left["load"] or self._steps >= self._loaded + _STAYS

    def _do_release(self) -> None:
        self._program.coordinators.phase = "releasing"

    def _do_end_release(self) -> None:
        self._program.coordinators.phase = "released"

    def _do_unload(self, n: int) -> None:
        self._order(self._program.nodes[n].release)

    def _do_crash(self, n: int) -> None:
        self._program.crashed += 1
        self._program.readers[1 + n].place = 0
        self._do_unload(n)

    def _do_remove_stream(self, u: int) -> None:
        del u
        reader = self._program.reader
        assert reader is not None
        self._order(functools.partial(reader.release, COLLECTION))

    def _order(self, work: Callable[[], None]) -> None:
        self._program.order = work
        self._fire(self._events("resume", _HAND)[0])

    # The query nodes.

    def _may_fetch(self, n: int, w: int) -> list[Event]:
        c = self._program.scenario.rows[w]
        held = self._program.nodes[n].rows.get(SHARDS[c], [])
        is_next = self._rows.get((n, c), [])[len(held) : len(held) + 1] == [w]
        return self._events("resume queries.fetch", f"load {n} {c}") if is_next else []

    def _may_hold_row(self, n: int, w: int) -> list[Event]:
        c = self._program.scenario.rows[w]
        return [e for e in self._events("fetch", f"load {n} {c}") if e.label.split()[2] == str(w)]

    def _may_serve(self, n: int, c: int) -> list[Event]:
        return self._events("resume queries.serve", f"load {n} {c}")

    def _may_answer(self, x: int) -> list[Event]:
        request, n = self._results[x]
        return self._events("read", f"node {n}") if self._next(n) == request and self._free(n) == x else []

    def _next(self, n: int) -> int | None:
        """The request that the node reads next."""
        written, place = self._program.written, self._program.readers[1 + n].place
        return written[place].number - 1 if place < len(written) else None

    def _free(self, n: int) -> int | None:
        """The first result that the node may yet write in reply to what it reads next."""
        pair = (self._next(n), n)
        sent = sum((one.request, one.node) == pair for one in self._program.results)
        found = [x for x, one in enumerate(self._results) if one == pair]
        return found[sent] if sent < len(found) else None

    # The proxy.

    def _may_ask_channels(self, u: int) -> list[Event]:
        return self._events("channels") if u == len(self._program.writers) else []

    def _may_open_stream(self, u: int) -> list[Event]:
        return [e for e in self._events("resume queries.open") if self._is_of(e, u)]

    def _may_close_stream(self, u: int) -> list[Event]:
        return [e for e in self._events("resume queries.close") if self._is_of(e, u)]

    def _is_of(self, event: Event, u: int) -> bool:
        writers = self._program.writers
        return u < len(writers) and self._program.made[event.owner].writer is writers[u]

    def _may_begin(self, r: int, k: int) -> list[Event]:
        return self._events("number", f"client {r}") if k == r + 1 else []

    def _do_begin(self, r: int, k: int) -> None:
        """The timer that begins is the request's."""
        before = [event.label for event in self._events("timer")]
        self._fire(self._may_begin(r, k)[0])
        self._timers[r] = next(e.label for e in self._events("timer") if e.label not in before)

    def _may_hold(self, r: int, u: int) -> list[Event]:
        stream, writers = self._stream(), self._program.writers
        if stream is None or stream.phase is not StreamPhase.OPEN or writers.index(stream.writer) != u:  # type: ignore[arg-type]
            return []
        return self._events("resume queries.hold", f"client {r}")

    def _stream(self) -> QueryStream | None:
        assert self._program.reader is not None
        return self._program.reader.streams.streams.get(COLLECTION)

    def _may_write(self, r: int) -> list[Event]:
        return self._events("write", f"client {r}")

    def _may_wait(self, r: int) -> list[Event]:
        return self._events("resume queries.written", f"client {r}")

    def _may_deliver(self, x: int) -> list[Event]:
        number = self._order_of(x)
        arrived = number in self._program.arrived and self._come[x] < _COMES
        return self._events("result", "results") if arrived else []

    def _order_of(self, x: int) -> int | None:
        """The place of a result among all answers."""
        nth = self._results[:x].count(self._results[x])
        places = [
            place
            for place, one in enumerate(self._program.results)
            if (one.request, one.node) == self._results[x]
        ]
        return places[nth] if nth < len(places) else None

    def _do_deliver(self, x: int) -> None:
        number = self._order_of(x)
        assert number is not None  # it was offered
        self._come[x] += 1
        self._program.chosen = number
        self._fire(self._events("result", "results")[0])

    def _may_reply(self, r: int) -> list[Event]:
        return self._events("resume queries.reply", f"client {r}")

    def _may_give_up(self, r: int) -> list[Event]:
        """Its deadline; or the answer that the collection is not loaded, which another request may await."""
        refused = self._events("channels") if self._is_refused(r) else []
        is_young = not self._program.requests[r].query
        timer = [event for event in self._events("timer") if event.label == self._timers.get(r)]
        return refused if is_young and self._steps < _YOUNG else [*timer, *refused]

    def _is_refused(self, r: int) -> bool:
        stream = self._stream()
        is_loaded = self._program.coordinators.phase in ("loading", "loaded")
        begun = sum(bool(request.number and not request.stage) for request in self._program.requests)
        waits = begun > 1 or self._steps >= _YOUNG
        return not is_loaded and waits and stream is not None and stream.starter == r + 1

    # Events.

    def _events(self, verb: str, owner: str = "") -> list[Event]:
        return [
            event
            for event in self._world.enabled()
            if event.label.startswith(f"{verb} ") and (not owner or event.owner == owner)
        ]

    def _is_prompt(self, event: Event) -> bool:
        """Whether an event happens by itself: it changes nothing."""
        if event.label.startswith("put "):
            return not self._chance % 2
        if event.label.startswith("resume queries.open "):
            return self._program.made[event.owner].phase is not StreamPhase.ASKED
        if event.label.startswith("resume queries.close "):
            return bool(self._program.made[event.owner].writers)
        if event.label.startswith("resume queries.hold "):
            stream = self._stream()
            return stream is None or stream.phase is not StreamPhase.OPEN
        if event.owner.startswith("load "):
            n, c = (int(part) for part in event.owner.split()[1:])
            node = self._program.nodes[n]
            return not node.loaded or SHARDS[c] not in node.loads
        return False

    def _disturb(self, chance: int) -> None:
        """A node passes over a request, or reads from the beginning again; or a result comes in vain."""
        n = chance % len(self._program.nodes)
        if chance > _REREADS:
            self._program.readers[1 + n].place = 0
            self._order(lambda: None)
        elif chance > _PASSES and not self._program.nodes[n].serving:
            for event in self._events("read", f"node {n}"):
                self._fire(event)
        else:
            vain = [x for x in self._in_vain() if self._may_deliver(x)]
            if vain:
                self._do_deliver(vain[chance % len(vain)])
        self._state = self._look()

    def _in_vain(self) -> list[int]:
        """Results that come too late, or once more."""
        found = self._checker.successors(self._state)
        return [
            int(one.step.args[0])
            for one in found
            if one.step.action == "deliver" and one.state == self._state
        ]
