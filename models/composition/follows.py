"""Does the assumption of a step follow from guarantees, as a reading says?

The answer for any size comes from Z3, as for the obligations of a proof. States of a small instance show that
each guarantee matters, that the assumption is not contradictory, and where a reading fails.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import z3

from tidemark.models.composition.reading import Joined, joined, reading_of
from tidemark.models.composition.rewriting import occurs
from tidemark.models.instance import Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.symbolic import bits
from tidemark.models.symbolic.finite import SymbolicInstance
from tidemark.models.symbolic.hints import instance_in, new_solver, plain_model, small_bounds, usual_values
from tidemark.models.symbolic.obligations import Fact, Obligation
from tidemark.models.symbolic.scope import Scope
from tidemark.models.symbolic.solve import Answer, Terms, discharge
from tidemark.spec.language.spec import Property, Spec

SIZES = ((1, 2), (2, 2), (2, 3))
"""Elements of each sort and greatest number, of the instances that are searched for states."""


@dataclass(frozen=True)
class JoinedInstance(Instance):
    """A bounded instance of two protocols as one. ``protocol`` is the reference of a reading."""

    def traced(self) -> Spec:
        """Both protocols, as the reading joins them."""
        return joined(reading_of(self.protocol)).spec


@dataclass(frozen=True)
class SmallState:
    """A state of both protocols."""

    instance: Instance
    state: State


@dataclass(frozen=True)
class Composition:
    """The result for a reading. ``broken``: a state in which it does not follow; then no further question is
    asked. ``answer``: does it follow, for any size? ``said``: the assumption is part of the step.
    ``possible``: a state in which glue, guarantees and conclusion are true. ``without``: by guarantee a state
    that shows that it is needed.
    """

    joined: Joined
    broken: SmallState | None
    answer: Answer | None = None
    said: bool = False
    possible: SmallState | None = None
    without: dict[str, SmallState | None] = field(default_factory=dict)

    @property
    def proved(self) -> bool:
        """It follows, for any size."""
        return self.answer is not None and self.answer.status == "proved"

    @property
    def queries(self) -> int:
        """Number of queries to the solver."""
        return 1 if self.answer is None else self.answer.queries + len(self.without) + 2


def compose(
    reference: str, *, timeout_s: float = 20.0, seed: int = 0, guaranteed: bool = True
) -> Composition:
    """Judge a reading, by reference; or, for a self-test, without its guarantees. Raises SpecError."""
    both = joined(reading_of(reference))
    guarantees = [both.guarantee(claim) for claim in both.claims if guaranteed]
    given = [both.glue, *guarantees]
    broken = _state(reference, given, fails=both.goal)
    if broken is not None:
        return Composition(both, broken)
    return Composition(
        joined=both,
        broken=None,
        answer=discharge(Terms(both.spec), _obligation(both, guarantees), timeout_s=timeout_s, seed=seed),
        said=occurs(both.taken, both.step),
        possible=_state(reference, [*given, both.goal]),
        without={
            claim: _state(
                reference, [one for one in (both.glue, *guarantees) if one.id != claim], fails=both.goal
            )
            for claim in both.claims
        },
    )


def _obligation(both: Joined, guarantees: Sequence[Property]) -> Obligation:
    total = Scope(both.spec).total
    given = (*both.spec.assumptions, both.glue, *guarantees)
    return Obligation(
        name=f"composition:{both.name}",
        kind="composition",
        claim=both.goal.id,
        goal=total(both.goal.expr),
        hypotheses=tuple(Fact(one.id, total(one.expr)) for one in given),
    )


def _state(reference: str, given: Iterable[Property], *, fails: Property | None = None) -> SmallState | None:
    held = tuple(given)
    for elements, greatest in SIZES:
        found = _state_within(reference, held, fails, elements=elements, greatest=greatest)
        if found is not None:
            return found
    return None


def _state_within(
    reference: str, held: Sequence[Property], fails: Property | None, *, elements: int, greatest: int
) -> SmallState | None:
    spec = joined(reading_of(reference)).spec
    bounds = small_bounds(spec, elements=elements, greatest=greatest)
    space = SymbolicInstance(JoinedInstance(reference, bounds))
    state = space.state()
    wanted = [space.holds(one.expr, state) for one in held]
    wanted += [] if fails is None else [bits.invert(space.holds(fails.expr, state))]
    bit = bits.every(wanted)
    if bit is False:
        return None
    solver = new_solver([*space.conditions, bit])
    if solver.check() != z3.sat:
        return None
    model = plain_model(solver, (), usual_values(space, state))
    return SmallState(instance_in(space, model), space.decode(model, state))
