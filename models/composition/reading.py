"""The state of one protocol seen from another: the declaration, and its traced form.

A step of a protocol's environment relies on guarantees of the protocol that really makes this step. Both use
different words. A reading connects them: ``glue`` relates the states of the two, ``takes`` is the assumption
of the step, in the words of the protocol that relies. It must be shown that glue and guarantees imply it.
Types of the same name are the same.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tidemark.models.composition.rewriting import retyped
from tidemark.models.symbolic.obligations import closed
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.expr import Const, Expr, Local, Read, Variable, binders_of, substitute, walk
from tidemark.spec.language.fold import fold
from tidemark.spec.language.protocol import Protocol, declared_by
from tidemark.spec.language.quantifiers import fresh_names
from tidemark.spec.language.references import ReferenceNotFoundError, load_reference
from tidemark.spec.language.spec import Action, Property, Spec
from tidemark.spec.language.terms import Term, boolean
from tidemark.spec.language.tracing import view_of
from tidemark.spec.language.types import EnumType, MapType, Type
from tidemark.spec.language.vacuity import decide


class Reading:
    """A declared mapping: ``class Reports(Reading, user=TimeTick, owner=Proxy, action="report")``: the user
    relies on the owner in this step. A subclass has two static methods: ``glue(user, owner, **values)`` is a
    condition on both states and on further values, each annotated with its type; ``takes(user, **values)`` is
    one on the user's state and some of these values. A subclass of a reading may replace one of them.
    """

    user: ClassVar[type[Protocol]]
    owner: ClassVar[type[Protocol]]
    action: ClassVar[str]
    glue: ClassVar[Callable[..., Any]]
    takes: ClassVar[Callable[..., Any]]

    def __init_subclass__(
        cls, *, user: type[Protocol] | None = None, owner: type[Protocol] | None = None, action: str = ""
    ) -> None:
        if user is not None:
            cls.user = user
        if owner is not None:
            cls.owner = owner
        if action:
            cls.action = action


@dataclass(frozen=True)
class Joined:
    """Both protocols as one, limited to the variables of the reading and the guarantees. ``name``:
    ``ACTION.OWNER``. ``spec``: names of the owner's variables begin with its own; its properties are the
    glue, the assumption, and the guarantees (``claims``). ``taken``: the assumption, with its values as free
    locals, as the ``step`` should have it.
    """

    name: str
    spec: Spec
    taken: Expr
    step: Action
    claims: tuple[str, ...]

    @property
    def glue(self) -> Property:
        """The relation of the two states."""
        return self.spec.property("reading.glue")

    @property
    def goal(self) -> Property:
        """The conclusion."""
        return self.spec.property("reading.takes")

    def guarantee(self, claim: str) -> Property:
        """A guarantee of the owner in the joined state."""
        return self.spec.property(claim)


def reading_of(reference: str) -> type[Reading]:
    """The reading that ``module:Class`` names. Raises ReferenceNotFoundError."""
    found = load_reference(reference, what="reading")
    if not (isinstance(found, type) and issubclass(found, Reading)):
        raise ReferenceNotFoundError(f"{reference!r} is not a reading", remedy="Name a subclass of Reading")
    return found


def family(protocol: type[Protocol]) -> str:
    """The prefix of a protocol's property ids."""
    return declared_by(protocol).family


def joined(reading: type[Reading]) -> Joined:
    """Trace a reading. Raises SpecError: the user has no such action, the action relies on nothing of the
    owner or on a claim about steps, the assumption is decided by type alone, or a name is bound twice.
    """
    user, owner = (one.trace().with_options() for one in (reading.user, reading.owner))
    prefix = family(reading.owner)
    step = _action(user, reading.action, reading)
    claims = tuple(claim for claim in step.relies_on if claim.partition(".")[0] == prefix)
    if not claims:
        raise SpecError(
            f"{reading.__name__}: {step.name} of {user.name} relies on nothing of {prefix}",
            remedy=f"name a guarantee of {prefix} in relies_on, or take the reading out",
        )
    glue, takes, params = _traced(reading, prefix=f"{prefix}_")
    about_steps = [claim for claim in claims if owner.property(claim).kind not in ("invariant", "lemma")]
    if about_steps:
        raise SpecError(
            f"{reading.__name__}: {about_steps[0]} is no claim about one state",
            remedy="rely on an invariant: keep in the state what the step has to be compared with",
        )
    values = {param.name: Variable(param.name, param.type, constant=True) for param in params}
    swap = _swap(user.types, owner.types, prefix)

    def put_in(expr: Expr) -> Expr:
        located = {name: Read(variable.type, variable) for name, variable in values.items()}
        return retyped(fold(substitute(expr, locals_=located)), swap)

    moved = [_moved(prop, f"{prefix}_", swap) for prop in (*map(owner.property, claims), *owner.assumptions)]
    said = [
        Property("reading.glue", "lemma", put_in(glue), inspect.getdoc(reading) or "", reading.__module__),
        Property("reading.takes", "lemma", put_in(takes), f"What {step.name} assumes.", ""),
    ]
    both = Spec(
        name=reading.__name__,
        doc=inspect.getdoc(reading) or "",
        types=(),
        constants=(*user.constants, *_renamed(owner.constants, f"{prefix}_", swap), *values.values()),
        options={**user.options, **{f"{prefix}_{name}": value for name, value in owner.options.items()}},
        variables=(*user.variables, *_renamed(owner.variables, f"{prefix}_", swap)),
        initial={**user.initial, **{f"{prefix}_{name}": value for name, value in owner.initial.items()}},
        actions=(),
        properties=(*said, *moved[: len(claims)]),
        assumptions=(*user.assumptions, *moved[len(claims) :]),
    )
    taken = substitute(takes, reads=_options(user.options))
    return Joined(f"{step.name}.{prefix}", _pruned(both.with_options()), fold(taken), step, claims)


