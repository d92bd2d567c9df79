"""The whole text of a kernel: one function per action, one over all actions, one for the conditions on
states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.models.instance import Instance
from tidemark.models.native.codec import Codec
from tidemark.models.native.codegen.actions import (
    CHECK_ARGS,
    EXPAND_ARGS,
    ActionWriter,
    Claim,
    Numbering,
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

VERSION = 1


@dataclass(frozen=True)
class Plan:
    """What the numbers in a kernel's results mean."""

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


def kernel_text(instance: Instance, codec: Codec) -> str:
    """LLVM text of an instance's kernel: ``expand`` and ``check``."""
    layout, shape, tables = plan(instance), Shape(instance), Tables()
    claims = [Claim(index, prop) for index, prop in enumerate(layout.step_claims)]

    def translator() -> Translator:
        return Translator(instance, codec, Emitter(), shape=shape, tables=tables)

    functions = [
        ActionWriter(
            action,
            Numbering(number, layout.first_step[number], layout.first_guard[number]),
            claims,
            translator(),
            codec.words,
        ).write()
        for number, action in enumerate(instance.spec.actions)
    ]
    broken = [violation(prop) for prop in layout.state_claims]
    functions += [
        _expand(len(functions)),
        write_conditions("check", broken, translator(), codec.words),
    ]
    return _module(instance, codec, functions, tables)


def conditions_text(instance: Instance, codec: Codec, conditions: Sequence[Expr]) -> str:
    """LLVM text of ``check`` for any conditions on single states."""
    tables = Tables()
    translator = Translator(instance, codec, Emitter(), shape=Shape(instance), tables=tables)
    return _module(instance, codec, [write_conditions("check", conditions, translator, codec.words)], tables)


def _expand(actions: int) -> str:
    names = ", ".join(
        part.replace("noalias ", "").replace("readonly ", "") for part in EXPAND_ARGS.split(", ")
    )
    calls = [f"  call void @action_{number}({names})" for number in range(actions)]
    return "\n".join([f"define void @expand({EXPAND_ARGS}) {{", "entry:", *calls, "  ret void", "}", ""])


def _module(instance: Instance, codec: Codec, functions: Sequence[str], tables: Tables) -> str:
    lines = [
        f"; kernel of {instance.protocol}, layout of {codec.words} words, version {VERSION}",
        *_layout_comment(codec),
        "declare i64 @llvm.umin.i64(i64, i64)",
        *_constants(instance, tables),
        "",
        *functions,
    ]
    return "\n".join(lines)


def _layout_comment(codec: Codec) -> list[str]:
    lines = []
    for field in codec.fields:
        runs = (
            ", ".join(f"{run.count} from word {run.word} bit {run.shift}" for run in field.runs) or "constant"
        )
        lines.append(f"; {field.variable.name}: {field.entries} x {field.bits} bits: {runs}")
    return lines


def _constants(instance: Instance, tables: Tables) -> list[str]:
    lines = []
    for variable in instance.spec.constants:
        if variable.name in tables and isinstance(variable.type, MapType):
            value = variable.type.value
            cells = [literal(value, item) for item in instance.map_constants[variable.name]]
            text = ", ".join(f"i64 {cell.low}" for cell in cells)
            lines.append(f"{tables[variable.name][0]} = internal constant [{len(cells)} x i64] [{text}]")
    return lines


__all__ = ["CHECK_ARGS", "Plan", "conditions_text", "kernel_text", "plan", "violation"]
