"""A state with one variable of each shape, into which tests put generated expressions."""

from tidemark.spec.language import Bool, Enum, Int, Map, Nat, Protocol, Set, Sort, action, anything, constant


class Lab(Protocol):
    """A bench for expressions. Its one action is replaced by generated ones."""

    Node = Sort()
    Place = Nat()
    Level = Int()
    Wide = Int()
    Colour = Enum("red", "green", "blue")

    owner: Map[Place, Node] = constant()
    weight: Map[Colour, Bool, Level] = constant()

    lit: Bool = False
    here: Place = 1
    level: Level = -1
    colour: Colour = "green"
    node: Node = anything
    wide: Wide = 0
    heights: Map[Place, Level] = -1
    other: Map[Place, Level] = 0
    flags: Map[Colour, Bool, Bool] = True
    members: Set[Node] = False
    paint: Map[Node, Place, Colour] = "blue"

    @action
    def wait(s):
        """Stand for a generated action."""
        s.lit = ~s.lit
