"""A protocol with the shorthands of the language, and wrong uses of them."""

from tidemark.spec.language import (
    Enum,
    Map,
    Nat,
    Protocol,
    TypeAlias,
    action,
    everywhere,
    one_of,
    plain,
    require,
    when,
)


class Shorthands(Protocol):
    """Something that is weighed."""

    Mode: TypeAlias = Enum["up", "busy", "down"]
    Weight: TypeAlias = Nat
    Height: TypeAlias = Nat

    mode: Mode = "up"
    weight: Weight = 0
    height: Height = 0
    shelf: Map[Weight, Weight] = everywhere(0)

    @action
    def leave(s) -> None:
        """Leave."""
        require(one_of(s.mode, "up", "busy"))
        s.mode = "down"

    @action
    def weigh(s) -> None:
        """Two kinds of numbers meet."""
        require(plain(s.height) < s.weight)
        s.weight = s.weight + plain(s.height)

    @action
    def hurry(s) -> None:
        """Assign some things under a condition."""
        light = s.weight < 3
        with when(light):
            require(s.mode != "down")
            s.shelf[s.weight] = plain(s.height)
            with when(s.mode == "up"):
                s.weight = s.weight + 1
            s.mode = "busy"
        s.height = s.height + 1

    @staticmethod
    def with_empty_choice():
        class Empty(Shorthands):
            """Never possible."""

            def leave(s):
                require(one_of(s.mode))
                s.mode = "down"

        return Empty

    @staticmethod
    def without_plain():
        class Mixed(Shorthands):
            """Numbers that do not mix."""

            def weigh(s):
                s.weight = s.weight + s.height

        return Mixed

    @staticmethod
    def plain_mode():
        class Odd(Shorthands):
            """No number."""

            def weigh(s):
                s.weight = plain(s.mode)

        return Odd
