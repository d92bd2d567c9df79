"""The declarations of a TLA+ module: constants, domains, variables, initial states, bounds."""

from collections.abc import Sequence
from typing import NamedTuple

from tidemark.models.exports.text.layout import Block, after, headed, indented, joined
from tidemark.models.exports.tla.blocks import bullets, condition, conjuncts, tuple_of
from tidemark.models.exports.tla.expressions import Writer
from tidemark.models.instance import Instance
from tidemark.spec.language.expr import (
    Apply,
    Expr,
    Local,
    MapComprehension,
    Quantified,
    Read,
    Select,
    Value,
    Variable,
    variables_read,
)
from tidemark.spec.language.types import EnumType, MapType, NumberType, SortType, Type

BEYOND = "beyond"
"""Name of the variable that is true once a map was changed outside the instance."""


class Given(NamedTuple):
    """An initial value from a condition: for each of ``binders`` (none for a scalar) it is ``value``."""

    condition: Expr
    binders: tuple[Local, ...]
    value: Expr


def given_by(condition: Expr, variable: Variable) -> Given | None:
    """The initial value that a condition ``x == v`` or ``forall(k: x[k] == v)`` gives, or None."""
    match condition:
        case Apply(op="eq", args=(one, two)):
            binders: tuple[Local, ...] = ()
        case Quantified(kind="forall", binders=binders, body=Apply(op="eq", args=(one, two))):
            pass
        case _:
            return None
    for place, value in ((one, two), (two, one)):
        if binders:
            whole = Read(variable.type, variable)
            if isinstance(place, Select) and place.map == whole and place.keys == binders:
                return Given(condition, binders, value)
        elif place == Read(variable.type, variable):
            if isinstance(value, MapComprehension):
                return Given(condition, value.binders, value.body)
            return Given(condition, (), value) if _is_plain(value) else None
    return None


def _is_plain(value: Expr) -> bool:
    return not isinstance(value.type, MapType) or (isinstance(value, Read) and value.variable.constant)


