"""Several steps of a protocol of any size: bounded model checking and k-induction. The state has a copy for
each moment; a map is a function per copy, defined by an axiom for each step.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import z3

from tidemark.models.symbolic.encode import Copies, Encoder, Vocabulary
from tidemark.models.symbolic.obligations import Obligations, closed
from tidemark.spec.language.expr import Expr, Local, Variable
from tidemark.spec.language.fold import select
from tidemark.spec.language.spec import Action, Property, Spec
from tidemark.spec.language.types import MapType

Reply = Literal["yes", "no", "unknown"]

STRATEGIES: tuple[Mapping[str, bool | int], ...] = ({"auto_config": False, "case_split": 3}, {})


class Unrolled:
    """The formulas of a growing run. ``spec`` must have its options substituted. Raises UnprovableError."""

    def __init__(self, spec: Spec, *, seed: int = 0) -> None:
        self.spec = spec
        self.seed = seed
        self.vocabulary = Vocabulary(spec)
        self.encoder = Encoder(self.vocabulary)
        self.obligations = Obligations(spec)
        self.steps = 0
        self._parts: list[Any] = []
        for constant in spec.constants:
            self._parts += self.vocabulary.typing(constant)
        for claim in spec.assumptions:
            self._parts.append(self.encoder.encode(closed(claim)))
        self._typing()

    def _at(self, moment: int) -> Copies:
        return Copies(before=f"@{moment}", after=f"@{moment + 1}")

    def _typing(self) -> None:
        for variable in self.spec.variables:
            self._parts += self.vocabulary.typing(variable, f"@{self.steps}")

    def claim_at(self, expr: Expr, moment: int) -> Any:
        """A condition on the state at a moment (with primed reads: on it and the next one)."""
        return self.encoder.encode(expr, copies=self._at(moment))

    def assume(self, term: Any) -> None:
        """A further hypothesis."""
        self._parts.append(term)

    def begin(self) -> None:
        """The run begins in an initial state."""
        for variable, value in self.obligations.initial_values().items():
            self._parts.append(self._defined(variable, 0, value, {}))
        for condition in self.spec.initially:
            self._parts.append(self.claim_at(condition, 0))

    def _defined(self, variable: Variable, moment: int, value: Expr, env: Mapping[str, Any]) -> Any:
        """A variable at a moment has a value given by a literal or a comprehension of literals."""
        kind, symbol = variable.type, self.vocabulary.symbol(variable, f"@{moment}")
        if not isinstance(kind, MapType):
            return symbol == self.encoder.encode(value, env)
        keys, locals_ = self._keys(kind)
        return z3.ForAll(
            keys, symbol(*keys) == self.encoder.encode(select(value, locals_), _names(locals_, keys))
        )

    def _keys(self, kind: MapType) -> tuple[list[Any], tuple[Local, ...]]:
        locals_ = tuple(Local(key, f"at_{place}") for place, key in enumerate(kind.keys))
        return [self.vocabulary.fresh(item.name, item.type) for item in locals_], locals_

    def extend(self) -> None:
        """One more step, by any action with any parameters."""
        moment = self.steps
        taken: list[tuple[Action, Any, dict[str, Any]]] = []
        for action in self.spec.actions:
            flag = z3.Bool(f"{action.name}@{moment}", self.vocabulary.context)
            env = {
                p.name: z3.Const(f"{action.name}.{p.name}@{moment}", self.vocabulary.sort(p.type))
                for p in action.params
            }
            ranges = [part for p in action.params for part in self.vocabulary.in_range(env[p.name], p.type)]
            guards = [self.encoder.encode(g.expr, env, copies=self._at(moment)) for g in action.guards]
            self._parts.append(z3.Implies(flag, z3.And(*ranges, *guards, self.vocabulary.context)))
            taken.append((action, flag, env))
        flags = [flag for _, flag, _ in taken]
        self._parts.append(z3.Or(*flags, self.vocabulary.context))
        self._parts.append(z3.AtMost(*flags, 1))
        self.steps += 1
        for variable in self.spec.variables:
            self._parts.append(self._next(variable, moment, taken))
        self._typing()

    def _next(
        self, variable: Variable, moment: int, taken: Sequence[tuple[Action, Any, dict[str, Any]]]
    ) -> Any:
        kind = variable.type
        now = self.vocabulary.symbol(variable, f"@{moment}")
        after = self.vocabulary.symbol(variable, f"@{moment + 1}")
        keys, locals_ = self._keys(kind) if isinstance(kind, MapType) else ([], ())
        value = now(*keys) if keys else now
        for action, flag, env in taken:
            update = self.obligations.updates(action).get(variable)
            if update is None:
                continue
            body = select(update, locals_) if keys else update
            new = self.encoder.encode(body, {**env, **_names(locals_, keys)}, copies=self._at(moment))
            value = z3.If(flag, new, value)
        return z3.ForAll(keys, after(*keys) == value) if keys else after == value

    def possible(self, condition: Any, *, seconds: float) -> Reply:
        """Is there a run, of any size, that satisfies all hypotheses and the condition?"""
        ends = time.perf_counter() + seconds
        for limit in (0.3, 1.0):
            for strategy in STRATEGIES:
                left = ends - time.perf_counter()
                if left <= 0:
                    return "unknown"
                result = self._query(condition, strategy, min(left, seconds * limit))
                if result != z3.unknown:
                    return "yes" if result == z3.sat else "no"
        return "unknown"

    def _query(self, condition: Any, strategy: Mapping[str, bool | int], seconds: float) -> Any:
        solver = z3.Solver(ctx=self.vocabulary.context)
        solver.set("timeout", max(1, int(seconds * 1000)))
        solver.set("random_seed", self.seed)
        for name, value in strategy.items():
            solver.set(name, value)
        solver.add(*self._parts, condition, *self.encoder.axioms)
        return solver.check()


def _names(locals_: Sequence[Local], terms: Sequence[Any]) -> dict[str, Any]:
    return {local.name: term for local, term in zip(locals_, terms, strict=True)}


def broken_within(
    spec: Spec, prop: Property, *, depth: int, seconds: float, seed: int = 0
) -> tuple[Reply, int]:
    """Can a run of at most ``depth`` steps, of any size, break a claim? Also the number of steps of the
    answer: ``yes``: of the shortest such run; ``unknown``: where the solver gave up. ``seconds`` is the limit
    of one length.
    """
    run = Unrolled(spec, seed=seed)
    run.begin()
    across = prop.kind == "transition_invariant"
    for length in range(depth + 1):
        if length:
            run.extend()
        if across and not length:
            continue
        broken = z3.Not(run.claim_at(closed(prop), length - 1 if across else length))
        reply = run.possible(broken, seconds=seconds)
        if reply != "no":
            return reply, length
    return "no", depth


def consistent(spec: Spec, *, seconds: float, seed: int = 0) -> Reply:
    """Is there an initial state, of any size, in which assumptions, invariants and lemmas are all true?
    ``no``: they contradict each other and imply everything. Raises UnprovableError.
    """
    run = Unrolled(spec, seed=seed)
    start = run.obligations.at_start
    for condition in (*spec.initially, *(closed(fact) for fact in spec.of_kind("invariant", "lemma"))):
        run.assume(run.claim_at(start(condition), 0))
    return run.possible(z3.And([], run.vocabulary.context), seconds=seconds)


def k_inductive(
    spec: Spec, prop: Property, *, k: int, known: Sequence[Property], seconds: float, seed: int = 0
) -> Reply:
    """Is an invariant k-inductive: true in the first k states of every run, and after any k states in which
    it is true? ``known``: proved invariants, assumed of every state. ``seconds`` is the limit of one query;
    ``no``: a longer induction may still succeed. Raises ValueError for another kind of property.
    """
    if prop.kind not in ("invariant", "lemma"):
        raise ValueError(f"{prop.id} is a {prop.kind}; k-induction is for invariants and lemmas")
    reply, _ = broken_within(spec, prop, depth=k - 1, seconds=seconds, seed=seed)
    if reply != "no":
        return "no" if reply == "yes" else "unknown"
    run = Unrolled(spec, seed=seed)
    for moment in range(k + 1):
        if moment:
            run.extend()
        for fact in known:
            run.assume(run.claim_at(closed(fact), moment))
        if moment < k:
            run.assume(run.claim_at(closed(prop), moment))
    answer = run.possible(z3.Not(run.claim_at(closed(prop), k)), seconds=seconds)
    return {"no": "yes", "yes": "no", "unknown": "unknown"}[answer]  # type: ignore[return-value]
