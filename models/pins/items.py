"""The pinned parts of a protocol: state, steps, claims, variants, and readings of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tidemark.models.manifest import Pin
from tidemark.models.manifest.pins import KINDS, READING
from tidemark.models.pins.tree import digest_of, plain_action, plain_property, plain_tree
from tidemark.spec.language.expr import TRUE, Local, Value, Variable
from tidemark.spec.language.layout import layout
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.spec import Action, Property, Spec
from tidemark.spec.language.types import EnumType, MapType, NumberType, SortType, Type

STATE = "state"
"""Id of the declarations of a protocol: types, constants, variables with their initial values."""

ACTION = "action "
"""Prefix of the id of an action."""


@dataclass(frozen=True)
class Item:
    """One part of a traced protocol. ``meaning``: all that decides it; equal meanings are equal trees.
    ``plain`` gives it as lists, which are hashed, ``lines`` in the words of the language. ``kind``: of a
    property.
    """

    meaning: Any
    plain: Callable[[], Any]
    lines: Callable[[], Iterable[str]]
    kind: str = ""

    def said(self, name: str) -> Said:
        """The pin of this part, and its text."""
        return _said(name, self.plain(), self.lines(), kind=self.kind)


@dataclass(frozen=True)
class Said:
    """The pin of one part, and the text of the pin's second digest. ``claim``: of another revision."""

    pin: Pin
    text: str
    claim: Property | None = None


def _said(name: str, plain: Any, lines: Iterable[str], *, kind: str = "") -> Said:
    text = "".join(f"{line}\n" for line in lines)
    return Said(Pin(id=name, digest=digest_of(plain), wording=digest_of(text), kind=kind), text)


def said_by(protocol: str, variants: Iterable[str] = (), readings: Iterable[str] = ()) -> dict[str, Said]:
    """The parts of a protocol, its variants and readings (``module:Class``), by id, in fixed order. Raises
    SpecError.
    """
    base = resolve(protocol).trace()
    declared = _declared(base).items()
    state = [[name, item.plain()] for name, item in declared]
    found = {STATE: _said(STATE, state, [line for _, item in declared for line in item.lines()])}
    found |= {name: item.said(name) for name, item in _members(base).items()}
    for variant in sorted(set(variants) - {protocol}):
        found[variant] = _difference(base, resolve(variant).trace(), variant)
    found |= {READING + one: _reading(one).said(READING + one) for one in sorted(set(readings))}
    return found


def _reading(reference: str) -> Item:
    """A reading of another protocol: its step, its glue, and the assumption of the step."""
    from tidemark.models.composition.reading import joined, reading_of

    both = joined(reading_of(reference))
    glue, takes = both.glue.expr, both.goal.expr
    plain = ["reading", both.name, list(both.claims), plain_tree(glue), plain_tree(takes)]
    lines = [
        f"{both.step.name} relies on {', '.join(both.claims)}",
        *_hung("glue  ", layout(glue)),
        *_hung("takes ", layout(takes)),
    ]
    return _fixed(plain, *lines)


def _difference(base: Spec, variant: Spec, name: str) -> Said:
    ours, theirs = _declared(base) | _members(base), _declared(variant) | _members(variant)
    same = {one for one in {*ours} & {*theirs} if ours[one].meaning == theirs[one].meaning}
    changed = sorted({*ours, *theirs} - same)
    plain = [[one, theirs[one].plain() if one in theirs else None] for one in changed]
    lines: list[str] = []
    for one in changed:
        if one in theirs:
            lines += [
                one,
                *_changes(list(ours[one].lines() if one in ours else ()), list(theirs[one].lines())),
            ]
        else:
            lines.append(f"without {one}")
    said = _said(name, plain, lines or ["says the same as its base"])
    known = {prop.id for prop in base.properties}
    adds = tuple((str(prop.kind), prop.id) for prop in variant.properties if prop.id not in known)
    return replace(said, pin=said.pin.model_copy(update={"adds": adds}))


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    gone = [line for line in old if line not in new]
    come = [line for line in new if line not in old]
    yield from (f"  - {line}" for line in gone)
    yield from (f"  + {line}" for line in come)
    if not gone and not come:
        yield from (f"  + {line}" for line in new)  # the same lines in another order


