"""The whole Promela model of an instance."""

import itertools
from collections.abc import Sequence

from tidemark.models.exports.promela.expressions import Writer, storage
from tidemark.models.exports.promela.steps import FOUND, WITNESSES, StepWriter
from tidemark.models.exports.text.layout import indented
from tidemark.models.exports.text.names import short_name
from tidemark.models.instance import BadInstance, Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.spec.language.expr import Value, Variable
from tidemark.spec.language.spec import Action, Property, Spec
from tidemark.spec.language.types import EnumType, MapType, Type

INITIAL_LIMIT = 2_000
"""Most initial states that are written out."""


def flags(spec: Spec) -> dict[str, Property]:
    """The hidden flags of a model: a flag falls, with a failed assertion, when its property is decided.
    ``..._holds`` falls when an invariant is broken, ``..._unseen`` when a witness is reached.
    """
    return {
        f"{short_name(prop)}_{'unseen' if prop.kind == 'reachable' else 'holds'}": prop
        for prop in spec.properties
        if prop.kind != "leads_to"
    }


def to_promela(instance: Instance) -> str:
    """The model as text. Raises BadInstance, also for too many initial states to write out."""
    return _Model(instance).text()


class _Model:
    def __init__(self, instance: Instance) -> None:
        self.instance, self.spec = instance, instance.spec
        self.interpreter = Interpreter(instance)
        self.writer = Writer(instance)
        self.flags = {prop.id: flag for flag, prop in flags(self.spec).items()}
        for flag in self.flags.values():
            self.writer.names.declare(flag)
        for variable in (*self.spec.variables, *self.spec.constants):
            self.writer.names.declare(variable.name)
        self.scratch: dict[Variable, str] = {}
        self.steps = StepWriter(self.writer, self.flags, self.scratch)
        self.initial = list(itertools.islice(self.interpreter.initial(), INITIAL_LIMIT + 1))
        if len(self.initial) > INITIAL_LIMIT:
            raise BadInstance(
                f"{instance.name}: more than {INITIAL_LIMIT} initial states; "
                f"a Promela model writes each one out: choose narrower bounds"
            )

    def text(self) -> str:
        actions = [
            line
            for action in self.spec.actions
            for line in (f"/* {action.name}: {_line(action.description)} */", *self.steps.write(action), "")
        ]
        claims = [line for prop in self.spec.of_kind("invariant", "lemma") for line in self._claim(prop)]
        process = self._process()
        parts = [self._head(), self._constants(), self._state(), self._scratch(), actions, claims, process]
        return "\n".join("\n".join(part) + "\n" for part in parts if part)

    def _head(self) -> list[str]:
        options = ", ".join(f"{name} = {_shown(value)}" for name, value in sorted(self.spec.options.items()))
        several = (
            "There are several initial states: the state before the choice is one more, and so is its count."
        )
        lines = [
            f"{self.spec.name}: {_line(self.spec.doc)}",
            "",
            f"Instance {self.instance.name}: {self.instance.bounds_text()}.",
            *([f"Constants that are put in: {options}."] if options else []),
            "",
            "Each step is one option of one process. A step that leaves the bounds changes nothing, so that",
            "it is generated but not followed. A claim that breaks makes its flag fall, once, with a failed",
            "assertion; an invariant is looked at in an option of its own: one transition more if it breaks.",
            *([several] if len(self.initial) > 1 else []),
            f"With -D{WITNESSES} the witnesses are searched too: their assertions must fail.",
            "",
            "spin -o2 -a MODEL && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -c0 -m1000000",
        ]
        live = [short_name(prop) for prop in self.spec.of_kind("leads_to")]
        if live:
            lines += ["", f"Not here, for they speak about infinite runs: {', '.join(live)}."]
        return ["/*", *(f" * {line}".rstrip() for line in lines), " */"]

    def _constants(self) -> list[str]:
        lines = list(self.writer.helpers.values())
        for kind in self.spec.types:
            if isinstance(kind, EnumType):
                lines += [
                    f"#define {self.writer.member(kind, member)} {number}"
                    for number, member in enumerate(kind.members)
                ]
        for variable in self.spec.constants:
            lines += self._constant(variable)
        return lines

    def _constant(self, variable: Variable) -> list[str]:
        """A map constant as a macro of its keys; its value outside is the last alternative."""
        kind, name = variable.type, self.writer.names.declare(variable.name)
        assert isinstance(kind, MapType)
        out_of_bounds = self.instance.out_of_bounds_value(variable)
        params = [f"key{number}" if len(kind.keys) > 1 else "key" for number in range(1, len(kind.keys) + 1)]
        text = self.writer.literal(kind.value, out_of_bounds)
        values = self.instance.map_constants[variable.name]
        for at, value in reversed(list(zip(self.instance.entries(kind), values, strict=True))):
            if value != out_of_bounds:
                test = " && ".join(
                    f"({param}) == {self.writer.literal(k, v)}"
                    for param, k, v in zip(params, kind.keys, at, strict=True)
                )
                text = f"({test} -> {self.writer.literal(kind.value, value)} : {text})"
        return [f"/* {kind} */", f"#define {name}({', '.join(params)}) {text}"]

    def _state(self) -> list[str]:
        single = self.initial[0] if len(self.initial) == 1 else None
        lines = ["/* The state; maps are arrays, row-major. */"]
        for slot, variable in enumerate(self.spec.variables):
            kind, name = variable.type, self.writer.variable(variable)
            if isinstance(kind, MapType):
                size = sum(1 for _ in self.instance.entries(kind))
                keys = ", ".join(f"{d.type} {_range(d.values)}" for d in self.instance.domains(kind.keys))
                start = f" = {self._array(kind.value, single[slot])}" if single else ""
                text = f"{storage(kind.value, self.instance)} {name}[{size}]{start};"
                lines.append(f"{text:<40} /* {kind.value} by {keys} */")
            else:
                start = f" = {self.writer.literal(kind, single[slot])}" if single else ""
                text = f"{storage(kind, self.instance)} {name}{start};"
                lines.append(f"{text:<40} /* {kind} {_range(self.instance.domain(kind).values)} */")
        return lines

    def _array(self, kind: Type, values: Sequence[Value]) -> str:
        """One value for all entries, or a list."""
        texts = [self.writer.literal(kind, value) for value in values]
        return texts[0] if len(set(texts)) == 1 else "{" + ", ".join(texts) + "}"

    def _scratch(self) -> list[str]:
        lines: list[str] = []
        for variable, name in self.scratch.items():
            kind = variable.type
            size = f"[{sum(1 for _ in self.instance.entries(kind))}]" if isinstance(kind, MapType) else ""
            lines.append(f"hidden int {name}{size};")
        lines += [f"hidden byte {flag} = true;" for flag in self.flags.values()]
        if not lines:
            return []
        macro = f"#define {FOUND}(flag, condition) flag && condition -> flag = false; assert(flag)"
        return ["/* Not part of the state: values after a step, and what was found. */", *lines, macro]

    def _claim(self, prop: Property) -> list[str]:
        name = self.writer.names.declare(short_name(prop))
        self.writer.begin(name)
        self.writer.define(name, (), self.writer.bracketed(prop.expr, {}))
        return [f"/* {short_name(prop)}: {_line(prop.description)} */", *self.writer.take_macros(), ""]

    def _process(self) -> list[str]:
        options = [f":: d_step {{ {self._call(action, values)} }}" for action, values in self._instances()]
        for prop in self.spec.of_kind("invariant", "lemma"):
            flag, name = self.flags[prop.id], self.writer.names.declare(short_name(prop))
            options.append(f":: d_step {{ {FOUND}({flag}, !{name}) }}")
        name = self.writer.names.declare(f"run_{self.spec.name}")
        body = [*self._choice(), "end:", "do", *(options or [":: false"]), "od"]
        return [f"active proctype {name}() {{", *indented(body), "}"]

    def _instances(self) -> list[tuple[Action, tuple[Value, ...]]]:
        return [(self.spec.action(step.action), step.args) for step in self.interpreter.steps]

    def _call(self, action: Action, values: tuple[Value, ...]) -> str:
        given = ", ".join(self.writer.literal(p.type, v) for p, v in zip(action.params, values, strict=True))
        guard = self.steps.guard_name(action)
        head = f"{guard}({given})" if action.params else guard
        return f"{head} -> {self.writer.names.declare(action.name)}({given})"

    def _choice(self) -> list[str]:
        if len(self.initial) == 1:
            return []
        return ["if", *(f":: d_step {{ true -> {self._start(state)} }}" for state in self.initial), "fi;"]

    def _start(self, state: State) -> str:
        found: list[str] = []
        for variable, value in zip(self.spec.variables, state, strict=True):
            name, kind = self.writer.variable(variable), variable.type
            if isinstance(kind, MapType):
                found += [
                    f"{name}[{at}] = {self.writer.literal(kind.value, item)}" for at, item in enumerate(value)
                ]
            else:
                found.append(f"{name} = {self.writer.literal(kind, value)}")
        return "; ".join(found)


def _line(text: str) -> str:
    return " ".join(text.split()).replace("*/", "* /")


def _range(values: tuple[object, ...]) -> str:
    return f"{_shown(values[0])}..{_shown(values[-1])}" if len(values) > 1 else _shown(values[0])


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
