"""A leads_to for any size: the conditions from which it follows, each a claim about one state or one step.

The rule is that of a ranking function with helpful actions (Manna and Pnueli: well-founded just response).
Let a claim lead from ``p`` to ``q``. Cases are conditions, each with an action that helps and its arguments;
a rank is a tuple of measures, compared from the first on. The conditions, in states that the invariants
allow:

- covered: where ``p`` holds, ``q`` or a case holds;
- keeps, for each case and every step from it without ``q``: then ``q`` holds, or the rank is lower and some
  case holds, or rank and arguments are the same and the same case holds;
- enabled: in a case without ``q`` the helpful action is possible with its arguments;
- helps: then it leads to ``q``, to a lower rank or out of the case.

A run without ``q`` then stays in cases, and its rank never grows. It can be lowered only finitely often: a
number that is lowered was not below zero, and a sort has finitely many elements. So one case lasts for ever
with the same arguments; its action is possible for ever, is taken, as it is fair, and leaves the case: a
contradiction. A case may rest on another leads_to instead (rests): it fulfils the premise of that claim and
rules out its conclusion, so that it cannot last either. No claim may rest on itself.

A ranking may name numbers that change finitely often, such as a count of faults. Then the claim is of the
runs in which they do: a step that changes one may raise the rank, as long as some case holds afterwards. From
the last change on the argument is the one above. A claim that it rests on may name no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from tidemark.models.symbolic.scope import Scope
from tidemark.spec.language.expr import FALSE, TRUE, Apply, Expr, Local, Quantified, Read, substitute, walk
from tidemark.spec.language.fold import conjunction, disjunction, equality, fold, literal, negation, select
from tidemark.spec.language.spec import Case, Property, Ranking, Spec
from tidemark.spec.language.types import BOOL, BoolType, MapType

PARTS = ("covered", "keeps", "enabled", "helps", "rests")
"""Suffixes of the ids of reasons: CLAIM:covered, CLAIM:keeps:CASE and so on."""


class RankingError(LookupError):
    """A claim rests on itself, through the claims that its cases name."""


def claim_of(reason: str) -> str:
    """The id of the leads_to that a reason is for."""
    return reason.partition(":")[0]


def is_of_a_step(reason: Property) -> bool:
    """Whether it is about two states."""
    return any(isinstance(part, Read) and part.primed for part in walk(reason.expr))


def reasons(spec: Spec, rankings: Iterable[Ranking]) -> tuple[Property, ...]:
    """All conditions of some claims. ``spec`` is the traced protocol, before its options are put in."""
    return tuple(reason for ranking in rankings for reason in _Rule(spec, ranking).reasons())


def resting_on(rankings: Sequence[Ranking]) -> dict[str, tuple[str, ...]]:
    """For each claim the claims that its proof needs, nearest first. Raises RankingError if one rests on
    itself, on a claim that is not among them, or on one of fewer runs.
    """
    allowed = {one.claim.id: set(one.finitely) for one in rankings}
    for one in rankings:
        for case in one.cases:
            if allowed.get(case.other, set()) - set(one.finitely):
                raise RankingError(f"{one.claim.id} rests on {case.other}, which is proved of fewer runs")
    named = {
        one.claim.id: tuple(dict.fromkeys(case.other for case in one.cases if case.other)) for one in rankings
    }
    found: dict[str, tuple[str, ...]] = {}
    for claim in named:
        found[claim] = tuple(_below(claim, named, path=(claim,)))
    return found


def _below(claim: str, named: Mapping[str, tuple[str, ...]], *, path: tuple[str, ...]) -> Iterator[str]:
    for other in named[claim]:
        if other in path:
            raise RankingError(f"a circle: each of {', '.join(path)} rests on another of them")
        if other not in named:
            raise RankingError(f"{claim} rests on {other}, which is not proved here")
        yield other
        yield from _below(other, named, path=(*path, other))


class _Rule:
    """The conditions of one claim."""

    def __init__(self, spec: Spec, ranking: Ranking) -> None:
        self._spec = spec
        self._scope = Scope(spec)
        self._claim = ranking.claim
        self._goal = self._scope.total(ranking.claim.expr)
        self._measures = tuple(self._scope.total(one) for one in ranking.measures)
        self._cases = tuple(self._of_total_form(case) for case in ranking.cases)
        self._finitely = tuple(Read(variable.type, variable) for variable in ranking.finitely)

    def _of_total_form(self, case: Case) -> Case:
        arguments = tuple(self._scope.total(one) for one in case.arguments)
        return replace(case, when=self._scope.total(case.when), arguments=arguments)

    def reasons(self) -> Iterator[Property]:
        """Each is closed: it must hold for all values of its parameters."""
        premise = self._scope.total(self._claim.premise)
        covered = _implies(premise, disjunction(self._goal, self._some_case()))
        yield self._reason("covered", covered, self._claim.params)
        for case in self._cases:
            now = conjunction(case.when, negation(self._goal))
            yield self._reason(f"keeps:{case.name}", _implies(now, self._keeps(case)), case.params)
            parts = self._action(case) if case.action else self._other(case)
            for part, wanted in parts.items():
                yield self._reason(f"{part}:{case.name}", _implies(now, wanted), case.params)

    def _reason(self, part: str, expr: Expr, params: tuple[Local, ...]) -> Property:
        text = f"{self._claim.description} ({part})"
        closed = _forall(params, expr) if params else fold(expr)
        return Property(f"{self._claim.id}:{part}", "reason", closed, text, self._claim.source)

    def _some_case(self) -> Expr:
        own = len(self._claim.params)
        return disjunction(*(_exists(case.params[own:], case.when) for case in self._cases))

    def _keeps(self, case: Case) -> Expr:
        lower, same = self._compared(_primed)
        stays = conjunction(
            same,
            _primed(case.when),
            *(equality(_primed(one), one) for one in case.arguments),
        )
        changed = (negation(equality(_primed(one), one)) for one in self._finitely)
        goes_on = conjunction(disjunction(lower, *changed), _primed(self._some_case()))
        return disjunction(_primed(self._goal), goes_on, stays)

    def _action(self, case: Case) -> dict[str, Expr]:
        action = self._spec.action(case.action)
        given = {param.name: one for param, one in zip(action.params, case.arguments, strict=True)}
        guards = (substitute(self._scope.total(guard.expr), locals_=given) for guard in action.guards)
        typed = (
            self._scope.within(one, param.type)
            for param, one in zip(action.params, case.arguments, strict=True)
        )
        updates = {
            variable: substitute(self._scope.total(expr), locals_=given) for variable, expr in action.updates
        }

        def after(expr: Expr) -> Expr:
            return substitute(expr, reads=lambda node: updates.get(node.variable, node))

        lower, _ = self._compared(after)
        left = disjunction(after(self._goal), lower, negation(after(case.when)))
        return {"enabled": conjunction(*typed, *guards), "helps": left}

    def _other(self, case: Case) -> dict[str, Expr]:
        other = self._spec.property(case.other)
        given = {param.name: one for param, one in zip(other.params, case.arguments, strict=True)}
        typed = (
            self._scope.within(one, param.type)
            for param, one in zip(other.params, case.arguments, strict=True)
        )
        premise = substitute(self._scope.total(other.premise), locals_=given)
        conclusion = substitute(self._scope.total(other.expr), locals_=given)
        return {"rests": conjunction(*typed, premise, negation(conclusion))}

    def _compared(self, later: _Later) -> tuple[Expr, Expr]:
        """The rank afterwards is lower than now; it is the same."""
        lower: Expr = FALSE
        same: Expr = TRUE
        for measure in reversed(self._measures):
            less, equal = _measured(later(measure), measure)
            lower = disjunction(less, conjunction(equal, lower))
            same = conjunction(equal, same)
        return lower, same


_Later = Callable[[Expr], Expr]
"""An expression in the state after."""


def _measured(new: Expr, old: Expr) -> tuple[Expr, Expr]:
    """The new value of one measure is lower; it is the same."""
    kind = old.type
    if isinstance(kind, MapType):
        keys = tuple(Local(key, f"left_{place}") for key, place in zip(kind.keys, count(), strict=False))
        now, then = select(old, keys), select(new, keys)
        fewer = conjunction(
            _forall(keys, _implies(then, now)), _exists(keys, conjunction(now, negation(then)))
        )
        return fewer, _forall(keys, equality(then, now))
    if isinstance(kind, BoolType):
        return conjunction(old, negation(new)), equality(new, old)
    less = Apply(BOOL, "lt", (new, old))
    return conjunction(less, fold(Apply(BOOL, "le", (literal(0), old)))), equality(new, old)


def _primed(expr: Expr) -> Expr:
    def read(node: Read) -> Expr:
        return node if node.variable.constant else replace(node, primed=True)

    return substitute(expr, reads=read)


def _implies(premise: Expr, conclusion: Expr) -> Expr:
    return fold(Apply(BOOL, "implies", (premise, conclusion)))


def _forall(binders: tuple[Local, ...], body: Expr) -> Expr:
    return fold(Quantified(BOOL, "forall", binders, body))


def _exists(binders: tuple[Local, ...], body: Expr) -> Expr:
    return fold(Quantified(BOOL, "exists", binders, body)) if binders else body
