"""Any coroutine function of asyncio as a program: one process, whose main coroutine it is.

All tasks live in one loop and share its memory, so that any two of their steps depend on each other: there is
nothing to reduce. What may differ from run to run is said by the settings: which armed timer fires next
and between which passes of the loop, or, in a free order, which ready callback runs.
"""

import functools
import inspect
import types
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any

from tidemark.models.simulation.errors import ProgramError
from tidemark.models.simulation.loop.freezing import immutable, without_addresses
from tidemark.models.simulation.program import Program, ProgramRef
from tidemark.models.simulation.settings import Settings
from tidemark.models.simulation.virtual import Machine
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

Main = Callable[[], Coroutine[Any, Any, Any]]


class CoroutineProgram(Program):
    """A program of one process, whose outcome is what the coroutine returns. ``main`` is called once in each
    execution and makes everything that its tasks share.
    """

    def __init__(self, main: Main, settings: Settings) -> None:
        self.settings = settings
        self._main = main
        self._result: object = None
        self._machine: Machine | None = None

    def build(self, world: World) -> None:
        """Define the process."""
        coroutine = self._main()
        if not isinstance(coroutine, types.CoroutineType):
            raise ProgramError(
                f"{name_of(self._main)} returned {type(coroutine).__name__}, not a coroutine: "
                "pass an `async def` function that can be called without arguments"
            )

        async def main(_process: Process) -> None:
            self._result = await coroutine

        self._machine = world.machine
        world.process("main", main, ends_with_main=True)

    def covered(self) -> frozenset[str]:
        """What was stood in for: see ``tidemark.models.simulation.virtual``."""
        return frozenset(self._machine.used) if self._machine is not None else frozenset()

    def final(self) -> Hashable:
        """What the coroutine returned; what is not immutable as text, without addresses."""
        result = self._result
        return result if immutable(result) else without_addresses(repr(result))


@dataclass(frozen=True, slots=True, kw_only=True)
class CoroutineRef(ProgramRef):
    """A reference to a coroutine function that is at hand: it need not be importable, unless it travels."""

    main: Main
    settings: Settings

    def load(self) -> Callable[[], Program]:
        """Bind the function."""
        return functools.partial(CoroutineProgram, self.main, self.settings)


def coroutine_ref(main: Main, settings: Settings) -> CoroutineRef:
    """Refer to a coroutine function, explored within these settings."""
    count = settings.faults.cancellations
    cancellations = (("cancellations", count),) if count else ()
    exempt = (("exempt", ",".join(settings.exempt)),) if settings.exempt else ()
    return CoroutineRef(
        name_of(main),
        (*cancellations, *exempt, ("clock", settings.clock.value), ("order", settings.order.value)),
        main=main,
        settings=settings,
    )


def name_of(main: Callable[..., Any]) -> str:
    """Return "module:function"."""
    function = inspect.unwrap(main.func if isinstance(main, functools.partial) else main)
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', '?')}:{name}"
