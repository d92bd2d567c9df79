"""Tracing: every action and property of a protocol class is run once over symbolic values."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tidemark.spec.language.body import Declared
from tidemark.spec.language.declare import MARK, Mark
from tidemark.spec.language.errors import (
    AuthorError,
    SpecError,
    caller_place,
    caller_text,
    place_in,
    place_of,
)
from tidemark.spec.language.expr import TRUE, Expr, Local, Read, Variable, variables_read
from tidemark.spec.language.fold import choice, conjunction, disjunction, fold, negation
from tidemark.spec.language.quantifiers import Comprehension, fresh_names, under_quantifier
from tidemark.spec.language.spec import Action, Case, Guard, Property, Ranking, Spec
from tidemark.spec.language.terms import Liftable, Term, boolean, lift
from tidemark.spec.language.types import BOOL, BoolType, MapType, NumberType, Type
from tidemark.spec.language.vacuity import check_action, check_property

_NO_CLAIMS = ("action", "initially", "rank", "helpful")
"""Roles of methods that are not properties."""

_BOUND_NAME = re.compile(r".*_\d+$")


@dataclass
class Trace:
    """The symbolic state of one view."""

    values: dict[str, Expr]
    writable: bool
    guards: list[Guard] = field(default_factory=list)
    written: dict[str, None] = field(default_factory=dict)
    path: list[Expr] = field(default_factory=list)
    """Conditions of the ``when`` blocks around the present line."""
    unused: list[str] = field(default_factory=list)
    """Places of ``when`` that no ``with`` has entered."""
    prefix: str = ""
    """A prefix of the names of variables and constants, where two protocols occur together."""

    def assign(self, name: str, value: Expr) -> None:
        """The variable has this value from now on."""
        self.values[name] = value
        self.written[name] = None

    def chosen(self, new: Expr, old: Expr) -> Expr:
        """The new value where the present path is taken, else the old one."""
        return fold(choice(conjunction(*self.path), new, old)) if self.path else new


_tracing: list[Trace] = []


class When:
    """Entered by ``with``; see ``when``."""

    def __init__(self, trace: Trace, condition: Expr, place: str) -> None:
        self._trace, self._condition, self._place = trace, condition, place
        trace.unused.append(place)

    def __enter__(self) -> None:
        self._trace.unused.remove(self._place)
        self._trace.path.append(self._condition)

    def __exit__(self, *_: object) -> None:
        self._trace.path.pop()


def when(condition: Liftable) -> When:
    """``with when(condition):`` limits assignments and requirements to the states in which the condition
    holds.

    The condition speaks about the state at this line. Where it does not hold the step is still taken, with
    the other assignments; ``require`` prevents a step.
    """
    if not _tracing:
        raise SpecError(
            "when outside an action", remedy="In a property write ite(condition, a, b) or implies(a, b)"
        )
    if under_quantifier():
        raise SpecError("when inside a quantifier", remedy="Write ite(condition, a, b) there")
    return When(_tracing[-1], fold(boolean(condition)), caller_place())


def require(condition: Liftable) -> None:
    """A conjunct of the guard of the action: the step is possible only where it holds."""
    if not _tracing:
        raise SpecError("require outside an action", remedy="Use it in methods marked @action only")
    if under_quantifier():
        raise SpecError(
            "require inside a quantifier", remedy="Write require(forall(Domain, lambda x: ...)) outside"
        )
    trace = _tracing[-1]
    wanted = fold(disjunction(negation(conjunction(*trace.path)), boolean(condition)))
    trace.guards.append(Guard(wanted, caller_text(), caller_place()))


def view_of(
    cls: type, declared: Declared, *, primed: bool = False, writable: bool = False, prefix: str = ""
) -> Any:
    """A symbolic state of the protocol, which is an instance of its class. ``prefix``: see ``Trace``."""
    view: Any = object.__new__(cls)
    values: dict[str, Expr] = {
        n: Read(v.type, replace(v, name=prefix + v.name) if prefix else v, primed)
        for n, v in declared.variables.items()
    }
    view.__dict__["_trace"] = Trace(values, writable, prefix=prefix)
    return view


def trace_class(cls: type, declared: Declared) -> Spec:
    """The specification of a protocol class. Raises SpecError with place and remedy."""
    marks = _marks(cls)
    # A subclass removes an action by setting it to None.
    methods = [(name, mark) for name, mark in marks.items() if getattr(cls, name) is not None]
    tracer = _Tracer(cls, declared, marks)
    actions = tuple(tracer.action(n, m) for n, m in methods if m.role == "action")
    claims = [(m, tracer.property(n, m)) for n, m in methods if m.role not in _NO_CLAIMS]
    for mark, claim in claims:
        place = place_of(getattr(cls, claim.id.partition(".")[2]))
        if mark.role == "assumption":
            _check_assumption(claim, place)
        check_property(claim, place=place)
    return Spec(
        name=cls.__name__,
        doc=inspect.cleandoc(cls.__doc__ or ""),
        types=tuple(dict.fromkeys(declared.types.values())),
        constants=tuple(declared.constants.values()),
        options=dict(declared.options),
        variables=tuple(declared.variables.values()),
        initial={name: declared.initial[name] for name in declared.variables},
        actions=actions,
        properties=tuple(claim for m, claim in claims if m.role != "assumption"),
        assumptions=tuple(claim for m, claim in claims if m.role == "assumption"),
        initially=tuple(tracer.condition(n) for n, m in methods if m.role == "initially"),
        environment=dict(declared.environment),
    )


def trace_ranking(cls: type, declared: Declared, spec: Spec, claim: str) -> Ranking:
    """Why a leads_to of the class holds: its ``@rank`` and its ``@helpful`` cases.

    ``spec`` is the traced class. Raises SpecError with place and remedy, also if there is no rank or no case.
    """
    prop = spec.property(claim)
    name = prop.id.partition(".")[2]
    marks = {n: m for n, m in _marks(cls).items() if getattr(cls, n) is not None}
    tracer = _Tracer(cls, declared, marks)
    about = {n: m for n, m in marks.items() if m.claim == name}
    ranks = [n for n, mark in about.items() if mark.role == "rank"]
    cases = tuple(tracer.case(n, m, spec, prop) for n, m in about.items() if m.role == "helpful")
    if prop.kind != "leads_to" or len(ranks) != 1 or not cases:
        raise SpecError(
            f"the {prop.kind} {name} cannot be proved: it has {len(ranks)} ranks and {len(cases)} cases",
            remedy=f"Write one method @rank({name!r}), and methods @helpful({name!r}, action=...)",
            place=place_of(getattr(cls, name)),
        )
    finitely = tuple(tracer.number(ranks[0], name) for name in about[ranks[0]].finitely)
    return Ranking(prop, tracer.measures(ranks[0], prop), cases, finitely)


def ranked(cls: type) -> frozenset[str]:
    """Names of the claims that have a ``@rank``."""
    return frozenset(mark.claim for mark in _marks(cls).values() if mark.role == "rank")


def _marks(cls: type) -> dict[str, Mark]:
    """Marks by method, in order of first declaration; an override without a mark keeps the old one."""
    found: dict[str, Mark] = {}
    for base in reversed(cls.__mro__):
        for name, item in vars(base).items():
            mark = getattr(item, MARK, None)
            if mark is not None:
                found[name] = mark
    return found


def _check_assumption(claim: Property, place: str) -> None:
    state = sorted(v.name for v in variables_read(claim.expr) if not v.constant)
    if state:
        raise SpecError(
            f"the assumption {claim.id} speaks about the state ({state[0]})",
            remedy="An assumption is about constants; write @invariant or @initially",
            place=place,
        )


def _condition(value: Liftable, name: str, place: str) -> Expr:
    """The condition that a method returned; an error names the method, not the caller of the trace."""
    if value is None:
        raise SpecError(f"{name} returns nothing", remedy="Return a condition", place=place)
    try:
        return fold(boolean(value))
    except SpecError as error:
        raise SpecError(f"{name} returns {error.problem}", remedy=error.remedy, place=place) from None


def _called(name: str, method: Callable[..., Any], *arguments: object) -> Any:
    """The result of a method. An exception that its text raises is an error of that text, with its place."""
    try:
        return method(*arguments)
    except SpecError:
        raise
    except Exception as error:
        place = place_in(error) or place_of(method)
        raise AuthorError(error, place=place, doing=f"{name} cannot be traced") from error


class _Tracer:
    """Runs the methods of one class."""

    def __init__(self, cls: type, declared: Declared, marks: dict[str, Mark]) -> None:
        self.cls = cls
        self.declared = declared
        self.actions = [name for name, mark in marks.items() if mark.role == "action"]

    def action(self, name: str, mark: Mark) -> Action:
        """Run an action over a symbolic state and parameters."""
        method, params = getattr(self.cls, name), self.parameters(name, 1)
        view: Any = view_of(self.cls, self.declared, writable=True)
        trace: Trace = view.__dict__["_trace"]
        _tracing.append(trace)
        try:
            with fresh_names():
                result = _called(name, method, view, *map(Term, params))
        finally:
            _tracing.pop()
        place = place_of(method)
        if trace.unused:
            raise SpecError(
                f"a when in {name} that nothing is put under",
                remedy="Write with when(condition): and the assignments below",
                place=trace.unused[0],
            )
        if result is not None:
            raise SpecError(
                f"the action {name} returns a value",
                remedy="Assign state and return nothing; a guard is require(...)",
                place=place,
            )
        variables = self.declared.variables
        updates = tuple(
            (variables[n], trace.values[n])
            for n in variables
            if n in trace.written and trace.values[n] != Read(variables[n].type, variables[n])
        )
        traced = Action(
            name,
            params,
            tuple(trace.guards),
            updates,
            mark.fairness,
            self.description(name),
            mark.source,
            mark.relies_on,
        )
        check_action(self.cls.__name__, traced, place=place)
        return traced

    def condition(self, name: str) -> Expr:
        """Run a condition on the initial states."""
        method = getattr(self.cls, name)
        with fresh_names():
            found = _called(name, method, view_of(self.cls, self.declared))
            return _condition(found, name, place_of(method))

    def property(self, name: str, mark: Mark) -> Property:
        """Run a property over one or two symbolic states."""
        method = getattr(self.cls, name)
        place = place_of(method)
        views = self._views(name, mark)
        if mark.role == "reachable":
            params = self._witness_parameters(name, mark, len(views))
        else:
            params = self.parameters(name, len(views))
        if params and mark.role in ("invariant", "lemma", "transition_invariant"):
            raise SpecError(
                f"{name} has the parameter {params[0].name!r}",
                remedy="Quantify in the body: forall(Domain, lambda x: ...)",
                place=place,
            )
        with fresh_names():
            result = _called(name, method, *views, *map(Term, params))
        premise: Expr = TRUE
        if mark.role == "leads_to":
            if not isinstance(result, tuple) or len(result) != 2:
                raise SpecError(
                    f"{name} returns no pair", remedy="A leads_to returns (premise, conclusion)", place=place
                )
            premise, result = _condition(result[0], name, place), result[1]
            self._check_actions(name, mark.without)
        role: Any = mark.role
        return Property(
            id=f"{self.declared.family}.{name}",
            kind=role,
            expr=_condition(result, name, place),
            description=self.description(name),
            source=mark.source,
            params=params,
            premise=premise,
            after=mark.after,
            without=mark.without,
            frame=self._frame(name, mark),
        )

    def measures(self, name: str, claim: Property) -> tuple[Expr, ...]:
        """Run a rank over a symbolic state and the parameters of its claim."""
        params = self._of_claim(name, claim, further=False)
        with fresh_names():
            result = _called(
                name, getattr(self.cls, name), view_of(self.cls, self.declared), *map(Term, params)
            )
        several = result if isinstance(result, tuple) else (result,)
        return tuple(self._measure(name, one) for one in several)

    def number(self, name: str, wanted: str) -> Variable:
        """A number of the state that a rank names. Raises SpecError if there is none."""
        found = self.declared.variables.get(wanted)
        if found is None or not isinstance(found.type, NumberType):
            raise SpecError(
                f"{name} names {wanted!r}, which is no number of the state",
                remedy='Name variables that are numbers: finitely=("faults",)',
                place=place_of(getattr(self.cls, name)),
            )
        return found

    def _measure(self, name: str, value: Liftable) -> Expr:
        wanted: Type | None = None
        if isinstance(value, Comprehension):
            wanted = MapType("", tuple(binder.type for binder in value.binders), BOOL)
        found = lift(value, wanted)
        kind = found.type
        keys = kind.keys if isinstance(kind, MapType) and isinstance(kind.value, BoolType) else ()
        finite = bool(keys) and not any(isinstance(key, NumberType) for key in keys)
        if finite or isinstance(kind, BoolType | NumberType):
            return fold(found)
        raise SpecError(
            f"{name} returns a measure of the type {found.type}",
            remedy="A measure is a number, a condition, or each(Sort, lambda x: condition)",
            place=place_of(getattr(self.cls, name)),
        )

    def case(self, name: str, mark: Mark, spec: Spec, claim: Property) -> Case:
        """Run a helpful case over a symbolic state, the parameters of its claim and further ones."""
        params = self._of_claim(name, claim, further=True)
        method = getattr(self.cls, name)
        place = place_of(method)
        wanted = self._helper(name, mark, spec, claim)
        with fresh_names():
            result = _called(name, method, view_of(self.cls, self.declared), *map(Term, params))
        if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], tuple)):
            raise SpecError(
                f"{name} returns no pair", remedy="Return (condition, (argument, ...))", place=place
            )
        when, given = result
        if len(given) != len(wanted):
            raise SpecError(
                f"{name} gives {len(given)} arguments; {mark.action or mark.other} has {len(wanted)}",
                remedy=f"It has {', '.join(param.name for param in wanted) or 'none'}; write (x,) for one",
                place=place,
            )
        arguments = tuple(fold(lift(one, param.type)) for one, param in zip(given, wanted, strict=True))
        other = spec.property(mark.other).id if mark.other else ""
        return Case(name, params, _condition(when, name, place), arguments, mark.action, other)

    def _helper(self, name: str, mark: Mark, spec: Spec, claim: Property) -> tuple[Local, ...]:
        """The parameters of the helping action or claim. Raises SpecError if the claim may not rely on it."""
        place = place_of(getattr(self.cls, name))
        if mark.other:
            others = {prop.id.partition(".")[2]: prop for prop in spec.of_kind("leads_to")}
            other = others.get(mark.other)
            if other is None or not set(claim.without) <= set(other.without):
                raise SpecError(
                    f"{name} rests on {mark.other!r}, which is no leads_to that assumes no more fairness",
                    remedy=f"Name another leads_to whose 'without' has {claim.without}",
                    place=place,
                )
            return other.params
        self._check_actions(name, (mark.action,))
        action = next((one for one in spec.actions if one.name == mark.action), None)
        if action is None or action.fairness == "none" or mark.action in claim.without:
            raise SpecError(
                f"{name} rests on {mark.action!r}, whose fairness {claim.id} does not assume",
                remedy="Name an action that is fair, and not among those of 'without'",
                place=place,
            )
        return action.params

    def _of_claim(self, name: str, claim: Property, *, further: bool) -> tuple[Local, ...]:
        """The parameters of a rank or a case: those of its claim, then further ones if it may have them."""
        params = self.parameters(name, 1)
        same = params[: len(claim.params)] == claim.params
        if not same or (len(params) > len(claim.params) and not further):
            raise SpecError(
                f"{name} does not have the parameters of {claim.id}",
                remedy=f"Begin with {', '.join(f'{p.name}: {p.type}' for p in claim.params) or 'none'}",
                place=place_of(getattr(self.cls, name)),
            )
        return params

    def _frame(self, name: str, mark: Mark) -> str | None:
        """The id of the lemma that a frame condition needs; empty if it needs none, None if it is none."""
        if not isinstance(mark.frame, str):
            return "" if mark.frame else None
        other = getattr(getattr(self.cls, mark.frame, None), MARK, None)
        if other is None or other.role not in ("invariant", "lemma") or mark.frame == name:
            raise SpecError(
                f"the frame condition {name} needs {mark.frame!r}, which is no other invariant or lemma",
                remedy="Name the method of a lemma, or write frame=True",
                place=place_of(getattr(self.cls, name)),
            )
        return f"{self.declared.family}.{mark.frame}"

    def _views(self, name: str, mark: Mark) -> list[Any]:
        before = view_of(self.cls, self.declared)
        after = view_of(self.cls, self.declared, primed=True)
        names = list(inspect.signature(getattr(self.cls, name)).parameters)
        if mark.role == "transition_invariant":
            if len(names) < 2:
                raise SpecError(
                    f"{name} takes one state only",
                    remedy="Write def name(before, after), or @invariant",
                    place=place_of(getattr(self.cls, name)),
                )
            return [before, after]
        if mark.role == "reachable":
            return [before, after] if names[:2] == ["before", "after"] else [after]
        return [before]

    def description(self, name: str) -> str:
        """The first paragraph of the docstring, which an override inherits."""
        for base in self.cls.__mro__:
            doc = getattr(vars(base).get(name), "__doc__", None)
            if doc:
                return " ".join(inspect.cleandoc(doc).split("\n\n")[0].split())
        raise SpecError(
            f"{self.cls.__name__}.{name} has no docstring",
            remedy="Say in one sentence what it means",
            place=place_of(getattr(self.cls, name)),
        )

    def parameters(self, name: str, skip: int) -> tuple[Local, ...]:
        """Parameters after the views; an override may leave annotations out and inherits them by name."""
        known: dict[str, Type] = {}
        for base in reversed(self.cls.__mro__):
            function = vars(base).get(name)
            if inspect.isfunction(function):
                notes = inspect.get_annotations(function)
                known.update({k: t for k, t in notes.items() if isinstance(t, Type)})
        method = getattr(self.cls, name)
        params = list(inspect.signature(method).parameters.values())[skip:]
        for param in params:
            problem = _parameter_problem(param, known.get(param.name))
            if problem:
                raise SpecError(
                    f"{self.cls.__name__}.{name} has the parameter {param.name!r} {problem}",
                    remedy="Annotate it with a declared Sort, Enum, Nat, Int or Bool: segment: Segment",
                    place=place_of(method),
                )
        return tuple(Local(known[p.name], p.name) for p in params)

    def _check_actions(self, name: str, spoken_of: tuple[str, ...]) -> None:
        """Raises SpecError if a property speaks about an action that neither this class nor a base has."""
        known = self.actions
        for action in spoken_of:
            if action not in known:
                raise SpecError(
                    f"{name} speaks about the action {action!r}, which does not exist",
                    remedy=f"Name one of {', '.join(known)}",
                    place=place_of(getattr(self.cls, name)),
                )

    def _witness_parameters(self, name: str, mark: Mark, skip: int) -> tuple[Local, ...]:
        """A witness may name parameters of the action whose firing it speaks about."""
        method = getattr(self.cls, name)
        self._check_actions(name, (mark.after,))
        if getattr(self.cls, mark.after) is None:
            raise SpecError(
                f"{name} speaks about the action {mark.after!r}, which was taken out",
                remedy=f"Take the witness out too: {name} = None",
                place=place_of(method),
            )
        known = {param.name: param for param in self.parameters(mark.after, 1)}
        names = list(inspect.signature(method).parameters)[skip:]
        unknown = [n for n in names if n not in known]
        if unknown:
            raise SpecError(
                f"{mark.after} has no parameter {unknown[0]!r}",
                remedy=f"It has {', '.join(known) or 'none'}",
                place=place_of(method),
            )
        return tuple(known[n] for n in names)


def _parameter_problem(param: inspect.Parameter, kind: Type | None) -> str:
    if param.kind in (param.VAR_POSITIONAL, param.VAR_KEYWORD) or param.default is not param.empty:
        return "that a step cannot choose (a default, or * arguments)"
    if kind is None and param.annotation is param.empty:
        return "without a type"
    if kind is None:
        given = getattr(param.annotation, "__name__", param.annotation)
        return f"of the type {given}, which is none of the protocol's"
    if isinstance(kind, MapType):
        return f"of the type {kind}"
    if _BOUND_NAME.match(param.name):
        return "with a name kept for bound variables (it ends in _ and digits)"
    return ""