class Declarations:
    """``marks``: some action may change a map outside, so there is the variable ``beyond``. ``constants``:
    name and value of the configuration's constants, known after ``text``.
    """

    def __init__(self, instance: Instance, writer: Writer, *, marks: bool) -> None:
        self.instance, self.spec, self.writer, self.marks = instance, instance.traced(), writer, marks
        self.constants: dict[str, str] = {}

    def text(self) -> Block:
        """Constants, domains, variables."""
        names = self.writer.names
        lines: Block = []
        for kind in self.spec.types:
            lines += self._domain(kind)
        for variable in self.spec.constants:
            if not isinstance(variable.type, MapType):
                name = names.declare(variable.name)
                self.constants[name] = self.writer.literal(self._scalar(variable))
        # TLC's configuration knows no negative number.
        negative = {name: text for name, text in self.constants.items() if text.startswith("-")}
        self.constants = {name: text for name, text in self.constants.items() if name not in negative}
        declared = [f"  {name}" for name in self.constants]
        head = ["CONSTANTS", *(f"{line}," for line in declared[:-1]), *declared[-1:], ""] if declared else []
        for variable in self.spec.constants:
            if isinstance(variable.type, MapType):
                lines += self._map_constant(variable)
        fixed = [f"{name} == {text}" for name, text in negative.items()]
        return [*head, *fixed, *lines, "", *self._variables(), ""]

    def _scalar(self, variable: Variable) -> Value:
        given = {**self.spec.options, **self.instance.constants}
        value: Value = given[variable.name]
        return value

    def _domain(self, kind: Type) -> Block:
        name = self.writer.names.declare(kind.name)
        if isinstance(kind, EnumType):
            return headed(f"{name} ==", ["{" + ", ".join(f'"{member}"' for member in kind.members) + "}"])
        if isinstance(kind, SortType):
            size = self.writer.names.declare(f"{name}_count")
            self.constants[size] = str(self.instance.domain(kind).size)
            return [f"{name} == 0 .. {size} - 1"]
        if isinstance(kind, NumberType):
            domain = self.instance.domain(kind)
            top = self.writer.names.declare(f"{name}_max")
            self.constants[top] = str(domain.low + domain.size - 1)
            if not kind.signed and domain.low == 0:
                return [f"{name} == 0 .. {top}"]
            bottom = self.writer.names.declare(f"{name}_min")
            self.constants[bottom] = str(domain.low)
            return [f"{name} == {bottom} .. {top}"]
        return []

    def _map_constant(self, variable: Variable) -> Block:
        kind = variable.type
        assert isinstance(kind, MapType)
        entries = zip(self.instance.entries(kind), self.instance.map_constants[variable.name], strict=True)
        parts = [f"{self._key(at)} :> {self._negative(value)}" for at, value in entries]
        return headed(
            f"{self.writer.names.declare(variable.name)} ==", joined([[part] for part in parts], "@@")
        )

    def _key(self, at: Sequence[Value]) -> str:
        texts = [self.writer.literal(value) for value in at]
        return self._negative(at[0]) if len(texts) == 1 else f"<<{', '.join(texts)}>>"

    def _negative(self, value: Value) -> str:
        text = self.writer.literal(value)
        return f"({text})" if text.startswith("-") else text

    def _variables(self) -> Block:
        names = [self.writer.names.declare(variable.name) for variable in self.spec.variables]
        lines = ["VARIABLES"]
        for number, (name, variable) in enumerate(zip(names, self.spec.variables, strict=True)):
            comma = "," if number < len(names) - 1 or self.marks else ""
            lines.append(f"  {name + comma:<24} \\* {self._type(variable.type)}")
        if self.marks:
            lines.append(f"  {BEYOND:<24} \\* a map was changed outside the bounds")
            names.append(BEYOND)
        return [*lines, "", *headed("vars ==", tuple_of(names))]

    def _type(self, kind: Type) -> str:
        if not isinstance(kind, MapType):
            return f"\\in {self.writer.domain(kind)}"
        keys = " \\X ".join(self.writer.domain(key) for key in kind.keys)
        return f"\\in [{keys} -> {self.writer.domain(kind.value)}]"

    def initial(self) -> Block:
        """``Init``, and ``WithinBounds`` if a step can leave the bounds."""
        conditions = [part for whole in self.spec.initially for part in conjuncts(whole)]
        given = self._given(conditions)
        parts = [
            self._value(variable, given[variable.name]) if variable.name in given else self._start(variable)
            for variable in self.spec.variables
        ]
        said = [id(found.condition) for found in given.values()]
        parts += [condition(self.writer.expr(part, {}), part) for part in conditions if id(part) not in said]
        if self.marks:
            parts.append([f"{BEYOND} = FALSE"])
        lines = ["Init ==", *indented(bullets(parts)), ""]
        bounds = self.bounds()
        if not bounds:
            return lines
        note = "States outside the bounds are generated, but neither counted nor expanded (CONSTRAINT)."
        return [
            *lines,
            f"\\* {note}",
            "WithinBounds ==",
            *indented(bullets([[part] for part in bounds])),
            "",
        ]

    def _start(self, variable: Variable) -> Block:
        name, value = self.writer.names.declare(variable.name), self.spec.initial[variable.name]
        if value is None:
            return [f"{name} {self._type(variable.type)}"]
        if not isinstance(variable.type, MapType):
            return [f"{name} = {self.writer.literal(value)}"]
        keys = ", ".join(
            f"k{n} \\in {self.writer.domain(key)}" for n, key in enumerate(variable.type.keys, 1)
        )
        return [f"{name} = [{keys} |-> {self.writer.literal(value)}]"]

    def _given(self, conditions: Sequence[Expr]) -> dict[str, Given]:
        """The open variables whose initial value a condition gives: TLC need not try all values of a map."""
        found: dict[str, Given] = {}
        known = {
            variable.name for variable in self.spec.variables if self.spec.initial[variable.name] is not None
        }
        for variable in self.spec.variables:
            if variable.name in known:
                continue
            for part in conditions:
                given = given_by(part, variable)
                if given is not None and self._fits(given, variable, known):
                    found[variable.name] = given
                    break
            known.add(variable.name)
        return found

    def _fits(self, given: Given, variable: Variable, known: set[str]) -> bool:
        """Does the value use only earlier names, and never leave the bounds?"""
        kind = variable.type.value if isinstance(variable.type, MapType) else variable.type
        read = {one.name for one in variables_read(given.value) if not one.constant}
        fixed = isinstance(given.value.type, MapType)  # a constant: its values were compared with the bounds
        return read <= known - {variable.name} and (fixed or self.writer.ranges.covers(kind, given.value))

    def _value(self, variable: Variable, given: Given) -> Block:
        name = self.writer.names.declare(variable.name)
        if not given.binders:
            return after(f"{name} = ", self.writer.closed(given.value, {}))
        heads, scope = self.writer.bind(given.binders, {})
        body = self.writer.expr(given.value, scope)
        return after(f"{name} = ", headed(f"[{', '.join(heads)} |->", body, closing="]"))

    def bounds(self) -> list[str]:
        """A condition of every state that counts; empty if no step can leave the bounds."""
        found = [f"~{BEYOND}"] if self.marks else []
        for variable in self.spec.variables:
            kind, name = variable.type, self.writer.names.declare(variable.name)
            if isinstance(kind, MapType):
                if isinstance(kind.value, NumberType):
                    keys = ", ".join(f"k{n} \\in {self.writer.domain(k)}" for n, k in enumerate(kind.keys, 1))
                    at = ", ".join(f"k{n}" for n in range(1, len(kind.keys) + 1))
                    found.append(f"\\A {keys} : {name}[{at}] \\in {self.writer.domain(kind.value)}")
            elif isinstance(kind, NumberType):
                found.append(f"{name} \\in {self.writer.domain(kind)}")
        return found
