"""Decorators and markers with which a protocol's class body says what a method or an attribute is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.spec import Fairness, Kind

F = TypeVar("F", bound=Callable[..., Any])
MARK = "_tidemark_mark"
Measure: TypeAlias = Any
"""What a ``rank`` returns: a number, a Boolean or ``each(Sort, ...)``, or a tuple of these."""
HelpfulCase: TypeAlias = tuple[Any, tuple[Any, ...]]
"""What a ``helpful`` case returns: its condition, and the arguments of the action."""


@dataclass(frozen=True)
class Mark:
    """What a decorated method declares."""

    role: Kind | str  # a property kind, or "action", "assumption", "initially"
    source: str = ""
    fairness: Fairness = "none"
    after: str = ""
    without: tuple[str, ...] = ()
    relies_on: tuple[str, ...] = ()
    frame: bool | str = False
    claim: str = ""  # of a rank or a helpful case: the liveness claim that it is about
    action: str = ""
    other: str = ""
    finitely: tuple[str, ...] = ()


@dataclass(frozen=True)
class Option:
    """A scalar constant with a value, which a variant or an instance may flip."""

    value: bool | int | str
    assumes: str = ""


class Constant:
    """A constant whose value an instance gives; arbitrary in a proof."""


class Anything:
    """An initial value that is not determined: one initial state for each value."""


anything: Any = Anything()


removed: Any = None
"""A subclass assigns it to the name of an inherited action or claim that it does without."""


def option(value: bool | int | str, *, assumes: str = "") -> Any:
    """A constant with a value: ``STRICT: Bool = option(True)``. A subclass flips it: ``STRICT = False``.

    ``assumes`` says in a sentence what the value assumes about the environment; the argument of the suite
    lists it, and asks for a variant without it in which a claim breaks.
    """
    return Option(value, assumes)


def constant() -> Any:
    """A constant that an instance gives, arbitrary in a proof: ``log: Map[Place, Node] = constant()``."""
    return Constant()


def everywhere(value: bool | int | str) -> Any:
    """The initial value of a map, the same at each key: ``token: Map[Node, Token] = everywhere(0)``. The bare
    value means the same; a type checker does not accept it.
    """
    return value


def _marked(role: str, **details: Any) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        setattr(function, MARK, Mark(role, **details))
        return function

    return decorate


def action(
    function: F | None = None,
    *,
    fairness: Fairness = "none",
    source: str = "",
    relies_on: tuple[str, ...] = (),
) -> Any:
    """An atomic step. ``fairness`` weak: taken if enabled for ever; strong: if enabled again and again.

    ``relies_on`` names properties of other protocols (``"tso.ordered"``): what the guard of this step of the
    environment takes from them. The argument of the suite checks that they are proved there.
    """
    if fairness not in ("none", "weak", "strong"):
        raise SpecError(f"unknown fairness {fairness!r}", remedy="write none, weak or strong")
    decorate = _marked("action", fairness=fairness, source=source, relies_on=relies_on)
    return decorate(function) if function is not None else decorate


def invariant(*, source: str = "", frame: bool | str = False) -> Callable[[F], F]:
    """Holds in every reachable state.

    ``frame=True`` marks a frame condition: the steps keep it one by one, without another claim. A text names
    a lemma that is such a condition itself and is needed. A frame condition is judged, and not counted among
    the properties.
    """
    return _marked("invariant", source=source, frame=frame)


def lemma(*, source: str = "") -> Callable[[F], F]:
    """An invariant that makes the others inductive."""
    return _marked("lemma", source=source)


def transition_invariant(*, source: str = "", frame: bool | str = False) -> Callable[[F], F]:
    """Holds of every step: the method takes the states before and after. ``frame``: see ``invariant``."""
    return _marked("transition_invariant", source=source, frame=frame)


def leads_to(*, source: str = "", without: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Liveness: the method returns (p, q); every state with p is followed by one with q.

    Further parameters of the method range over all values of their types. ``without`` names actions whose
    fairness this claim does not rely on.
    """
    return _marked("leads_to", source=source, without=without)


def reachable(*, after: str, source: str = "") -> Callable[[F], F]:
    """A witness: action ``after`` fires in some reachable step of which the method's condition holds.

    The method takes (before, after) or only the state after, and may name parameters of the action.
    """
    return _marked("reachable", after=after, source=source)


def rank(claim: str, *, finitely: tuple[str, ...] = ()) -> Callable[[F], F]:
    """How far a run is from the conclusion of a liveness claim, for a proof of any size.

    The method has the parameters of the claim and returns one measure or a tuple of them, which are compared
    like the digits of a number. A measure is a number, a Boolean (false is nearer) or ``each(Sort, ...)`` of
    a condition: the fewer elements fulfil it, the nearer; the elements of a sort are finitely many.

    ``finitely`` names numbers of the state that change finitely often in the runs of which the claim is
    proved: ``("faults",)``. The proof entry says so too.
    """
    return _marked("rank", claim=claim, finitely=finitely)


def helpful(claim: str, *, action: str = "", other: str = "") -> Callable[[F], F]:
    """One case of why a liveness claim holds: a fair action, or another liveness claim, helps.

    The method has the parameters of the claim, perhaps followed by further ones, and returns a pair: the
    condition of the case, and the arguments of the action (or of the other claim), a tuple. While the
    condition holds the action with these arguments is enabled, and taking it lowers the rank. The other claim
    promises that the condition ends. See docs/guide/lemmas.md.
    """
    if bool(action) == bool(other):
        raise SpecError("a helpful case names one action or one other claim", remedy="Write action=...")
    return _marked("helpful", claim=claim, action=action, other=other)


def other_parameters(function: Callable[..., Any]) -> Any:
    """An override with other parameters than the inherited method, which a type checker would refuse."""
    return function


def assumption(*, source: str = "") -> Callable[[F], F]:
    """A fact about the constants, which every instance must satisfy and every proof may use."""
    return _marked("assumption", source=source)


def initially(function: F) -> F:
    """A condition on the initial states, for variables that start with ``anything``."""
    return _marked("initially")(function)
