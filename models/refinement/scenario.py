"""What happens in a program, as plain data: a manifest's ``constants`` are the fields of a scenario."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache, cached_property, lru_cache, partial
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from tidemark.models.frozen import frozen
from tidemark.models.refinement.program import Abstraction
from tidemark.models.simulation.errors import ProgramError
from tidemark.models.simulation.program import Program
from tidemark.models.simulation.settings import FaultBudget, FaultKind


class Scenario(BaseModel):
    """The bounds of a program. A field with the name of a kind of fault is its budget."""

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    @cached_property
    def faults(self) -> FaultBudget:
        """The budgets of the faults that the scenario has fields for."""
        return FaultBudget(
            **{kind: getattr(self, kind) for kind in FaultKind if kind in type(self).model_fields}
        )


class FaultyScenario(Scenario):
    """A scenario with a budget for each kind of fault: see FaultBudget. The judge reports a fault that has a
    budget and never happens.
    """

    crashes: int = 0
    drops: int = 0
    delays: int = 0
    lost_replies: int = 0
    duplicates: int = 0
    reorders: int = 0
    storage_failures: int = 0
    storage_lost_acks: int = 0
    torn_writes: int = 0
    cancellations: int = 0


S = TypeVar("S", bound=Scenario)
P = TypeVar("P", bound=Program)


def program(make: Callable[[S], P], scenario: type[S]) -> Callable[..., P]:
    """A factory of programs that takes the fields of a scenario as its arguments. Scenarios are made once."""
    known = lru_cache(maxsize=None, typed=True)(scenario)

    def fresh(**given: Any) -> P:
        try:
            what = known(**{name: frozen(value) for name, value in given.items()})
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
            raise ProgramError(f"{scenario.__name__}: {wrong}") from error
        return make(what)

    fresh.__doc__ = scenario.__doc__
    fresh.__wrapped__ = scenario  # type: ignore[attr-defined]  # errors name its place
    fresh.__signature__ = inspect.signature(scenario)  # type: ignore[attr-defined]
    return fresh


@cache
def mapped(
    scenario: Any,
    values: Callable[[Any, Any], Mapping[str, Any]],
    *,
    ignored: tuple[str, ...] = (),
    sound: bool | None = None,
) -> Abstraction:
    """The refinement mapping of a scenario with an ``instance``: ``values`` takes the scenario and an
    observation. A pure function of its arguments: it may outlive executions. ``ignored``, ``sound``: see
    Abstraction; by default a scenario is sound whose ``protocol``, if it has one, is that by default.
    """
    if sound is None:
        field = type(scenario).model_fields.get("protocol")
        sound = field is None or scenario.protocol == field.default
    return Abstraction(scenario.instance(), partial(values, scenario), ignored=ignored, sound=sound)
