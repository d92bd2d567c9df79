"""The text of a kernel: a function per action, one over all actions, one for conditions on states."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.models.instance import Instance
from tidemark.models.native.codec import Codec
from tidemark.models.native.codegen.actions import (
    ACTION,
    CHECK_ARGS,
    EXPAND_ARGS,
    ActionWriter,
    Claim,
    write_conditions,
)
from tidemark.models.native.codegen.emitter import Emitter
from tidemark.models.native.codegen.expressions import Translator
from tidemark.models.native.codegen.reading import Tables, literal
from tidemark.models.native.codegen.shape import Shape
from tidemark.spec.language.expr import Expr, Quantified
from tidemark.spec.language.fold import negation
from tidemark.spec.language.spec import Property
from tidemark.spec.language.types import BOOL, MapType

VERSION = 3


@dataclass(frozen=True)
class Plan:
    """The meaning of the numbers in a kernel's results."""

    first_step: tuple[int, ...]
    first_guard: tuple[int, ...]
    steps: int
    guards: int
    state_claims: tuple[Property, ...]
    step_claims: tuple[Property, ...]


def plan(instance: Instance) -> Plan:
    """Numbers of steps, guards and claims, in declared order."""
    spec, shape = instance.spec, Shape(instance)
    first_step, first_guard, steps, guards = [], [], 0, 0
    for action in spec.actions:
        first_step.append(steps)
        first_guard.append(guards)
        steps += shape.product(*(param.type for param in action.params))
        guards += len(action.guards)
    return Plan(
        tuple(first_step),
        tuple(first_guard),
        steps,
        guards,
        spec.of_kind("invariant", "lemma"),
        spec.of_kind("transition_invariant", "reachable"),
    )


def violation(prop: Property) -> Expr:
    """The negation of an invariant; its parameters range over all values."""
    return negation(Quantified(BOOL, "forall", prop.params, prop.expr) if prop.params else prop.expr)


def kernel_modules(instance: Instance, codec: Codec) -> tuple[str, ...]:
    """LLVM texts of a kernel, a module for each function: those of the actions, ``expand``, which calls them,
    and ``check``. A function is named by its text, so that kernels share those that are the same.
    """
    layout, shape = plan(instance), Shape(instance)
    claims = [Claim(index, prop) for index, prop in enumerate(layout.step_claims)]

    def translator() -> Translator:
        return Translator(instance, codec, Emitter(), shape=shape, tables=Tables())

    actions, calls = [], []
    for number, action in enumerate(instance.spec.actions):
        own = translator()
        text = _module(instance, own.tables, ActionWriter(action, claims, own, codec.words).write())
        name = f"@action_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
        actions.append(text.replace(f"{ACTION}(", f"{name}("))
        calls.append(_call(name, number, layout))
    last = translator()
    broken = write_conditions("check", [violation(p) for p in layout.state_claims], last, codec.words)
    # Two actions may be the same function.
    return (*dict.fromkeys(actions), _expand(calls), _module(instance, last.tables, broken))


def conditions_text(instance: Instance, codec: Codec, conditions: Sequence[Expr]) -> str:
    """LLVM text of ``check`` for any conditions on single states."""
    translator = Translator(instance, codec, Emitter(), shape=Shape(instance), tables=Tables())
    function = write_conditions("check", conditions, translator, codec.words)
    return _module(instance, translator.tables, function)


_STATS, _FLAGS = "%stats", "%flags"


def _call(name: str, number: int, layout: Plan) -> tuple[str, list[str]]:
    """The name of an action's function, and the lines that call it with its own pointers."""
    stats, flags = f"{_STATS}.{number}", f"{_FLAGS}.{number}"
    given = ", ".join(
        part.replace("noalias ", "").replace("readonly ", "") for part in EXPAND_ARGS.split(", ")
    )
    given = given.replace(f"ptr {_STATS}", f"ptr {stats}").replace(f"ptr {_FLAGS}", f"ptr {flags}")
    return name, [
        f"  {stats} = getelementptr i64, ptr {_STATS}, i64 {3 * number}",
        f"  {flags} = getelementptr i8, ptr {_FLAGS}, i64 {layout.first_guard[number]}",
        f"  call void {name}({given}, i64 {layout.first_step[number]})",
    ]


def _expand(calls: Sequence[tuple[str, list[str]]]) -> str:
    kinds = ", ".join(part.split(" ")[0] for part in EXPAND_ARGS.split(", "))
    declared = [f"declare void {name}({kinds}, i64)" for name in dict.fromkeys(name for name, _ in calls)]
    body = [line for _, lines in calls for line in lines]
    head = f"define void @expand({EXPAND_ARGS}) {{"
    return "\n".join([f"; version {VERSION}", *declared, head, "entry:", *body, "  ret void", "}", ""])


def _module(instance: Instance, tables: Tables, function: str) -> str:
    lines = [
        f"; version {VERSION}",
        "declare i64 @llvm.umin.i64(i64, i64)",
        *_constants(instance, tables),
        "",
        function,
    ]
    return "\n".join(lines)


def _constants(instance: Instance, tables: Tables) -> list[str]:
    lines = []
    for variable in instance.spec.constants:
        if variable.name in tables and isinstance(variable.type, MapType):
            value = variable.type.value
            cells = [literal(value, item) for item in instance.map_constants[variable.name]]
            text = ", ".join(f"i64 {cell.low}" for cell in cells)
            lines.append(f"{tables[variable.name][0]} = internal constant [{len(cells)} x i64] [{text}]")
    return lines


__all__ = ["CHECK_ARGS", "Plan", "conditions_text", "kernel_modules", "plan", "violation"]
