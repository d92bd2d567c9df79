"""Drives the real catalogue and caches by the actions of ``mutants.finer.AsBuilt``, in the controlled world.

The driver plays the clients: a task carries out their calls, one each time that it is told to. By chance it
asks for what the catalogue must refuse. A proxy has one request at a time, proxies are told in their order,
and collections are created in theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.aliases.names import CLUSTER, NamesProgram, NamesScenario
from tidemark.models.protocols.aliases.refinement import Sizes, abstract
from tidemark.models.protocols.common.driven import SettlingRun
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.world.process import Process

_HAND = "driver"
_AT_MOST = {"restart": 1}
"""How often these happen in a run."""
_CALLS = ("create", "alter", "drop", "create_alias", "alter_alias", "drop_alias")


class DrivenNames(NamesProgram):
    """The cluster. Clients do what the driver says. ``order``: what its task does next."""

    order: Callable[[Process], None] | None = None

    def _go_on(self, process: Process, client: int) -> None:
        """The driver's hand comes when the catalogue is loaded."""
        if not self.done[client]:
            process.spawn(self._hand(process), _HAND)

    def _ask_next(self, process: Process, proxy: int) -> None:
        """The driver says when a request comes."""

    async def _hand(self, process: Process) -> None:
        while True:
            await process.point(_HAND)
            assert self.order is not None
            self.order(process)

    def call(self, process: Process, call: str) -> None:
        """Let a client make a call."""
        self.done[0] = 1
        process.spawn(self._call(process, 0, call), f"{call.partition(' ')[0]} of 0")

    def ask(self, process: Process, number: int) -> None:
        """Let a request come."""
        process.spawn(self._ask(process, number), f"request {number}")

    def wait_again(self) -> None:
        """A cluster that starts again waits for the driver, too."""
        self.done[0] = 0


class AliasesAdapter(SettlingRun):
    """One run of the cluster."""

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        constants = {name: [int(str(v)) for v in of] for name, of in instance.map_constants.items()}
        names = tuple(f"n{number}" for number in range(int(str(instance.bounds["Name"]))))
        self._sizes = Sizes(
            names,
            tuple(names[n] for n in constants["called"]),
            tuple(constants["at"]),
            tuple(names[n] for n in constants["asks"]),
        )
        self._checker = checker
        self._left = dict(_AT_MOST)
        proxies = int(str(instance.bounds["Proxy"]))
        asks = tuple(
            tuple(name for p, name in zip(self._sizes.at, self._sizes.asks, strict=True) if p == proxy)
            for proxy in range(proxies)
        )
        scenario = NamesScenario(
            calls=((),), asks=asks, creates=self._sizes.called, crashes=_AT_MOST["restart"]
        )
        self._program = DrivenNames(scenario)
        super().__init__(self._program)
        self._until_rest()

    def _look(self) -> State:
        observed: Any = self._program.observe()
        return self._checker.encode(abstract(*observed[CLUSTER], sizes=self._sizes))

    def _meant(self, event: Event) -> Step | None:
        """Every event is chosen by the driver, but those that ``_until_rest`` lets happen."""
        del event
        return None

    def offers(self, step: Step) -> bool:
        """See ``Adapter``."""
        args = tuple(map(int, step.args))
        match step.action:
            case "create":
                return args[0] == len(self._program.past.made)
            case "invalidate":
                return self._event(f"invalidate {args[0]} ") is not None
            case "answer" | "deny":
                return not self._is_being_created(self._program.requests[args[0]].looking)
            case "begin":
                at = self._sizes.at[args[0]]
                return not any(one.goes_on and one.proxy == at for one in self._program.requests)
        return self._left.get(step.action, 1) > 0

    def _is_being_created(self, name: str) -> bool:
        """The answer to a question for the name waits."""
        catalog = self._program.catalog
        return catalog is not None and catalog.meta.describe(name).is_being_created

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        if step.action in self._left:
            self._left[step.action] -= 1
        args = tuple(map(int, step.args))
        if step.action in _CALLS:
            self._call(step.action, args)
        elif step.action == "begin":
            self._order(lambda process: self._program.ask(process, args[0]))
            self._must_fire("resume request.come")
        elif step.action == "restart":
            self._restart()
        else:
            self._answer(step.action, args)
        self._until_rest()
        if chance and self._program.catalog is not None and self._program.catalog.meta.change is None:
            self._ask_in_vain(chance)
        self._state = self._look()

    # What the steps are.

    def _call(self, action: str, args: tuple[int, ...]) -> None:
        called, names = self._sizes.called, self._sizes.names
        if action in ("create", "alter", "drop"):
            said = called[args[0]]
        else:
            said = " ".join((names[args[0]], *(called[x] for x in args[1:])))
        self._order(lambda process: self._program.call(process, f"{action} {said}"))
        self._must_fire("store")

    def _answer(self, action: str, args: tuple[int, ...]) -> None:
        """A step of a request, or of a change."""
        if action == "invalidate":
            self._must_fire(f"invalidate {args[0]} ")
        elif action == "acknowledge":
            self._must_fire("resume meta.acknowledge")
        elif action in ("hit", "miss"):
            self._must_fire("resume request.look", f"request {args[0]}")
        elif action in ("answer", "deny"):
            if self._event("describe", f"request {args[0]}") is None:
                self._must_fire("resume request.look", f"request {args[0]}")
            self._must_fire("describe", f"request {args[0]}")
        else:
            self._must_fire("resume meta.insert", f"request {args[0]}")

    def _restart(self) -> None:
        self._program.wait_again()
        for label in ("crash", "restart", "load", "reserve"):
            self._must_fire(label)

    def _ask_in_vain(self, chance: int) -> None:
        """A client asks for what must be refused, if there is something of this kind."""
        catalog = self._program.catalog
        assert catalog is not None
        there, aliases = sorted(catalog.collections), sorted(catalog.aliases)
        pointed = sorted(set(catalog.aliases.values()))
        free = [name for name in self._sizes.names if name not in (*there, *aliases)]
        vain = [
            *(f"create {name}" for name in (*there, *aliases)),
            *(f"drop {name}" for name in (*pointed, *aliases, *free)),
            *(f"create_alias {name} {of}" for name in (*there, *aliases) for of in there),
            *(
                f"{call} {name} {of}"
                for call in ("create_alias", "alter_alias")
                for name in free
                for of in free
            ),
            *(f"drop_alias {name}" for name in (*there, *free)),
        ]
        if vain:
            self._order(lambda process: self._program.call(process, vain[chance * 7 % len(vain)]))
            self._until_rest()

    # Events.

    def _order(self, order: Callable[[Process], None]) -> None:
        self._program.order = order
        self._must_fire(f"resume {_HAND}")

    def _until_rest(self) -> None:
        """Let happen what happens by itself: the first start, and timestamps of changes that are stored."""
        for _ in range(20):
            event = self._event("load") or self._event("reserve") or self._event("store")
            if event is None:
                return
            self._fire(event)
        raise BrokenRunError("the implementation does not come to rest")

    def _event(self, label: str, owner: str = "") -> Event | None:
        return next(iter(self._enabled(label, owner)), None)
