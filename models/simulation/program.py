"""How a program under exploration is written.

Subclass ``Program``, spawn the processes in ``build``, and refer to a function that returns a fresh instance
by "module:function". Nothing may survive from one execution to the next one: keep state in the instance,
which lives for one execution, never in a module or a class.
"""

import hashlib
import inspect
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tidemark.models.frozen import frozen
from tidemark.models.judged import place_of
from tidemark.models.mutation.patches import restore
from tidemark.models.simulation.errors import ProgramError
from tidemark.models.simulation.settings import Settings
from tidemark.models.simulation.world.world import World
from tidemark.spec.language.references import load_callable

Observation = Mapping[str, Hashable]


class Program:
    """A program under exploration. One instance is one execution."""

    settings: Settings = Settings()
    """Bounds of the world, of the class or of the instance. No faults unless overridden."""

    claims: tuple[str, ...] = ()
    """Ids of what the program checks by itself, beyond a specification. Complaints begin with such an id."""

    _observed: Observation = MappingProxyType({})
    """What ``observe`` has returned last: where ``declared`` is asked, the present one."""

    def build(self, world: World) -> None:
        """Define the processes and what they share."""
        raise NotImplementedError

    def observe(self) -> Observation | None:
        """Return the abstract state, component by component, or None when no step is checked. It changes
        nothing. Each key names the mediated object on which alone the component depends: a process, or "cell
        x", "message ...", "store s/key". See ``tidemark.models.simulation.execution``.
        """
        return None

    def on_start(self, state: Observation) -> str | None:
        """Check the first abstract state. Return what is wrong with it, or None."""
        del state
        return None

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """Check one step that changed the abstract state. Return what is wrong with it, or None."""
        del before, after, label
        return None

    def on_stutter(self, label: str) -> str | None:
        """Check one step that left the abstract state alone. Return what is wrong with that, or None."""
        del label
        return None

    def declared(self) -> Hashable:
        """Return all mutable data of the processes that influence the future, for a search that merges
        states. ``tidemark.models.simulation.snapshot`` adds where tasks are suspended, local values and
        containers of them, and what the world holds.
        """
        raise NotImplementedError(
            f"{type(self).__name__} declares no state: override `declared`, or search without merging states"
        )

    def covered(self) -> frozenset[str]:
        """Return what this execution has exercised so far, by name, for a check that nothing is vacuous."""
        return frozenset()

    def final(self) -> Hashable:
        """Return the outcome of a complete execution."""
        return None

    def check_rest(self) -> str | None:
        """Check a state in which nothing can happen any more but faults, as at the end. Return what is not
        done though it should be, or None.
        """
        return None

    def check_final(self) -> str | None:
        """Check a complete execution. Return what is wrong with it, or None."""
        return None


@dataclass(frozen=True, slots=True)
class ProgramRef:
    """A program by name, as it travels to other processes: "module:function", which returns a fresh
    ``Program``, and its keyword arguments, sorted by name.
    """

    target: str
    arguments: tuple[tuple[str, Hashable], ...] = ()

    @classmethod
    def of(cls, target: str, **arguments: Any) -> "ProgramRef":
        """Refer to a function with arguments; lists become tuples."""
        return cls(target, tuple(sorted((name, frozen(value)) for name, value in arguments.items())))

    def load(self) -> Callable[[], Program]:
        """Import the function and bind its arguments. Raises ReferenceNotFoundError; ProgramError if it does
        not take these arguments, likewise when it returns no program.
        """
        function = load_callable(self.target, what="program")
        options = dict(self.arguments)
        place = place_of(function)
        if inspect.iscoroutinefunction(function):
            raise ProgramError(f"{self.target!r} is `async def`: make it a plain `def`", place=place)
        try:
            inspect.signature(function).bind(**options)
        except TypeError as error:
            given = ", ".join(options) or "none"
            raise ProgramError(
                f"{self.target!r}: {error}; the constants that it is given are: {given}", place=place
            ) from error

        def fresh() -> Program:
            restore()  # a patch puts its code in when it is called
            program = function(**options)
            if not isinstance(program, Program):
                raise ProgramError(
                    f"{self.target!r} returned {program!r:.60}, which is no Program: return a fresh instance "
                    "of a subclass of Program or RefiningProgram",
                    place=place,
                )
            return program

        return fresh

    def text(self) -> str:
        """Return the reference in one line."""
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.arguments)
        return f"{self.target}({arguments})" if arguments else self.target

    def digest(self) -> str:
        """Return eight hexadecimal digits that stand for the reference in a replay token."""
        return hashlib.blake2b(self.text().encode(), digest_size=4).hexdigest()
