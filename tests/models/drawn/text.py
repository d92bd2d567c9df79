"""The text of a small protocol, drawn from a seed: every type, statement, operator and kind of claim."""

import itertools
import math
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from textwrap import indent
from typing import Any, TypeVar

from tidemark.models.instance import Bound, Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import BelowZeroError, Interpreter
from tidemark.models.interpreted.search import Search
from tidemark.spec import language
from tidemark.spec.language import Protocol, SpecError
from tidemark.spec.language.spec import Spec
from tidemark.spec.language.types import MapType, Type

STATES = 1000
"""Of a drawn instance there are at most as many states, reachable or not."""

WIDE = (-9, 60)
"""Bounds of ``Level`` where nothing runs over its values: too many for Z3."""

LEAST = (1, 6, 12, 24)
"""At least so many are reached, or more: one of these is drawn."""

T = TypeVar("T")
Kind = str
"""Name of a scalar type."""
Scope = tuple[tuple[str, Kind], ...]
"""Names that are bound, and their types."""


@dataclass(frozen=True)
class Drawn(Instance):
    """An instance of the protocol whose text this is."""

    text: str = ""

    def traced(self) -> Spec:
        """Raises SpecError, or what else the text raises."""
        names: dict[str, Any] = {"__name__": "drawn"}
        exec(compile(self.text, "drawn.py", "exec"), names)
        classes = (item for item in names.values() if isinstance(item, type) and issubclass(item, Protocol))
        return next(item for item in classes if item is not Protocol).trace()

    @property
    def is_wide(self) -> bool:
        """Are there numbers too large for Z3?"""
        return self.bounds.get("Level") == WIDE

    def shown(self) -> str:
        """What one pastes into a file to see it again."""
        return f"{self.text}\n\n# bounds: {dict(self.bounds)}; constants: {dict(self.constants)}\n"


@dataclass(frozen=True)
class Name:
    """A variable or constant of the state; without ``keys`` a scalar."""

    name: str
    kind: Kind
    keys: tuple[Kind, ...] = ()


NUMBERS = ("Place", "Level")
KINDS = ("Bool", "Colour", "Node", *NUMBERS)
COLOURS = ("red", "green", "blue")


