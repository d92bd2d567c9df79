"""Actions torn in two by rule: the guard is looked at in one step, and the effect takes place in a later one.

What a specification does in one step, although the real system may need several, is an assumption. For an
action ``A`` the rule adds two steps. ``A_looks``: the guard holds, and the arguments are remembered.
``A_late``: the effect, on the state as it is then, whatever has become of the guard. Meanwhile the actor does
not take the step itself; all others do, with other arguments too. One actor at a time is torn.

A late step that makes a natural number negative breaks the protocol as one that breaks a claim does: its type
is a claim, too.
"""

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum

from tidemark.models.instance import Instance
from tidemark.models.mutation.operators import conjuncts
from tidemark.spec.language.expr import (
    FALSE,
    TRUE,
    Const,
    Expr,
    MapComprehension,
    Read,
    Select,
    Store,
    Variable,
    binders_of,
    substitute,
    variables_read,
    walk,
)
from tidemark.spec.language.fold import choice, conjunction, disjunction, equality, fold, negation
from tidemark.spec.language.spec import Action, Guard, Property, Spec
from tidemark.spec.language.types import BOOL, BoolType, EnumType, MapType, SortType, Type, zero_of

LOOKS, LATE = "_looks", "_late"
DIFFERS = "torn.differs"
"""Id of the witness: the late step is taken, and the guard does not hold."""
PENDING = Variable("torn", BOOL)
_PLAIN = BoolType | EnumType


class Rule(StrEnum):
    """How an action becomes two steps."""

    TORN = "torn"
    """As above."""
    OWN = "own"
    """The late step looks again whether the actor is where it was: see ``own_place``."""
    TWICE = "twice"
    """The first step has the effect too: a late one is a second application, for example of a retry."""


@dataclass(frozen=True)
class TornInstance(Instance):
    """An instance in which one action is torn. ``ends``: actions that end the process of the actor, which
    then takes no late step. Pickled as names: another process tears the action again.
    """

    action: str = ""
    rule: Rule = Rule.TORN
    ends: tuple[str, ...] = ()

    def traced(self) -> Spec:
        """The protocol with the action in two steps. Raises KeyError for an unknown one."""
        return torn(super().traced(), self.action, self.rule, self.ends)


def torn(spec: Spec, name: str, rule: Rule = Rule.TORN, ends: tuple[str, ...] = ()) -> Spec:
    """The protocol with an action in two steps; of its claims those about states and steps.

    All protocols that are made from one have the same variables: there is room for the arguments of any
    action. Raises KeyError.
    """
    action, memory = spec.action(name), dict.fromkeys(one for a in spec.actions for one in _kept(a).values())
    kept = _kept(action)
    twice = rule is Rule.TWICE
    late = _late(action, kept, own=rule is Rule.OWN)
    looks = replace(
        action,
        name=name + LOOKS,
        guards=(*action.guards, Guard(negation(Read(BOOL, PENDING)), "", "")),
        updates=(
            *(action.updates if twice else ()),
            (PENDING, TRUE),
            *((kept[param.name], param) for param in action.params),
        ),
        fairness="none",
    )
    ending = [one for one in spec.actions if one.name in ends and one is not action]
    others = [_ended(one, action, kept) if one in ending else one for one in spec.actions]
    same = (equality(Read(param.type, kept[param.name]), param) for param in action.params)
    free = negation(conjunction(Read(BOOL, PENDING), *same))
    busy = replace(action, guards=(*action.guards, Guard(free, "", "")))
    if not twice:
        others = [busy if one is action else one for one in others]
    held = _remembered(conjunction(*(guard.expr for guard in action.guards)), kept)
    differs = Property(
        DIFFERS, "reachable", fold(negation(held)), "The guard does not hold.", "", after=late.name
    )
    claims = (claim for claim in spec.properties if claim.kind in ("invariant", "transition_invariant"))
    return replace(
        spec,
        variables=(*spec.variables, PENDING, *memory),
        initial={**spec.initial, **{one.name: zero_of(one.type) for one in (PENDING, *memory)}},
        actions=(*others, looks, late),
        properties=(*claims, differs),
    )


def own_place(action: Action, part: Expr) -> bool:
    """Does the conjunct only say where the actor is: in flags and phases, in the very entries that the step
    moves? A message that is taken, a task in its next phase. What is no entry is the place of an actor of
    which there is one: of an action without an element of a sort.
    """
    if any(binders_of(node) for node in walk(part)):
        return False
    updates, one = dict(action.updates), not any(isinstance(each.type, SortType) for each in action.params)
    places = [node for node in walk(part) if isinstance(node, Select) and not _constant(node.map)]
    whole = [node for node in walk(part) if isinstance(node, Read) and not isinstance(node.type, MapType)]
    whole = [node for node in whole if not _constant(node)]
    moved = [isinstance(node.map, Read) and _moves(updates.get(node.map.variable), node) for node in places]
    moved += [one and node.variable in updates for node in whole]
    return bool(moved) and all(moved) and all(isinstance(each.type, _PLAIN) for each in (*places, *whole))


def _constant(node: Expr) -> bool:
    return all(variable.constant for variable in variables_read(node))


def _moves(new: Expr | None, place: Select) -> bool:
    """Does the step write this entry? Of the update of a whole map that is taken for granted."""
    while isinstance(new, Store):
        if new.keys == place.keys:
            return True
        new = new.map
    return isinstance(new, MapComprehension)


def _late(action: Action, kept: dict[str, Variable], *, own: bool) -> Action:
    parts = [part for guard in action.guards for part in conjuncts(guard.expr)]
    stays = [_remembered(part, kept) for part in parts if own and own_place(action, part)]
    updates = tuple((variable, _remembered(expr, kept)) for variable, expr in action.updates)
    return replace(
        action,
        name=action.name + LATE,
        params=(),
        guards=tuple(Guard(expr, "", "") for expr in (Read(BOOL, PENDING), *stays)),
        updates=(*updates, *_forgotten(kept)),
        fairness="none",
    )


def _forgotten(kept: dict[str, Variable]) -> list[tuple[Variable, Expr]]:
    return [(PENDING, FALSE), *((one, Const(one.type, zero_of(one.type))) for one in kept.values())]


def _ended(end: Action, action: Action, kept: dict[str, Variable]) -> Action:
    """The step that ends a process, which forgets what it has looked at: if the step takes something from the
    guard, and, where both have an argument of one sort, if it is the same.
    """
    guard = frozenset[Variable]().union(*(variables_read(one.expr) for one in action.guards))
    if not guard & end.writes:
        return end
    named = [param for param in end.params if isinstance(param.type, SortType)]
    pairs = [(param, one) for param in named for one in kept.values() if one.type == param.type]
    same = disjunction(*(equality(Read(one.type, one), param) for param, one in pairs)) if pairs else TRUE
    forgotten = ((one, fold(choice(same, new, Read(one.type, one)))) for one, new in _forgotten(kept))
    return replace(end, updates=(*end.updates, *forgotten))


def _kept(action: Action) -> dict[str, Variable]:
    """Where each argument is remembered: the first of its type, the second, ..."""
    found, before = dict[str, Variable](), Counter[Type]()
    for param in action.params:
        found[param.name] = Variable(f"torn {param.type} {before[param.type]}", param.type)
        before[param.type] += 1
    return found


def _remembered(expr: Expr, kept: dict[str, Variable]) -> Expr:
    return fold(substitute(expr, locals_={name: Read(one.type, one) for name, one in kept.items()}))
