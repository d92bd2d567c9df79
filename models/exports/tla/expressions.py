"""Expressions of the language as TLA+."""

from collections.abc import Mapping, Sequence

from tidemark.models.exports.text.layout import (
    WIDTH,
    Block,
    after,
    closed,
    headed,
    indented,
    joined,
    listed,
    one_line,
)
from tidemark.models.exports.text.names import Names
from tidemark.models.exports.text.ranges import Ranges
from tidemark.models.instance import Instance
from tidemark.spec.language.expr import (
    Apply,
    Choose,
    Const,
    Expr,
    Local,
    MapComprehension,
    Quantified,
    Read,
    Select,
    Store,
    Value,
    Variable,
    map_type,
)
from tidemark.spec.language.fold import select
from tidemark.spec.language.types import Type

Scope = Mapping[str, str]
_RESERVED = """
ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS DOMAIN ELSE ENABLED
EXCEPT EXTENDS HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW OBVIOUS OMITTED OTHER PICK
PROOF PROPOSITION PROVE QED RECURSIVE SF_ STATE STRONG SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM
UNCHANGED UNION USE VARIABLE VARIABLES WF_ WITH WITNESS TRUE FALSE BOOLEAN STRING Nat Int
Cardinality IsFiniteSet Print PrintT Assert
JavaTime TLCGet TLCSet Permutations SortSeq RandomElement Any ToString TLCEval
Min Max Least Greatest m_ n_ S_ d_ k1 k2 k3 k4 k5 k6 Init Next Spec vars Fairness WithinBounds beyond
"""
RESERVED = frozenset(_RESERVED.split())
_INFIX = {
    "and": "/\\",
    "or": "\\/",
    "implies": "=>",
    "eq": "=",
    "lt": "<",
    "le": "<=",
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "\\div",
    "mod": "%",
}
_CALLS = {"min": "Min", "max": "Max"}
OPERATORS = {
    "Min": "Min(m_, n_) == IF m_ < n_ THEN m_ ELSE n_",
    "Max": "Max(m_, n_) == IF m_ > n_ THEN m_ ELSE n_",
    "Least": "Least(S_, d_) == IF S_ = {} THEN d_ ELSE CHOOSE m_ \\in S_ : \\A n_ \\in S_ : m_ <= n_",
    "Greatest": "Greatest(S_, d_) == IF S_ = {} THEN d_ ELSE CHOOSE m_ \\in S_ : \\A n_ \\in S_ : m_ >= n_",
}
"""TLA+ lets no parameter hide a name; these are reserved."""


