"""The whole TLA+ module of a protocol, with the configuration of one instance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from models.instance import Instance
from models.text.beyond import beyond
from models.text.layout import Block, after, closed, headed, indented, joined
from models.text.names import short_name
from models.text.ranges import is_number
from models.tla.expressions import OPERATORS, Writer, junction
from spec.language.expr import Apply, Expr, Quantified, Value, Variable
from spec.language.spec import Action, Property
from spec.language.types import EnumType, MapType, NumberType, SortType, Type

BEYOND = "beyond"
"""Name of the variable that says that a map was changed outside the instance."""


_BRANCHING = ("or", "implies", "ite")


@dataclass(frozen=True)
class TlaModule:
    """``name``: module and file name. ``safety`` and ``liveness`` are two configurations of TLC; the second
    one is empty if there is no property about infinite runs.
    """

    name: str
    text: str
    safety: str
    liveness: str


def to_tla(instance: Instance) -> TlaModule:
    """The protocol as TLA+, with the bounds and constants of the instance. Errors: BadInstance."""
    return _Module(instance).module()


class _Module:
    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.spec = instance.traced()
        self.writer = Writer(instance)
        assert instance.map_constants is not None  # every constant has a value, or BadInstance
        names = self.writer.names
        self.constants: dict[str, str] = {}
        for variable in (*self.spec.constants, *self.spec.variables):
            names.declare(variable.name)
        for kind in self.spec.types:
            names.declare(kind.name)
        for action in self.spec.actions:
            names.declare(action.name)
        for prop in self.spec.properties:
            names.declare(short_name(prop))
        self.leaving = {action.name: beyond(self.writer.ranges, action) for action in self.spec.actions}
        self.marks = any(self.leaving.values())
        self.bounded = bool(self._bounds())

    def module(self) -> TlaModule:
        """Text and configurations."""
        actions = [self._action(action) for action in self.spec.actions]
        claims = [self._claim(prop) for prop in self.spec.properties]
        parts = [
            self._head(),
            self._declarations(),
            self._initial(),
            *actions,
            self._next(),
            self._fairness(),
            *claims,
        ]
        helpers = [OPERATORS[name] for name in OPERATORS if name in self.writer.used]
        parts.insert(2, [*helpers, ""] if helpers else [])
        title = f" MODULE {self.spec.name} "
        lines = [title.center(78, "-"), *(line for part in parts for line in part), "=" * 78]
        return TlaModule(self.spec.name, "\n".join(lines) + "\n", self._safety(), self._liveness())

    def _head(self) -> Block:
        return [*_comment(self.spec.doc), "EXTENDS Integers, FiniteSets, TLC", ""]

    # ---- constants, domains, variables ----

    def _declarations(self) -> Block:
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
        return [*lines, "", *headed("vars ==", _tuple(names))]

    def _type(self, kind: Type) -> str:
        if not isinstance(kind, MapType):
            return f"\\in {self.writer.domain(kind)}"
        keys = " \\X ".join(self.writer.domain(key) for key in kind.keys)
        return f"\\in [{keys} -> {self.writer.domain(kind.value)}]"

    # ---- initial states, bounds ----

    def _initial(self) -> Block:
        parts = [self._start(variable) for variable in self.spec.variables]
        parts += [
            _condition(self.writer.expr(part, {}), part)
            for whole in self.spec.initially
            for part in _conjuncts(whole)
        ]
        if self.marks:
            parts.append([f"{BEYOND} = FALSE"])
        lines = ["Init ==", *indented(_list(parts)), ""]
        if not self.bounded:
            return lines
        note = "States outside the bounds are generated, but neither counted nor expanded (CONSTRAINT)."
        return [
            *lines,
            f"\\* {note}",
            "WithinBounds ==",
            *indented(_list([[part] for part in self._bounds()])),
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

    def _bounds(self) -> list[str]:
        found = [f"~{BEYOND}"] if self.marks else []
        for variable in self.spec.variables:
            kind, name = variable.type, self.writer.names.declare(variable.name)
            if isinstance(kind, MapType):
                if is_number(kind.value):
                    keys = ", ".join(f"k{n} \\in {self.writer.domain(k)}" for n, k in enumerate(kind.keys, 1))
                    at = ", ".join(f"k{n}" for n in range(1, len(kind.keys) + 1))
                    found.append(f"\\A {keys} : {name}[{at}] \\in {self.writer.domain(kind.value)}")
            elif is_number(kind):
                found.append(f"{name} \\in {self.writer.domain(kind)}")
        return found

    # ---- actions ----

    def _action(self, action: Action) -> Block:
        names = self.writer.names
        scope: dict[str, str] = {}
        for param in action.params:
            scope[param.name] = names.bind(param, scope)
        head = names.declare(action.name) + (f"({', '.join(scope.values())})" if scope else "")
        parts: list[Block] = []
        for guard in action.guards:
            parts += [_condition(self.writer.expr(part, scope), part) for part in _conjuncts(guard.expr)]
        written = {variable.name for variable in action.writes}
        for variable, expr in action.updates:
            name = names.declare(variable.name)
            block = (
                self.writer.expr(expr, scope)
                if isinstance(variable.type, MapType)
                else self.writer.closed(expr, scope)
            )
            parts.append(_assignment(f"{name}' =", block))
        parts += self._mark(action, scope)
        same = [names.declare(v.name) for v in self.spec.variables if v.name not in written]
        if self.marks and not self.leaving[action.name]:
            same.append(BEYOND)
        if same:
            parts.append(after("UNCHANGED ", _tuple(same)))
        return [*_comment(action.sentence, action.source), f"{head} ==", *indented(_list(parts)), ""]

    def _mark(self, action: Action, scope: dict[str, str]) -> list[Block]:
        """``beyond'``: did a store change a map at a key that the instance does not have?"""
        cases: list[Block] = []
        for item in self.leaving[action.name]:
            conditions = [self.writer.closed(part, scope) for part in (*item.conditions, item.differs)]
            kinds, keys = zip(*item.keys, strict=True)
            inside = self.writer.inside(kinds, keys, scope)
            cases.append(junction([[f"~({inside})"], *conditions], "/\\"))
        if not cases:
            return []
        body = cases[0] if len(cases) == 1 else junction([_bracket(case) for case in cases], "\\/")
        return [_assignment(f"{BEYOND}' =", _bracket(body))]

    def _next(self) -> Block:
        parts = [self._steps(action) for action in self.spec.actions]
        return ["Next ==", *indented([line for part in parts for line in after("\\/ ", [part])]), ""]

    def _steps(self, action: Action) -> str:
        head, call = self._call(action)
        return f"\\E {head} : {call}" if head else call

    def _call(self, action: Action) -> tuple[str, str]:
        heads, scope = self.writer.bind(action.params, {})
        name = self.writer.names.declare(action.name)
        given = [scope[param.name] for param in action.params]
        return ", ".join(heads), f"{name}({', '.join(given)})" if given else name

    # ---- fairness and properties ----

    def _fairness(self) -> Block:
        parts = self._fair(self.spec.actions)
        lines = ["Spec == Init /\\ [][Next]_vars", ""]
        if not parts:
            return lines
        note = "Fairness is meant for each action with each value of its parameters."
        return [*lines, f"\\* {note}", "Fairness ==", *indented(_list(parts)), ""]

    def _fair(self, actions: Iterable[Action]) -> list[Block]:
        found: list[Block] = []
        for action in actions:
            if action.fairness == "none":
                continue
            head, call = self._call(action)
            text = f"{'SF' if action.fairness == 'strong' else 'WF'}_vars({call})"
            found.append([f"\\A {head} : {text}" if head else text])
        return found

    def _claim(self, prop: Property) -> Block:
        name = self.writer.names.declare(short_name(prop))
        comment = _comment(prop.sentence, prop.source)
        match prop.kind:
            case "invariant" | "lemma":
                return [*comment, *headed(f"{name} ==", self._guarded(prop.expr)), ""]
            case "transition_invariant":
                expr = (
                    Quantified(prop.expr.type, "forall", prop.params, prop.expr) if prop.params else prop.expr
                )
                body = self._guarded(expr, primed=True)
                return [*comment, *headed(f"{name} ==", closed("[][", body, "]_vars")), ""]
            case "reachable":
                return [
                    *_comment(f"Witness, wanted to be violated: {prop.sentence}", prop.source),
                    *self._witness(name, prop),
                    "",
                ]
        return [*comment, *self._leads_to(name, prop), ""]

    def _guarded(self, expr: Expr, *, primed: bool = False) -> Block:
        """The claim, of states within the bounds: TLC may look at the others before it drops them."""
        if not self.bounded:
            return self.writer.expr(expr, {})
        bounds = "WithinBounds'" if primed else "WithinBounds"
        return headed(f"{bounds} =>", self.writer.closed(expr, {}))

    def _witness(self, name: str, prop: Property) -> Block:
        action = self.spec.action(prop.after)
        heads, scope = self.writer.bind(action.params, {})
        given = [scope[param.name] for param in action.params]
        call = self.writer.names.declare(action.name) + (f"({', '.join(given)})" if given else "")
        within = [["WithinBounds'"]] if self.bounded else []
        body = junction([[call], *within, self.writer.closed(prop.expr, scope)], "/\\")
        inner = headed(f"\\E {', '.join(heads)} :", body) if heads else body
        return headed(f"{name} ==", closed("[][~(", inner, ")]_vars"))

    def _leads_to(self, name: str, prop: Property) -> Block:
        heads, scope = self.writer.bind(prop.params, {})
        premise, goal = self.writer.closed(prop.premise, scope), self.writer.closed(prop.expr, scope)
        claim = joined([premise, goal], "~>")
        if heads:
            claim = headed(f"\\A {', '.join(heads)} :", claim)
        fair = [action for action in self.spec.actions if action.name not in prop.without]
        assumed = self._fair(fair)
        lines: Block = []
        condition = "Fairness"
        if prop.without and len(assumed) != len(self._fair(self.spec.actions)):
            condition = self.writer.names.declare(f"Fairness_of_{name}")
            lines = [f"{condition} ==", *indented(_list(assumed or [["TRUE"]])), ""]
        if not assumed:
            return [*lines, *headed(f"{name} ==", claim)]
        return [*lines, *headed(f"{name} ==", headed(f"{condition} =>", _bracket(claim)))]

    # ---- configurations ----

    def _safety(self) -> str:
        names = self.writer.names
        lines = self._configuration()
        invariants = self.spec.of_kind("invariant", "lemma")
        steps = self.spec.of_kind("transition_invariant")
        if invariants:
            lines += ["INVARIANTS", *(f"  {names.declare(short_name(prop))}" for prop in invariants)]
        if steps:
            lines += ["PROPERTIES", *(f"  {names.declare(short_name(prop))}" for prop in steps)]
        return "\n".join(lines) + "\n"

    def _liveness(self) -> str:
        live = self.spec.of_kind("leads_to")
        if not live:
            return ""
        names = [f"  {self.writer.names.declare(short_name(prop))}" for prop in live]
        return "\n".join([*self._configuration(), "PROPERTIES", *names]) + "\n"

    def _configuration(self) -> list[str]:
        lines = [f"\\* Instance {self.instance.name}: {self.instance.bounds_text()}", "SPECIFICATION Spec"]
        if self.constants:
            lines += ["CONSTANTS", *(f"  {name} = {value}" for name, value in self.constants.items())]
        if self.bounded:
            lines.append("CONSTRAINT WithinBounds")
        return [*lines, "CHECK_DEADLOCK FALSE"]