def _options(values: Mapping[str, Any]) -> Callable[[Read], Expr]:
    def put_in(node: Read) -> Expr:
        known = node.variable.constant and node.variable.name in values
        return Const(node.type, values[node.variable.name]) if known else node

    return put_in


def _action(user: Spec, name: str, reading: type[Reading]) -> Action:
    try:
        return user.action(name)
    except KeyError as error:
        raise SpecError(f"{reading.__name__}: {error.args[0]}", remedy="name one of these") from error


def _traced(reading: type[Reading], *, prefix: str) -> tuple[Expr, Expr, tuple[Local, ...]]:
    kinds: dict[str, Type] = {}
    for base in reversed(reading.__mro__):
        for name in ("glue", "takes"):
            function = getattr(vars(base).get(name), "__func__", None)
            notes = inspect.get_annotations(function) if function is not None else {}
            kinds.update({key: kind for key, kind in notes.items() if isinstance(kind, Type)})
    mine = view_of(reading.user, declared_by(reading.user))
    theirs = view_of(reading.owner, declared_by(reading.owner), prefix=prefix)
    glued = list(inspect.signature(reading.glue).parameters)[2:]
    taken = list(inspect.signature(reading.takes).parameters)[1:]
    unknown = [name for name in (*glued, *taken) if name not in kinds]
    if unknown:
        raise SpecError(
            f"{reading.__name__} has the value {unknown[0]!r} without a type",
            remedy="annotate it with a type of the user or the owner",
        )
    with fresh_names():
        glue = fold(boolean(reading.glue(mine, theirs, *(Term(Local(kinds[n], n)) for n in glued))))
    with fresh_names():
        takes = fold(boolean(reading.takes(mine, *(Term(Local(kinds[n], n)) for n in taken))))
    if decide(takes) is not None:
        raise SpecError(
            f"{reading.__name__}: the assumption is decided by type alone",
            remedy="say what the guard of the step says",
        )
    names = dict.fromkeys((*glued, *taken))
    return glue, takes, tuple(Local(kinds[name], name) for name in names)


def _swap(own: Sequence[Type], other: Sequence[Type], prefix: str) -> Mapping[Type, Type]:
    """New names for types of the owner whose names mean other types of the user."""
    known = {kind.name: kind for kind in own}
    clashing = [kind for kind in other if kind.name in known and kind != known[kind.name]]
    return {kind: replace(kind, name=f"{prefix}.{kind.name}") for kind in clashing}


def _renamed(variables: Sequence[Variable], prefix: str, swap: Mapping[Type, Type]) -> Iterator[Variable]:
    for variable in variables:
        yield replace(
            variable, name=prefix + variable.name, type=retyped(Read(variable.type, variable), swap).type
        )


def _moved(prop: Property, prefix: str, swap: Mapping[Type, Type]) -> Property:

    def rename(node: Read) -> Expr:
        return replace(node, variable=replace(node.variable, name=prefix + node.variable.name))

    return replace(prop, expr=retyped(substitute(closed(prop), reads=rename), swap), params=())


def _pruned(spec: Spec) -> Spec:
    """Without unmentioned variables: a readable state, and small questions."""
    said = [prop.expr for prop in (*spec.properties, *spec.assumptions)]
    used = {node.variable for expr in said for node in walk(expr) if isinstance(node, Read)}
    variables = tuple(item for item in spec.variables if item in used)
    constants = tuple(item for item in spec.constants if item in used)
    kinds: dict[Type, None] = {}
    for item in (*variables, *constants):
        parts = (*item.type.keys, item.type.value) if isinstance(item.type, MapType) else (item.type,)
        kinds.update(dict.fromkeys(parts))
    for expr in said:
        kinds.update(dict.fromkeys(b.type for node in walk(expr) for b in binders_of(node)))
    named = tuple(kind for kind in kinds if not isinstance(kind, MapType) and kind.name)
    _unambiguous(spec.name, [*(item.name for item in (*variables, *constants))], "state")
    _unambiguous(spec.name, [kind.name for kind in named if isinstance(kind, EnumType) or kind.name], "type")
    initial = {item.name: spec.initial[item.name] for item in variables}
    return replace(spec, variables=variables, constants=constants, types=named, initial=initial)


def _unambiguous(where: str, names: Sequence[str], what: str) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise SpecError(
            f"{where}: the {what} {twice[0]!r} is bound twice",
            remedy="rename a value of the reading, or one of the two",
        )
