"""A state with one variable of each shape, into which tests put generated expressions."""

from tidemark.spec.language import (
    Bool,
    Enum,
    Int,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    TypeAlias,
    action,
    anything,
    constant,
    everywhere,
)


class Lab(Protocol):
    """A bench for expressions. Its one action is replaced by generated ones."""

    Node: TypeAlias = Sort
    Place: TypeAlias = Nat
    Level: TypeAlias = Int
    Wide: TypeAlias = Int
    Colour: TypeAlias = Enum["red", "green", "blue"]

    owner: Map[Place, Node] = constant()
    weight: Map[Colour, Bool, Level] = constant()

    lit: Bool = False
    here: Place = 1
    level: Level = -1
    colour: Colour = "green"
    node: Node = anything
    wide: Wide = 0
    heights: Map[Place, Level] = everywhere(-1)
    other: Map[Place, Level] = everywhere(0)
    flags: Map[Colour, Bool, Bool] = everywhere(True)
    members: Set[Node] = everywhere(False)
    paint: Map[Node, Place, Colour] = everywhere("blue")

    @action
    def wait(s) -> None:
        """Stand for a generated action."""
        s.lit = ~s.lit
