"""Expressions of the language as Promela: quantifiers become macros, written out over their domain."""

import itertools
from collections.abc import Mapping, Sequence

from tidemark.models.exports.promela.reserved import RESERVED
from tidemark.models.exports.text.layout import WIDTH, Block, after, closed, headed, joined, listed, one_line
from tidemark.models.exports.text.names import Names
from tidemark.models.exports.text.ranges import Ranges
from tidemark.models.instance import Instance
from tidemark.spec.language.expr import (
    Apply,
    Choose,
    Const,
    Expr,
    Local,
    Quantified,
    Read,
    Select,
    Value,
    Variable,
    binders_of,
    free_locals,
    map_type,
)
from tidemark.spec.language.fold import conjunction, equality, non_negative, select
from tidemark.spec.language.types import BoolType, EnumType, MapType, NumberType, Type

Scope = Mapping[str, str]
_INFIX = {
    "and": "&&",
    "or": "||",
    "eq": "==",
    "lt": "<",
    "le": "<=",
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "mod": "%",
}
_HELPERS = {
    "min": "#define minimum(a, b) ((a) < (b) -> (a) : (b))",
    "max": "#define maximum(a, b) ((a) > (b) -> (a) : (b))",
    "div": "#define floor_div(a, b) ((a) >= 0 -> (a) / (b) : -((b) - 1 - (a)) / (b))",
    "mod": "#define floor_mod(a, b) ((((a) % (b)) + (b)) % (b))",
}