class Writer:
    """Writes expressions; ``used`` collects the operators of our own that they need."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.ranges = Ranges(instance)
        self.names = Names(RESERVED)
        self.used: set[str] = set()

    def domain(self, kind: Type) -> str:
        """The set of a scalar type's values."""
        return "BOOLEAN" if kind.name == "Bool" else self.names.declare(kind.name)

    def literal(self, value: Value) -> str:
        """A value; enumerations are strings."""
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        return f'"{value}"' if isinstance(value, str) else str(value)

    def bind(self, binders: Sequence[Local], scope: Scope) -> tuple[list[str], dict[str, str]]:
        r"""``p \in Position`` for each binder, and the scope inside: TLA+ allows no name to be hidden."""
        inner = dict(scope)
        heads = []
        for binder in binders:
            inner[binder.name] = self.names.bind(binder, inner)
            heads.append(f"{inner[binder.name]} \\in {self.domain(binder.type)}")
        return heads, inner

    def closed(self, node: Expr, scope: Scope) -> Block:
        """The expression, bracketed where it is no name, literal, entry or call."""
        block = self.expr(node, scope)
        match node:
            case Const(value=value):
                return closed("(", block, ")") if not isinstance(value, str) and value < 0 else block
            case Read() | Local() | MapComprehension() | Choose() | Store():
                return block
            case Quantified(kind="count"):
                return block
            case Select() if not block[0].startswith("IF "):
                return block
            case Apply(op="min" | "max"):
                return block
            case Apply(op="not") if block[0].startswith("~"):
                return block
        return closed("(", block, ")")

    def expr(self, node: Expr, scope: Scope) -> Block:
        """An expression; ``scope`` gives the names of its free locals."""
        match node:
            case Const(value=value):
                return [self.literal(value)]
            case Local(name=name):
                return [scope[name]]
            case Read(variable=variable, primed=primed):
                return [self.names.declare(variable.name) + ("'" if primed else "")]
            case Select(map=Read(variable=variable) as source, keys=keys):
                return self._entry(source, variable, keys, scope)
            case Select(map=source, keys=keys):
                return self.expr(select(source, keys), scope)
            case Apply():
                return self._apply(node, scope)
            case Quantified():
                return self._quantified(node, scope)
            case Choose(kind=kind, binder=binder, body=body, default=default):
                name = "Least" if kind == "least" else "Greatest"
                self.used.add(name)
                return listed(
                    [self._set((binder,), body, scope), self.expr(default, scope)],
                    opening=f"{name}(",
                    closing=")",
                )
            case MapComprehension(binders=binders, body=body):
                heads, inner = self.bind(binders, scope)
                return headed(f"[{', '.join(heads)} |->", self.expr(body, inner), closing="]")
            case Store():
                return self._store(node, scope)
        raise TypeError(f"unknown node {node!r}")

    def _entry(self, source: Read, variable: Variable, keys: Sequence[Expr], scope: Scope) -> Block:
        place = listed(
            [self.expr(key, scope) for key in keys], opening=f"{self.expr(source, scope)[0]}[", closing="]"
        )
        test = self.in_bounds(map_type(source).keys, keys, scope)
        if not test:
            return place
        return _if([test], place, [self.literal(self.instance.out_of_bounds_value(variable))])

    def in_bounds(self, kinds: Sequence[Type], keys: Sequence[Expr], scope: Scope) -> str:
        """The test that all keys lie within the instance; empty if they always do."""
        return " /\\ ".join(
            f"{one_line(self.closed(key, scope))} \\in {self.domain(kind)}"
            for kind, key in zip(kinds, keys, strict=True)
            if not self.ranges.covers(kind, key)
        )

    def _apply(self, node: Apply, scope: Scope) -> Block:
        args = node.args
        if node.op == "ite":
            return _if(*(self.expr(arg, scope) for arg in args))
        if node.op == "not":
            inner = args[0]
            if isinstance(inner, Apply) and inner.op == "eq":
                return joined([self.closed(arg, scope) for arg in inner.args], "#")
            return after("~", self.closed(inner, scope))
        parts = [self.closed(arg, scope) for arg in args]
        if node.op in _CALLS:
            self.used.add(_CALLS[node.op])
            return listed([self.expr(arg, scope) for arg in args], opening=f"{_CALLS[node.op]}(", closing=")")
        if node.op in ("and", "or"):
            return junction(parts, _INFIX[node.op])
        return joined(parts, _INFIX[node.op])

    def _quantified(self, node: Quantified, scope: Scope) -> Block:
        if node.kind == "count":
            return closed("Cardinality(", self._set(node.binders, node.body, scope), ")")
        heads, inner = self.bind(node.binders, scope)
        sign = "\\A" if node.kind == "forall" else "\\E"
        return headed(f"{sign} {', '.join(heads)} :", self.expr(node.body, inner))

    def _set(self, binders: Sequence[Local], body: Expr, scope: Scope) -> Block:
        heads, inner = self.bind(binders, scope)
        if len(binders) == 1:
            return closed("{", headed(f"{heads[0]} :", self.expr(body, inner)), "}")
        names = ", ".join(inner[binder.name] for binder in binders)
        sets = " \\X ".join(self.domain(binder.type) for binder in binders)
        return closed("{", headed(f"<<{names}>> \\in {sets} :", self.expr(body, inner)), "}")

    def _store(self, node: Store, scope: Scope) -> Block:
        """``[f EXCEPT ![k] = v]``; an entry outside the instance leaves the function as it is."""
        source = self.expr(node.map, scope)
        keys = ", ".join(one_line(self.expr(key, scope)) for key in node.keys)
        value = self.expr(node.value, scope)
        change = closed(f"![{keys}] = ", value, "]")
        line = f"[{source[0]} EXCEPT {change[0]}"
        changed = (
            [line]
            if len(source) == len(change) == 1 and len(line) <= WIDTH
            else [*after("[", source), *indented(after("EXCEPT ", change))]
        )
        test = self.in_bounds(map_type(node.map).keys, node.keys, scope)
        return _if([test], changed, source) if test else changed


def junction(parts: Sequence[Block], sign: str) -> Block:
    """A conjunction or disjunction: on one line, or as a list with the sign in front of each part."""
    line = f" {sign} ".join(part[0] for part in parts)
    if all(len(part) == 1 for part in parts) and len(line) <= WIDTH:
        return [line]
    return [line for part in parts for line in after(f"{sign} ", part)]


def _if(test: Block, then: Block, other: Block) -> Block:
    line = f"IF {test[0]} THEN {then[0]} ELSE {other[0]}"
    if all(len(block) == 1 for block in (test, then, other)) and len(line) <= WIDTH:
        return [line]
    return [*after("IF ", test), *after("THEN ", then), *after("ELSE ", other)]
