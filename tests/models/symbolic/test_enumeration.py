"""Z3 enumerates the same initial states and the same steps as the interpreter, on every test protocol."""

import inspect
import random
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import tests.protocols
import tests.protocols.known
import tests.protocols_proof
from tidemark.checks.crosscheck import peers
from tidemark.models.instance import BadInstance, Instance
from tidemark.models.interpreted.interpreter import BelowZeroError, Interpreter
from tidemark.models.lemmas.samples import sample
from tidemark.models.symbolic.enumerate import Enumerator
from tidemark.spec.language import Protocol
from tidemark.spec.language.types import NumberType, SortType

pytestmark = pytest.mark.proof

STATES = 2
"""States of each protocol whose steps are compared."""

MANY = 40
"""Initial states that are compared one by one."""


def protocols() -> list[str]:
    """The protocols of the test suite (their variants differ too little to be worth the time)."""
    found = ["tidemark.spec.flush:Flush"]
    for package in (tests.protocols, tests.protocols.known, peers, tests.protocols_proof):
        for module in iter_modules([str(Path(path)) for path in package.__path__]):
            if not module.ispkg:
                found += _declared_in(f"{package.__name__}.{module.name}")
    return sorted(found)


def _declared_in(name: str) -> list[str]:
    values = vars(import_module(name)).values()
    own = [item for item in values if inspect.isclass(item) and item.__module__ == name]
    return [f"{name}:{item.__qualname__}" for item in own if Protocol in item.__bases__]


def instance_of(reference: str, greatest: int = 2) -> Instance:
    """Two elements of each sort, numbers up to ``greatest``."""
    raw = Instance(reference)
    bounds = {
        kind.name: 2 if isinstance(kind, SortType) else ((-2, greatest) if kind.signed else greatest)
        for kind in raw.traced().types
        if isinstance(kind, SortType | NumberType)
    }
    return replace(raw, bounds=bounds)


def settled(instance: Instance) -> Instance:
    """Scalar constants without a value get one: they shape the formulas."""
    raw = instance.traced()
    draw = random.Random(1)
    values = {
        v.name: draw.choice(instance.domain(v.type).values)
        for v in raw.constants
        if v.name not in raw.options and not hasattr(v.type, "keys")
    }
    return replace(instance, constants=values)


FALLING = frozenset(
    {
        "tests.protocols.mazes:Shop",
        "tests.protocols.mazes:Till",
        "tests.protocols.small:Peterson",
        "tests.protocols_proof.traps:Below",
        "tests.protocols_proof.traps:BelowZero",
        "tests.protocols_proof.traps:EmptyShelves",
    }
)
"""A step makes a natural number negative: of Peterson that of a third process."""


@pytest.mark.parametrize("reference", sorted(FALLING))
def test_a_sample_reports_a_number_below_zero(reference):
    with pytest.raises(BelowZeroError, match=r"-1\]?, a negative"):
        sample(settled(instance_of(reference)), states=100, seconds=5.0, seed=1)


@pytest.mark.parametrize("reference", sorted(set(protocols()) - FALLING))
def test_initial_states_and_steps(reference):
    instance, met = settled(instance_of(reference)), []
    for greatest in (2, 4, 12):
        with suppress(BadInstance):
            instance = settled(instance_of(reference, greatest))
            met = sample(instance, states=100, seconds=5.0, seed=1).states
            break
    assert met, "no instance with an initial state was found"
    chosen = random.Random(2).sample(met, min(STATES, len(met)))
    for constants, state in chosen:
        here = replace(instance, constants=constants)
        interpreter, z3_reading = Interpreter(here), Enumerator(here)
        expected = {t.step: t.state for t in interpreter.successors(state) if t.in_bounds}
        assert z3_reading.successors(state) == expected
    first = set(interpreter.initial())
    if len(first) <= MANY:
        assert z3_reading.initial() == first


def test_that_this_looks_at_something():
    assert len(protocols()) > 30
    met = sample(settled(instance_of("tidemark.spec.flush:Flush")), states=50, seconds=5.0, seed=1).states
    assert len(met) >= 50