class Writer:
    """Draws one protocol; all randomness comes from ``draw``."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.wide = self.chance(0.15)
        self.bindable = KINDS[:-1] if self.wide else KINDS
        self.size = {
            "Bool": 2,
            "Colour": draw.randint(2, 3),
            "Node": draw.randint(1, 3),
            "Place": draw.randint(2, 3),
            "Level": 3,
        }
        self.bounds: dict[str, Bound] = {
            "Node": self.size["Node"],
            "Place": self.size["Place"] - 1,
            "Level": WIDE if self.wide else (-1, 1),
        }
        self.names: list[Name] = []
        self.state: list[Name] = []
        self.views: tuple[str, ...] = ("s",)
        self._numbers = itertools.count()

    def chance(self, share: float) -> bool:
        return self.draw.random() < share

    def any_of(self, *makers: Callable[[], str]) -> str:
        return self.draw.choice(makers)()

    # -- declarations

    def declarations(self) -> tuple[list[str], dict[str, Any]]:
        """Lines, and the values of the constants."""
        colours = ", ".join(f'"{name}"' for name in COLOURS[: self.size["Colour"]])
        lines = ["Node = Sort()", "Place = Nat()", "Level = Int()", f"Colour = Enum({colours})"]
        constants: dict[str, Any] = {}
        if self.chance(0.6):
            kind, key = self.draw.choice(KINDS), self.draw.choice(self.bindable)
            lines.append(f"given: Map[{key}, {kind}] = constant()")
            constants["given"] = [self.value(kind) for _ in range(self.size[key])]
            self.names.append(Name("given", kind, (key,)))
        if self.chance(0.4):
            lines.append(f"LIMIT: Place = option({self.draw.randint(0, 2)})")
            self.names.append(Name("LIMIT", "Place"))
        room: float = STATES
        for name in ("a", "b", "c", "d", "e"):
            keys = tuple(self.draw.choices(self.bindable, k=self.draw.choice((0, 0, 1, 1, 2))))
            kind = self.draw.choice(KINDS[:2] + KINDS[3:] if keys else KINDS)
            if (size := self.size[kind] ** math.prod(self.size[key] for key in keys)) > room:
                continue
            room /= size
            self.state.append(Name(name, kind, keys))
            shape = f"Map[{', '.join((*keys, kind))}]" if keys else kind
            first = (
                "anything"
                if kind == "Node" or (kind in self.bindable and self.chance(0.2))
                else repr(self.value(kind))
            )
            lines.append(f"{name}: {shape} = {first}")
        self.names += self.state
        return lines, constants

    def value(self, kind: Kind) -> Any:
        if kind == "Colour":
            return self.draw.choice(COLOURS[: self.size["Colour"]])
        number = self.draw.randrange(self.size[kind])
        return bool(number) if kind == "Bool" else number - (kind == "Level")

    # -- expressions; never a literal alone where an operator stands before or behind it

    def read(self, kind: Kind, scope: Scope, depth: int) -> str:
        """What has no value before the protocol runs."""
        local = [name for name, of in scope if of == kind]
        known = [name for name in self.names if name.kind == kind and (depth > 0 or not name.keys)]
        if local and (not known or self.chance(0.5)):
            return self.draw.choice(local)
        if not known:
            raise Redraw
        name = self.draw.choice(known)
        keys = ", ".join(self.scalar(key, scope, depth - 1) for key in name.keys)
        return f"{self.draw.choice(self.views)}.{name.name}" + (f"[{keys}]" if keys else "")

    def readable(self, scope: Scope, *, of: tuple[Kind, ...] = KINDS) -> Kind:
        """A type of which something can be read."""
        known = {name.kind for name in self.names if not name.keys} | {kind for _, kind in scope}
        found = [kind for kind in of if kind in known]
        if not found:
            raise Redraw
        return self.draw.choice(found)

    def domain(self, kind: Kind) -> str:
        return kind if kind == "Bool" else f"{self.views[0]}.{kind}"

    def scalar(self, kind: Kind, scope: Scope, depth: int) -> str:
        if depth <= 0 or self.chance(0.25):
            literal = kind != "Node" and self.chance(0.4)
            return repr(self.value(kind)) if literal else self.read(kind, scope, depth)
        if self.chance(0.15):
            one, two = self.read(kind, scope, depth - 1), self.scalar(kind, scope, depth - 1)
            return f"ite({self.truth(scope, depth - 1)}, {one}, {two})"
        if kind == "Bool":
            return self.truth(scope, depth)
        return self.number(kind, scope, depth) if kind in NUMBERS else self.read(kind, scope, depth)

    def number(self, kind: Kind, scope: Scope, depth: int) -> str:
        left, right = self.read(kind, scope, depth - 1), self.scalar(kind, scope, depth - 1)
        return self.any_of(
            lambda: f"({left} + {right})",
            lambda: f"({left} + 1)",
            lambda: f"({left} - {right})" if kind == "Level" or self.chance(0.3) else left,
            lambda: f"{self.draw.choice(('minimum', 'maximum'))}({left}, {right})",
            lambda: f"({left} {self.draw.choice(('*', '//', '%'))} {self.draw.randint(1, 3)})",
            lambda: f"(({left} + 1) % {self.draw.randint(2, 3)})",
            lambda: f"plain({self.read(self.readable(scope, of=NUMBERS), scope, 0)})",
            lambda: self.quantified("count", scope, depth),
            lambda: self.extreme(kind, scope, depth),
        )

    def extreme(self, kind: Kind, scope: Scope, depth: int) -> str:
        name, default = f"x{next(self._numbers)}", self.scalar("Place", scope, depth - 1)
        body = self.truth((*scope, (name, "Place")), depth - 1)
        upto = f"upto={self.scalar('Place', scope, depth - 1)}, "
        word, upto = self.draw.choice((("least", ""), ("greatest", upto)))
        found = f"{word}({self.domain('Place')}, lambda {name}: {body}, {upto}default={default})"
        return found if kind == "Place" else f"plain({found})"

    def quantified(self, word: str, scope: Scope, depth: int) -> str:
        kinds = self.draw.choices(self.bindable, k=self.draw.choice((1, 1, 2)))
        bound = tuple((f"x{next(self._numbers)}", kind) for kind in kinds)
        body = self.truth((*bound, *scope), depth - 1)
        domains = ", ".join(self.domain(kind) for kind in kinds)
        return f"{word}({domains}, lambda {', '.join(name for name, _ in bound)}: {body})"

    def truth(self, scope: Scope, depth: int) -> str:
        kind = self.readable(scope)
        if depth <= 0:
            return self.compared(kind, scope, 0)
        part = partial(self.truth, scope, depth - 1)
        return self.any_of(
            lambda: self.compared(kind, scope, depth - 1),
            lambda: self.compared(self.readable(scope, of=NUMBERS), scope, depth - 1),
            lambda: f"({part()} {self.draw.choice('&|')} {part()})",
            lambda: f"~{part()}",
            lambda: f"implies({part()}, {part()})",
            lambda: self.quantified(self.draw.choice(("forall", "exists")), scope, depth),
            self.whole,
            lambda: self.one_of(kind, scope, depth),
        )  # fmt: skip

    def one_of(self, kind: Kind, scope: Scope, depth: int) -> str:
        parts = (self.scalar(kind, scope, depth - 1) for _ in "ab")
        return f"one_of({self.read(kind, scope, depth)}, {', '.join(parts)})"

    def compared(self, kind: Kind, scope: Scope, depth: int) -> str:
        ops = ("==", "!=", "<", "<=") if kind in NUMBERS else ("==", "!=")
        left = self.read(kind, scope, depth)
        right = self.other(left, lambda: self.scalar(kind, scope, depth))
        return f"({left} {self.draw.choice(ops)} {right})"

    def other(self, left: str, draw: Callable[[], str]) -> str:
        """A text that is not the same."""
        for _ in range(8):
            if (found := draw()) != left:
                return found
        raise Redraw

    def whole(self) -> str:
        """Two maps are equal."""
        pairs = [
            (a, b) for a in self.names for b in self.state if a.keys and (a.keys, a.kind) == (b.keys, b.kind)
        ]
        pairs = [(a, b) for a, b in pairs if a != b or len(self.views) > 1]
        if not pairs:
            return self.truth((), 0)
        one, two = self.draw.choice(pairs)
        return f"({self.views[0]}.{one.name} == {self.views[-1]}.{two.name})"

    # -- methods

    def statements(self, scope: Scope, *, nested: bool = False) -> list[str]:
        name = self.draw.choice(self.state)
        if not nested and self.chance(0.2):
            inner = self.statements(scope, nested=True) + (self.guard(scope) if self.chance(0.3) else [])
            return [f"with when({self.truth(scope, 2)}):", *(f"    {line}" for line in inner)]
        if name.keys and self.chance(0.3):
            bound = tuple((f"k{next(self._numbers)}", key) for key in name.keys)
            body = self.assigned(name.kind, (*scope, *bound))
            domains = ", ".join(self.domain(key) for key in name.keys)
            return [f"s.{name.name} = each({domains}, lambda {', '.join(n for n, _ in bound)}: {body})"]
        keys = ", ".join(self.scalar(key, scope, 1) for key in name.keys)
        left = f"s.{name.name}" + (f"[{keys}]" if keys else "")
        return [f"{left} = {self.other(left, lambda: self.assigned(name.kind, scope))}"]

    def assigned(self, kind: Kind, scope: Scope) -> str:
        """Mostly within the bounds."""
        if kind == "Place" and self.chance(0.7):
            read = self.read(kind, scope, 1)
            if self.chance(0.15):
                return f"{read} - 1"
            return self.draw.choice((f"{read} + 1", f"maximum({read} - 1, 0)", f"({read} + 1) % 2", read))
        if kind == "Bool" and self.chance(0.4):
            return f"~{self.truth(scope, 0)}"
        return self.scalar(kind, scope, 2)

    def guard(self, scope: Scope) -> list[str]:
        return [f"require({self.truth(scope, 2)})"]

    def again(self, make: Callable[[], T]) -> T:
        """Until each type that is drawn has something to read. Raises Redraw."""
        for _ in range(20):
            with suppress(Redraw):
                return make()
        raise Redraw

    def action(self, number: int) -> list[str]:
        scope = tuple(
            (f"p{i}", self.draw.choice(self.bindable)) for i in range(self.draw.choice((0, 0, 1, 1, 2)))
        )
        body = [line for _ in range(self.draw.choice((0, 1, 1, 2))) for line in self.guard(scope)]
        body += [line for _ in range(self.draw.randint(1, 3)) for line in self.statements(scope)]
        fairness = self.draw.choice(("", '(fairness="weak")', '(fairness="strong")'))
        return _method(f"@action{fairness}", f"act{number}", ("s", *_typed(scope)), body)

    def never(self) -> str:
        """Some value is not taken: a longer run may be needed for it."""
        parts = []
        for name in self.draw.choices(self.state, k=2):
            keys = ", ".join(self.scalar(key, (), 0) for key in name.keys)
            value = self.read("Node", (), 0) if name.kind == "Node" else repr(self.value(name.kind))
            parts.append(f"(s.{name.name}{f'[{keys}]' if keys else ''} != {value})")
        return " | ".join(dict.fromkeys(parts))

    def claims(self, actions: int) -> Iterator[list[str]]:
        names = (f"claim{number}" for number in itertools.count())
        yield _method("@invariant()", next(names), ("s",), [f"return {self.again(self.never)}"])
        for depth in (1, 3):
            yield _method(
                "@invariant()", next(names), ("s",), [f"return {self.again(partial(self.truth, (), depth))}"]
            )
        scope = (("q", self.draw.choice(self.bindable)),) if self.chance(0.3) else ()
        without = 'without=("act0",)' if self.chance(0.2) else ""
        pair = ", ".join(self.again(partial(self.truth, scope, 1)) for _ in "pq")
        yield _method(f"@leads_to({without})", next(names), ("s", *_typed(scope)), [f"return {pair}"])
        if self.chance(0.25):
            yield _method("@initially", "start", ("s",), [f"return {self.again(partial(self.truth, (), 2))}"])
        self.views = ("before", "after")
        after = f'@reachable(after="act{self.draw.randrange(actions)}")'
        for decorator in ("@transition_invariant()", after):
            yield _method(
                decorator, next(names), self.views, [f"return {self.again(partial(self.truth, (), 2))}"]
            )


def _typed(scope: Scope) -> Iterator[str]:
    return (f"{name}: {kind}" for name, kind in scope)


def _method(decorator: str, name: str, params: Iterable[str], body: Iterable[str]) -> list[str]:
    lines = (f"    {line}" for line in ('"""Drawn."""', *body))
    return [decorator, f"def {name}({', '.join(params)}):", *lines]


class Redraw(Exception):
    """No such expression in this protocol."""


def attempt(draw: random.Random, name: str) -> Drawn:
    """Raises Redraw, or SpecError where a part of the text says nothing."""
    writer = Writer(draw)
    lines, constants = writer.declarations()
    actions = draw.randint(2, 3)
    methods = [writer.again(partial(writer.action, number)) for number in range(actions)]
    methods += writer.claims(actions)
    body = "\n\n".join(indent("\n".join(part), "    ") for part in (lines, *methods))
    imports = ", ".join(word for word in sorted(language.__all__) if word in body or word == "Protocol")
    head = f'from tidemark.spec.language import {imports}\n\n\nclass Drawn(Protocol):\n    """Drawn."""'
    text = f"{head}\n\n{body}\n"
    found = Drawn("tidemark.spec.language:Protocol", writer.bounds, constants, name, text)
    least = draw.choice(LEAST)
    with suppress(BelowZeroError):
        reached = Search(Interpreter(found), limit=STATES if writer.wide else least).run()
        if not least <= len(reached.parents) <= STATES:
            raise Redraw
    return found


def drawn(seed: int) -> Drawn:
    """The first text from this seed of which each part says something."""
    for number in itertools.count():
        with suppress(SpecError, Redraw):
            return attempt(random.Random(f"{seed} {number}"), f"drawn-{seed}")
    raise AssertionError


def any_state(instance: Instance, draw: random.Random) -> State:
    """A state within the bounds, reachable or not."""

    def value(kind: Type) -> Any:
        if isinstance(kind, MapType):
            return tuple(value(kind.value) for _ in instance.entries(kind))
        return draw.choice(instance.domain(kind).values)

    return tuple(value(variable.type) for variable in instance.spec.variables)
