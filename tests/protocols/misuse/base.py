"""What the texts without a meaning start from."""

from collections.abc import Callable
from dataclasses import dataclass

from tidemark.spec.language import (
    Bool,
    Enum,
    Int,
    Map,
    Nat,
    Protocol,
    Sort,
    action,
    constant,
    option,
    require,
)


@dataclass(frozen=True)
class Case:
    """A function that must fail, and what the error says."""

    run: Callable[[], object]
    problem: str
    remedy: str


CASES: list[Case] = []


def case(problem: str, remedy: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    def register(function: Callable[[], object]) -> Callable[[], object]:
        CASES.append(Case(function, problem, remedy))
        return function

    return register


class Base(Protocol):
    """What the cases start from."""

    Node = Sort()
    Place = Nat()
    Ticks = Nat()
    Depth = Int()
    Phase = Enum("growing", "sealed", "flushed")

    STRICT: Bool = option(True)
    log: Map[Place, Node] = constant()
    phase: Map[Node, Phase] = "growing"
    place: Place = 0
    ticks: Ticks = 0
    depth: Depth = 0
    done: Bool = False
    seen: Map[Place, Bool] = False

    @action
    def step(s, node: Node):
        """One step."""
        require(s.place < 3)
        s.place = s.place + 1


def base(method):
    """Trace Base with one more action, property or helper-made action."""
    return type("Odd", (Base,), {method.__name__: method, "__module__": __name__, "__doc__": "Odd."}).trace()