def _conjuncts(node: Expr) -> tuple[Expr, ...]:
    if isinstance(node, Apply) and node.op == "and":
        return tuple(part for arg in node.args for part in _conjuncts(arg))
    return (node,)


def _condition(block: Block, node: Expr) -> Block:
    """A guard. TLC takes the parts of a disjunction or of an existential quantifier for different steps,
    and counts a successor for each; ``= TRUE`` makes them one Boolean.
    """
    branches = isinstance(node, Quantified) or (isinstance(node, Apply) and node.op in _BRANCHING)
    return closed("(", block, ") = TRUE") if branches else block


def _bracket(block: Block) -> Block:
    return closed("(", block, ")")


def _assignment(head: str, block: Block) -> Block:
    if len(block) == 1:
        return [f"{head} {block[0]}"]
    return after(f"{head} ", block)


def _list(parts: Sequence[Block]) -> Block:
    """A conjunction with one part a line, even if it is short."""
    return [line for part in parts for line in after("/\\ ", part)]


def _tuple(names: Sequence[str]) -> Block:
    lines, line = [], "<<"
    for number, name in enumerate(names):
        piece = name + (", " if number < len(names) - 1 else ">>")
        if len(line) + len(piece) > 90:
            lines.append(line.rstrip())
            line = "  "
        line += piece
    return [*lines, line]


def _comment(text: str, source: str = "") -> Block:
    words = " ".join(text.split()) + (f" ({source})" if source else "")
    lines, line = [], "\\*"
    for word in words.split():
        if len(line) + len(word) > 100:
            lines.append(line)
            line = "\\*"
        line += f" {word}"
    return [*lines, line] if words else []