def _members(spec: Spec) -> dict[str, Item]:
    found: dict[str, Item] = {}
    for action in sorted(spec.actions, key=lambda one: one.name):
        found[ACTION + action.name] = Item(
            _meaning(action), partial(plain_action, action), partial(_action, action)
        )
    claims = [(one, "assumption") for one in spec.assumptions]
    claims += [(one, str(one.kind)) for one in spec.properties]
    for prop, kind in sorted(claims, key=lambda pair: pair[0].id):
        meaning = (kind, prop.expr, prop.params, prop.premise, prop.after, prop.without, prop.frame)
        found[prop.id] = Item(
            meaning,
            partial(plain_property, prop, kind=kind),
            partial(_property, prop, kind),
            kind if kind in KINDS else "",
        )
    return found


def _meaning(action: Action) -> Any:
    guards = [guard.expr for guard in action.guards]
    return (action.params, guards, dict(action.updates), action.fairness, action.relies_on)


def _fixed(plain: Any, *lines: str) -> Item:
    return Item(plain, lambda: plain, lambda: lines)


def _declared(spec: Spec) -> dict[str, Item]:
    """Types, constants, variables and initial conditions by name, in the order of names."""
    found: dict[str, Item] = {}
    for kind in sorted(spec.types, key=lambda one: one.name):
        found[f"type {kind.name}"] = _fixed(_plain_type(kind), f"{kind.name}: {_type(kind)}")
    for constant in sorted(spec.constants, key=lambda one: one.name):
        found[f"constant {constant.name}"] = _constant(spec, constant)
    for variable in sorted(spec.variables, key=lambda one: one.name):
        value = spec.initial[variable.name]
        shown = "anything" if value is None else _value(value)
        line = f"{variable.name}: {variable.type} = {shown}"
        found[f"variable {variable.name}"] = _fixed([str(variable.type), value], line)
    if spec.initially:
        plain = sorted(([plain_tree(one)] for one in spec.initially), key=digest_of)
        lines = [line for one in spec.initially for line in _hung("initially ", layout(one))]
        found["initially"] = _fixed(plain, *lines)
    return found


def _constant(spec: Spec, constant: Variable) -> Item:
    name = constant.name
    value, assumed = spec.options.get(name), spec.environment.get(name, "")
    plain = [str(constant.type), name in spec.options, value, assumed]
    if name not in spec.options:
        return _fixed(plain, f"constant {name}: {constant.type}")
    line = f"option {name}: {constant.type} = {_value(spec.options[name])}"
    return _fixed(plain, line + (f", assumes {assumed!r}" if assumed else ""))


def _value(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _plain_type(kind: Type) -> list[Any]:
    match kind:
        case EnumType(members=members):
            return ["enum", list(members)]
        case NumberType(signed=signed):
            return ["int" if signed else "nat"]
        case SortType():
            return ["sort"]
        case MapType(keys=keys, value=value):
            return ["map", [str(key) for key in keys], str(value)]
    return ["bool"]


def _type(kind: Type) -> str:
    match kind:
        case EnumType(members=members):
            return f"Enum({', '.join(map(repr, members))})"
        case NumberType(signed=signed):
            return "Int" if signed else "Nat"
        case SortType():
            return "Sort"
    return str(kind)


def _hung(word: str, lines: Sequence[str]) -> Iterator[str]:
    """The lines behind a word, the later ones below the first."""
    pad = " " * len(word)
    yield from ((pad if place else word) + line for place, line in enumerate(lines))


def _params(params: Sequence[Local]) -> Iterator[str]:
    if params:
        yield f"for {', '.join(f'{one.name}: {one.type}' for one in params)}"


def _action(action: Action) -> Iterator[str]:
    yield from _params(action.params)
    for guard in action.guards:
        yield from _hung("require ", layout(guard.expr))
    for variable, expr in action.updates:
        yield from _hung(f"{variable.name}' = ", layout(expr))
    if action.fairness != "none":
        yield f"fairness {action.fairness}"
    if action.relies_on:
        yield f"relies on {', '.join(action.relies_on)}"


def _property(prop: Property, kind: str) -> Iterator[str]:
    after = f" after {prop.after}" if prop.after else ""
    frame = "" if prop.frame is None else ", a frame condition"
    yield f"{kind}{after}{frame}" + (f" given {prop.frame}" if prop.frame else "")
    yield from _params(prop.params)
    if prop.kind == "leads_to" or prop.premise != TRUE:
        yield from layout(prop.premise)
        yield from _hung("~> ", layout(prop.expr))
    else:
        yield from layout(prop.expr)
    if prop.without:
        yield f"without the fairness of {', '.join(prop.without)}"