class Writer:
    """Writes expressions; the macros that they need are collected in ``macros``, helpers in ``helpers``."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.ranges = Ranges(instance)
        self.names = Names(RESERVED)
        for helper in ("minimum", "maximum", "floor_div", "floor_mod", "found"):
            self.names.declare(helper)
        self.macros: list[str] = []
        self.helpers: dict[str, str] = {}
        self.owner = ""
        self._written: dict[str, int] = {}

    def begin(self, owner: str) -> None:
        """Names the following macros after ``owner``."""
        self.owner = owner

    def _new_name(self) -> str:
        """A new name for a macro: one owner may begin several times."""
        number = self._written[self.owner] = self._written.get(self.owner, 0) + 1
        return self.names.declare(f"{self.owner}_{number}")

    def take_macros(self) -> list[str]:
        """The macros written since the last call."""
        found, self.macros = self.macros, []
        return found

    def define(self, name: str, params: Sequence[str], body: Block) -> None:
        """Add a macro."""
        head = f"#define {name}({', '.join(params)})" if params else f"#define {name}"
        lines = headed(head, body)
        self.macros += [f"{line} \\" for line in lines[:-1]] + lines[-1:]

    def literal(self, kind: Type, value: Value) -> str:
        """A value in Promela."""
        if isinstance(kind, EnumType):
            return self.member(kind, str(value))
        if isinstance(kind, BoolType):
            return "true" if value else "false"
        return str(value) if int(value) >= 0 else f"({value})"

    def member(self, kind: EnumType, name: str) -> str:
        """``Phase_sealed``: members of several enumerations may have the same name."""
        return self.names.declare(f"{kind.name}_{name}")

    def closed(self, node: Expr, scope: Scope) -> Block:
        """The expression, bracketed where it is no name, number, entry or call."""
        block = self.expr(node, scope)
        if not isinstance(node, Apply) or node.op in ("ite", "min", "max"):
            return block
        if node.op == "not" and not _is_inequality(node):
            return block
        return closed("(", block, ")")

    def bracketed(self, node: Expr, scope: Scope) -> Block:
        """The expression as the body of a macro."""
        block = self.closed(node, scope)
        return closed("(", block, ")") if block[0].startswith("!") else block

    def short(self, node: Expr, scope: Scope) -> str:
        """The expression on one line, as a macro of its own where it is long: Spin may end a statement at a
        line end.
        """
        block = self.expr(node, scope)
        if len(block) == 1:
            return block[0]
        name = self._new_name()
        params = [scope[local] for local in sorted(free_locals(node))]
        self.define(name, params, closed("(", block, ")"))
        return f"{name}({', '.join(params)})" if params else name

    def expr(self, node: Expr, scope: Scope) -> Block:
        """A scalar expression; ``scope`` gives the names of its free locals."""
        match node:
            case Const(value=value):
                return [self.literal(node.type, value)]
            case Local(name=name):
                return [scope[name]]
            case Read(variable=variable, primed=primed):
                return [self.variable(variable, primed=primed)]
            case Select(map=Read(variable=variable, primed=primed), keys=keys):
                return self._entry(variable, keys, scope, primed=primed)
            case Select(map=source, keys=keys):
                return self.expr(select(source, keys), scope)
            case Apply():
                return self._apply(node, scope)
            case Quantified():
                infix = {"forall": "&&", "exists": "||", "count": "+"}[node.kind]
                calls = self.calls(node.binders, node.body, scope)
                return closed("(", joined([[call] for _, call in calls], infix), ")")
            case Choose():
                return self._choose(node, scope)
        raise TypeError(f"not a scalar: {node}")

    def variable(self, variable: Variable, *, primed: bool = False) -> str:
        """A variable, or the scratch one that holds its value after the step."""
        name = self.names.declare(variable.name)
        return self.names.declare(f"{name}_next") if primed else name

    def _apply(self, node: Apply, scope: Scope) -> Block:
        if node.op == "eq" and isinstance(node.args[0].type, MapType):
            return self._same_maps(node, scope)
        if _is_inequality(node):
            inner = node.args[0]
            assert isinstance(inner, Apply)
            return joined([self.closed(arg, scope) for arg in inner.args], "!=")
        if node.op == "ite":
            test, then, other = (self.closed(arg, scope) for arg in node.args)
            return _choice(test, then, other)
        if node.op == "implies":
            conclusion = self.closed(node.args[1], scope)
            return joined([after("!", self.bracketed(node.args[0], scope)), conclusion], "||")
        if node.op == "not":
            return after("!", self.bracketed(node.args[0], scope))
        args = [self.closed(arg, scope) for arg in node.args]
        if node.op in ("min", "max"):
            return listed(
                args, opening=self._helper(node.op, "minimum" if node.op == "min" else "maximum"), closing=")"
            )
        if node.op in ("div", "mod") and not non_negative(node.args[0]):
            return listed(args, opening=self._helper(node.op, f"floor_{node.op}"), closing=")")
        return joined(args, _INFIX[node.op])

    def _helper(self, op: str, name: str) -> str:
        self.helpers[op] = _HELPERS[op]
        return f"{name}("

    def _same_maps(self, node: Apply, scope: Scope) -> Block:
        left, right = node.args
        entries = self.instance.keys(map_type(left))
        same = conjunction(*(equality(select(left, keys), select(right, keys)) for keys in entries))
        return self.closed(same, scope)

    def index(self, kind: MapType, keys: Sequence[Expr], scope: Scope) -> Block:
        """The place of an entry, row-major."""
        domains = self.instance.domains(kind.keys)
        if len(keys) == 1 and not domains[0].low:
            return [one_line(self.expr(keys[0], scope))]
        terms: list[str] = []
        size = 1
        for domain, key in reversed(list(zip(domains, keys, strict=True))):
            text = one_line(self.closed(key, scope))
            if domain.low:
                text = f"({text} - {domain.low})" if domain.low > 0 else f"({text} + {-domain.low})"
            if domain.size > 1:
                terms.append(text if size == 1 else f"{size} * {text}")
            size *= domain.size
        return [" + ".join(reversed(terms)) or "0"]

    def in_bounds(self, kind: Type, key: Expr, scope: Scope) -> str:
        """The test that a number lies within the bounds of its type."""
        low, high = self.ranges.domain(kind)
        text = one_line(self.closed(key, scope))
        return within(text, low, high, span=self.ranges.span(key))

    def _entry(self, variable: Variable, keys: Sequence[Expr], scope: Scope, *, primed: bool) -> Block:
        kind = variable.type
        assert isinstance(kind, MapType)
        if variable.constant:
            return listed(
                [[one_line(self.expr(key, scope))] for key in keys],
                opening=f"{self.names.declare(variable.name)}(",
                closing=")",
            )
        place = f"{self.variable(variable, primed=primed)}[{self.index(kind, keys, scope)[0]}]"
        tests = [
            self.in_bounds(k, key, scope)
            for k, key in zip(kind.keys, keys, strict=True)
            if not self.ranges.covers(k, key)
        ]
        if not tests:
            return [place]
        out_of_bounds = self.literal(kind.value, self.instance.out_of_bounds_value(variable))
        return [f"({' && '.join(tests)} -> {place} : {out_of_bounds})"]

    def calls(
        self, binders: Sequence[Local], body: Expr, scope: Scope
    ) -> list[tuple[tuple[Value, ...], str]]:
        """The macro of a body, called for every assignment of the binders."""
        name = self._new_name()
        free = sorted(free_locals(body) - {binder.name for binder in binders})
        inner = {local: scope[local] for local in free}
        for binder in binders:
            inner[binder.name] = self.names.bind(binder, inner)
        text = self.bracketed(body, inner)
        self.define(name, [inner[local] for local in free] + [inner[b.name] for b in binders], text)
        given = [scope[local] for local in free]
        domains = [self.instance.domain(binder.type) for binder in binders]
        found = []
        for values in itertools.product(*(domain.values for domain in domains)):
            literals = [self.literal(d.type, value) for d, value in zip(domains, values, strict=True)]
            found.append((values, f"{name}({', '.join([*given, *literals])})"))
        return found

    def _choose(self, node: Choose, scope: Scope) -> Block:
        calls = self.calls(binders_of(node), node.body, scope)
        if node.kind == "greatest":
            calls.reverse()
        block = self.closed(node.default, scope)
        for (value,), call in reversed(calls):
            block = _choice([call], [self.literal(node.binder.type, value)], block)
        return block


def _choice(test: Block, then: Block, other: Block) -> Block:
    line = f"({test[0]} -> {then[0]} : {other[0]})"
    if all(len(block) == 1 for block in (test, then, other)) and len(line) <= WIDTH:
        return [line]
    return closed("(", [*test, *after("-> ", then), *after(": ", other)], ")")


def within(text: str, low: int, high: int, *, span: tuple[int, int]) -> str:
    """``low <= text && text <= high``, without the half that is known."""
    tests = [f"{text} >= {low}"] if span[0] < low else []
    tests += [f"{text} <= {high}"] if span[1] > high else []
    return " && ".join(tests) or "true"


def storage(kind: Type, instance: Instance) -> str:
    """The smallest type of Promela that holds the values of a scalar type."""
    if isinstance(kind, BoolType):
        return "bool"
    domain = instance.domain(kind)
    low = domain.low if isinstance(kind, NumberType) else 0
    high = low + domain.size - 1
    if low >= 0 and high < 256:
        return "byte"
    return "short" if low >= -(2**15) and high < 2**15 else "int"


def _is_inequality(node: Expr) -> bool:
    return (
        isinstance(node, Apply)
        and node.op == "not"
        and isinstance(node.args[0], Apply)
        and node.args[0].op == "eq"
        and not isinstance(node.args[0].args[0].type, MapType)
    )
