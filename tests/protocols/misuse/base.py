"""What the texts without a meaning start from."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tidemark.spec.language import (
    Bool,
    Enum,
    Int,
    Map,
    Nat,
    Protocol,
    Sort,
    TypeAlias,
    action,
    constant,
    everywhere,
    option,
    require,
)


@dataclass(frozen=True)
class Case:
    """A function that must fail, or that is none of an action or a property; and what the error says."""

    name: str
    place: str
    """Where the error is: a file and a line."""
    run: Callable[[], object]
    problem: str
    remedy: str


CASES: list[Case] = []


def case(problem: str, remedy: str, made_by: Callable[..., object] | None = None) -> Callable[..., Any]:
    """Register a function. ``made_by``: it is the method odd of Base with this decorator."""

    def register(function):
        name, run = function.__name__, function
        lines, first = inspect.getsourcelines(function)
        (line,) = [first + number for number, text in enumerate(lines) if "# here" in text]
        if made_by is not None:
            function.__name__, function.__doc__ = "odd", "Odd."
            run = partial(trace, function, made_by)
        CASES.append(Case(name, f"{Path(inspect.getfile(function)).name}:{line}", run, problem, remedy))
        return run

    return register


def trace(function, made_by):
    """Decorate a method, and trace Base with it."""
    return base(made_by(function))


class Base(Protocol):
    """What the cases start from."""

    Node: TypeAlias = Sort
    Place: TypeAlias = Nat
    Ticks: TypeAlias = Nat
    Depth: TypeAlias = Int
    Phase: TypeAlias = Enum["growing", "sealed", "flushed"]

    STRICT: Bool = option(True)
    log: Map[Place, Node] = constant()
    phase: Map[Node, Phase] = everywhere("growing")
    place: Place = 0
    ticks: Ticks = 0
    depth: Depth = 0
    done: Bool = False
    seen: Map[Place, Bool] = everywhere(False)

    @action
    def step(s, node: Node) -> None:
        """One step."""
        require(s.place < 3)
        s.place = s.place + 1


def base(method):
    """Trace Base with one more action, property or helper-made action."""
    return type("Odd", (Base,), {method.__name__: method, "__module__": __name__, "__doc__": "Odd."}).trace()
