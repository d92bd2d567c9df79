"""One action as Promela: a macro for its guard, an inline for its effect with the claims about the step."""

import re
from collections.abc import Mapping, Sequence

from tidemark.models.exports.promela.expressions import Scope, Writer, within
from tidemark.models.exports.text.layout import indented
from tidemark.models.exports.text.names import short_name
from tidemark.models.exports.text.out_of_bounds import beyond, in_step
from tidemark.spec.language.expr import (
    FALSE,
    TRUE,
    Apply,
    Const,
    Expr,
    MapComprehension,
    Quantified,
    Read,
    Select,
    Store,
    Variable,
    children,
    free_locals,
    map_type,
    rebuild,
    variables_read,
    walk,
)
from tidemark.spec.language.fold import conjunction, negation
from tidemark.spec.language.spec import Action, Property
from tidemark.spec.language.types import BOOL, MapType

WITNESSES = "WITNESSES"
"""Macro that switches the search for witnesses on."""


FOUND = "found"
"""Macro that lets a flag fall once, with a failed assertion."""

PLACE = Variable("place_of_entry_", BOOL)
"""Stands for a scratch number: the place of an entry."""


class StepWriter:
    """Writes the actions of one instance."""

    def __init__(self, writer: Writer, flags: Mapping[str, str], scratch: dict[Variable, str]) -> None:
        self.writer, self.flags, self.scratch = writer, flags, scratch
        self.spec = writer.instance.spec

    def write(self, action: Action) -> list[str]:
        """Guard and effect."""
        writer = self.writer
        name = writer.names.declare(action.name)
        scope: dict[str, str] = {}
        for param in action.params:
            scope[param.name] = writer.names.bind(param, scope)
        params = list(scope.values())
        writer.begin(f"{name}_enabled")
        guard = writer.bracketed(conjunction(*(part.expr for part in action.guards)), scope)
        writer.define(self.guard_name(action), params, guard)
        writer.begin(name)
        body = self._effect(action, scope)
        head = f"inline {name}({', '.join(params)}) {{"
        return [*writer.take_macros(), head, *indented(_separated(body)), "}"]

    def guard_name(self, action: Action) -> str:
        """Name of the macro for the guard."""
        return self.writer.names.declare(f"{self.writer.names.declare(action.name)}_enabled")

    def _effect(self, action: Action, scope: Scope) -> list[list[str]]:
        claims = self._claims(action)
        tests, tested = self._tests(action, scope)
        direct = self._direct(action, tested | self._primed(claims))
        kept = [(v, e) for v, e in action.updates if v not in direct]
        before: list[list[str]] = []
        for variable, expr in kept:
            before += self._assign(variable, self._next(variable), expr, scope)
        tests += [self._within(variable, expr) for variable, expr in kept if variable in tested]
        then = self._claim_statements(claims, scope)
        for variable in direct:
            expr = action.update_of(variable)
            then += self._assign(variable, self.writer.variable(variable), expr, scope)
        for variable, _ in kept:
            then += self._copy(variable, self._next(variable), self.writer.variable(variable))
        if not tests:
            return before + (then or [["skip"]])
        inner = indented(_separated(then or [["skip"]]), 3)
        head = f":: {' && '.join(tests)} ->"
        return [*before, ["if", head, *inner, ":: else  /* the step leaves the bounds */", "fi"]]

    def _next(self, variable: Variable) -> str:
        name = self.writer.variable(variable, primed=True)
        self.scratch[variable] = name
        return name

    # ---- variables that can be assigned at once ----

    def _direct(self, action: Action, barred: set[Variable]) -> list[Variable]:
        """Variables that need no scratch copy, each one after all that read it."""
        waiting = [v for v, expr in action.updates if v not in barred and _reads_itself_safely(v, expr)]
        readers = {
            v: {u for u in waiting if u != v and v in variables_read(action.update_of(u))} for v in waiting
        }
        order: list[Variable] = []
        while waiting:
            free = [v for v in waiting if not readers[v] & set(waiting)]
            if not free:
                waiting.pop()
                continue
            order.append(free[0])
            waiting.remove(free[0])
        return order

    # ---- bounds ----

    def _tests(self, action: Action, scope: Scope) -> tuple[list[str], set[Variable]]:
        """Conditions under which the step stays inside, and the variables whose new value must be tested."""
        writer, ranges = self.writer, self.writer.ranges
        found: list[str] = []
        for item in beyond(ranges, action):
            keys = " && ".join(writer.in_bounds(kind, key, scope) for kind, key in item.keys)
            other = negation(conjunction(*item.conditions, item.differs))
            if other == FALSE:
                found.append(keys)
                continue
            text = f"({writer.short(other, scope)})"
            found.append(f"({keys} || {text})" if "&&" not in keys else f"(({keys}) || {text})")
        tested = {v for v, expr in action.updates if not self._stays(v, expr)}
        return found, tested

    def _stays(self, variable: Variable, expr: Expr) -> bool:
        kind = variable.type
        if not isinstance(kind, MapType):
            return self.writer.ranges.covers(kind, expr)
        value = kind.value

        def table(node: Expr) -> bool:
            match node:
                case Store(map=source, value=new):
                    return table(source) and self.writer.ranges.covers(value, new)
                case MapComprehension(body=body):
                    return self.writer.ranges.covers(value, body)
                case Apply(args=(_, then, other)):
                    return table(then) and table(other)
            return not (isinstance(node, Read) and node.variable.constant)

        return table(expr)

    def _within(self, variable: Variable, expr: Expr) -> str:
        kind, name = variable.type, self._next(variable)
        if not isinstance(kind, MapType):
            return within(name, *self.writer.ranges.domain(kind), span=self.writer.ranges.span(expr))
        low, high = self.writer.ranges.domain(kind.value)
        cells = [f"{name}[{place}]" for place in range(self._size(kind))]
        return " && ".join(within(cell, low, high, span=(low - 1, high + 1)) for cell in cells)

    # ---- claims ----

    def _claims(self, action: Action) -> list[tuple[Property, Expr]]:
        """Negated transition invariants, and witnesses, as this action's steps can decide them."""
        found: list[tuple[Property, Expr]] = []
        for prop in self.spec.properties:
            if prop.kind == "transition_invariant":
                body = Quantified(BOOL, "forall", prop.params, prop.expr) if prop.params else prop.expr
                found.append((prop, negation(in_step(body, action))))
            elif prop.kind == "reachable" and prop.after == action.name:
                found.append((prop, in_step(prop.expr, action)))
        return [(prop, expr) for prop, expr in found if expr != FALSE]

    def _primed(self, claims: Sequence[tuple[Property, Expr]]) -> set[Variable]:
        return {
            node.variable
            for _, expr in claims
            for node in walk(expr)
            if isinstance(node, Read) and node.primed
        }

    def _claim_statements(self, claims: Sequence[tuple[Property, Expr]], scope: Scope) -> list[list[str]]:
        done: list[list[str]] = []
        name = self.writer.owner
        for prop, expr in claims:
            macro = self.writer.names.declare(
                f"{name}_{'shows' if prop.kind == 'reachable' else 'breaks'}_{short_name(prop)}"
            )
            self.writer.begin(macro)
            used = [scope[local] for local in sorted(free_locals(expr))]
            self.writer.define(macro, used, self.writer.bracketed(expr, scope))
            call = f"{macro}({', '.join(used)})" if used else macro
            flag = self.flags[prop.id]
            block = ["if", f":: {FOUND}({flag}, {call})", ":: else", "fi"]
            if prop.kind == "reachable":
                block = [f"#ifdef {WITNESSES}", *block[:-1], "fi;", "#endif"]
            done.append(block)
        self.writer.begin(name)
        return done

    # ---- assignments ----

    def _assign(self, variable: Variable, target: str, expr: Expr, scope: Scope) -> list[list[str]]:
        if not isinstance(variable.type, MapType):
            return [[f"{target} = {self.writer.short(expr, scope)}"]]
        return self._table(target, self.writer.variable(variable), expr, scope)

    def _table(self, target: str, own: str, node: Expr, scope: Scope) -> list[list[str]]:
        """Statements that make the array ``target`` hold a map; ``own`` is the array that it replaces."""
        kind = map_type(node)
        match node:
            case Read(variable=variable) if not variable.constant:
                return self._copy(variable, self.writer.variable(variable), target)
            case Read() | MapComprehension():
                return self._each(target, node, scope)
            case Store(map=source, keys=keys, value=value):
                index, before = self.writer.index(kind, keys, scope)[0], ""
                arrays = re.findall(r"(\w+)\[", f"{target}[{index}")
                if len({*arrays}) < len(arrays):  # Spin refuses a[a[0]] = 1
                    place = self.scratch.setdefault(PLACE, self.writer.names.declare(PLACE.name))
                    index, before = place, f"{place} = {index}; "
                put = [f"{before}{target}[{index}] = {self.writer.short(value, scope)}"]
                tests = [
                    self.writer.in_bounds(k, key, scope)
                    for k, key in zip(kind.keys, keys, strict=True)
                    if not self.writer.ranges.covers(k, key)
                ]
                if tests:
                    put = ["if", f":: {' && '.join(tests)} -> {put[0]}", ":: else", "fi"]
                return [*self._table(target, own, source, scope), put]
            case Apply(op="ite", args=(condition, then, other)):
                test = self.writer.short(condition, scope)
                one, two = (
                    indented(_separated(self._table(target, own, part, scope) or [["skip"]]), 3)
                    for part in (then, other)
                )
                return [["if", f":: {test} ->", *one, ":: else ->", *two, "fi"]]
        raise TypeError(f"not a map: {node}")

    def _each(self, target: str, node: Expr, scope: Scope) -> list[list[str]]:
        writer, kind = self.writer, map_type(node)
        if not isinstance(node, MapComprehension):
            return [
                [f"{target}[{place}] = {writer.short(Select(kind.value, node, at), scope)}"]
                for place, at in enumerate(writer.instance.keys(kind))
            ]
        if isinstance(node.body, Const):
            value = writer.literal(kind.value, node.body.value)
            return [[f"{target}[{place}] = {value}"] for place in range(self._size(kind))]
        calls = writer.calls(node.binders, node.body, scope)
        return [[f"{target}[{place}] = {call}"] for place, (_, call) in enumerate(calls)]

    def _copy(self, variable: Variable, source: str, target: str) -> list[list[str]]:
        if source == target:
            return []
        if not isinstance(variable.type, MapType):
            return [[f"{target} = {source}"]]
        return [[f"{target}[{place}] = {source}[{place}]"] for place in range(self._size(variable.type))]

    def _size(self, kind: MapType) -> int:
        return sum(1 for _ in self.writer.instance.entries(kind))


def _reads_itself_safely(variable: Variable, expr: Expr) -> bool:
    """May the variable be overwritten entry by entry while its new value is computed from the old one?"""
    if not isinstance(variable.type, MapType):
        return True
    if isinstance(expr, Store) and expr.map == Read(variable.type, variable):
        return True
    if isinstance(expr, MapComprehension):
        own = Select(variable.type.value, Read(variable.type, variable), expr.binders)
        rest = _without(expr.body, own)
        return variable not in variables_read(rest)
    return variable not in variables_read(expr)


def _without(node: Expr, part: Expr) -> Expr:
    if node == part:
        return TRUE
    return rebuild(node, tuple(_without(child, part) for child in children(node)))


def _separated(statements: Sequence[list[str]]) -> list[str]:
    """Statements one after the other; preprocessor lines bring their own separators."""
    lines: list[str] = []
    for number, block in enumerate(statements):
        last = number == len(statements) - 1 or block[-1].startswith("#")
        lines += block if last else [*block[:-1], block[-1] + ";"]
    return lines
