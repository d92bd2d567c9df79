"""Class bodies. `# here` marks the line that the error must name."""

from tests.protocols.misuse.base import Base, case
from tidemark.spec.language import Bool, Enum, Map, Nat, Protocol, anything, option, reachable


@case("Odd.place has no initial value", "= anything, = option(value) or = constant()")
def no_initial_value():
    class Odd(Protocol):  # here
        """Odd."""

        Place = Nat()
        place: Place


@case("Phase has no member 'open'", "Its members are")
def initial_value_of_another_type():
    class Odd(Base):  # here
        """Odd."""

        other: Base.Phase = "open"


@case("-1 as a value of Place", "declare an Int")
def negative_initial_value():
    class Odd(Base):  # here
        """Odd."""

        other: Base.Place = -1


@case("the annotation of Odd.place is the text 'Place'", "from __future__ import annotations")
def annotation_as_text():
    class Odd(Protocol):  # here
        """Odd."""

        Place = Nat()
        place: "Place" = 0


@case("Odd.place has the Python type int", "Bool, Enum, Nat, Int, Sort")
def python_annotation():
    class Odd(Protocol):  # here
        """Odd."""

        place: int = 0


@case("has a type without a name", "Position = Nat()")
def type_without_a_name():
    class Odd(Protocol):  # here
        """Odd."""

        place: Nat() = 0


@case("has a type without a name", "Position = Nat()")
def key_without_a_name():
    class Odd(Protocol):  # here
        """Odd."""

        place: Map[Nat(), Bool] = False


@case("takes a reserved name", "another name")
def reserved_name():
    class Odd(Protocol):  # here
        """Odd."""

        trace: Bool = False


@case("redefines the type Phase", "in the base class only")
def type_redefined():
    class Odd(Base):  # here
        """Odd."""

        Phase = Enum("growing", "other")


@case("Odd.STRICKT sets nothing", "Did you mean 'STRICT'?")
def misspelt_option():
    class Odd(Base):  # here
        """Odd."""

        STRICKT = False


@case("removes 'stepp'", "Did you mean 'step'?")
def misspelt_removal():
    class Odd(Base):  # here
        """Odd."""

        stepp = None


@case("Odd.LIMIT has a value but no type", "LIMIT: SomeType")
def option_without_type():
    class Odd(Base):  # here
        """Odd."""

        LIMIT = option(3)


@case("Odd.extra has a value but no type", "extra: SomeType")
def anything_without_type():
    class Odd(Base):  # here
        """Odd."""

        extra = anything


@case("the map other as an option", "= constant()")
def map_option():
    class Odd(Base):  # here
        """Odd."""

        other: Map[Base.Place, Bool] = option(False)


@case("Odd mixes the protocols Left, Right", "one protocol as its base")
def two_protocols_mixed():
    class Left(Base):
        """Left."""

    class Right(Base):
        """Right."""

    class Odd(Left, Right):  # here
        """Odd."""


@case("the action 'step', which was taken out", "Take the witness out too: odd = None")
def witness_of_a_removed_action():
    class More(Base):
        """More."""

        @reachable(after="step")  # here
        def odd(before, after):
            """Odd."""
            return after.done

    class Less(More):
        """Less."""

        step = None

    Less.trace()


@case("an enumeration with the members ['a', 'a']", "each one once")
def member_twice():
    Enum("a", "a")  # here


@case("an enumeration with the members []", "at least one member")
def no_member():
    Enum()  # here


@case("a map needs keys and a value", "Map[Key, Value]")
def map_without_value():
    Map[Base.Place]  # here


@case("cannot be a key or a value of a map", "several keys instead")
def map_of_maps():
    Map[Base.Place, Map[Base.Place, Bool]]  # here
