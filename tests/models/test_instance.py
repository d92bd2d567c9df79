"""Instances: domains, constants, and every way in which one does not fit its protocol."""

import os
import pickle
import sys
from typing import Any

import pytest

from tests.processes import finished
from tests.protocols.stations import Overrides, Stations
from tidemark.models.digest import instance_digest
from tidemark.models.instance import BadInstance, Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.spec.language import SpecError
from tidemark.spec.language.protocol import declared_by
from tidemark.spec.language.types import BOOL, MapType

TYPES = declared_by(Stations).types
BOUNDS: dict[str, Any] = {"Station": 2, "Place": 2, "Balance": (-1, 3)}
CONSTANTS: dict[str, Any] = {"route": [0, 1, 0], "capacity": 2}


def instance(bounds: dict[str, Any] | None = None, protocol: str = "", **constants: Any) -> Instance:
    return Instance(protocol or Stations.reference(), BOUNDS | (bounds or {}), CONSTANTS | constants, "mine")


def test_domains():
    it = instance()
    assert it.domain(TYPES["Station"]).values == (0, 1)
    assert it.domain(TYPES["Place"]).values == (0, 1, 2)
    assert it.domain(TYPES["Balance"]).values == (-1, 0, 1, 2, 3)
    assert it.domain(TYPES["Mode"]).values == ("idle", "busy", "broken")
    assert it.domain(BOOL).values == (False, True)


def test_index_is_the_inverse_within_and_none_outside():
    for kind in (TYPES["Station"], TYPES["Place"], TYPES["Balance"], TYPES["Mode"], BOOL):
        domain = instance().domain(kind)
        assert [domain.index(value) for value in domain.values] == list(range(domain.size))
    balance = instance().domain(TYPES["Balance"])
    assert balance.index(-2) is None
    assert balance.index(4) is None


def test_entries_are_row_major():
    visits = next(v for v in instance().spec.variables if v.name == "visits")
    assert isinstance(visits.type, MapType)
    assert list(instance().entries(visits.type)) == [(x, p) for x in (0, 1) for p in (0, 1, 2)]


def test_scalar_constants_and_options_are_put_in():
    spec = instance(CAREFUL=False).spec
    assert [v.name for v in spec.constants] == ["route"]
    assert spec.options == {"CAREFUL": False, "LIMIT": 2, "FIRST": "idle", "capacity": 2}


def test_map_constants_are_flat():
    assert instance().map_constants == {"route": (0, 1, 0)}


def test_bounds_text_names_all_bounds():
    assert instance().bounds_text() == "Balance -1..3, Place 2, Station 2"
    assert Instance(Stations.reference()).bounds_text() == "finite by type"


def test_a_pickled_instance_carries_no_tree():
    it = instance()
    assert it.spec.actions
    data = pickle.dumps(it)
    assert len(data) < 500
    again = pickle.loads(data)
    assert again == it
    assert again.spec == it.spec


def check(it: Instance) -> None:
    Interpreter(it)
    assert it.map_constants


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: instance({"Statoin": 1}), "no sort or number 'Statoin' in .*; it has Station"),
        (lambda: instance(rout=[0]), "no constant 'rout' in .*; it has CAREFUL, LIMIT"),
        (lambda: Instance(Stations.reference(), {"Place": 2, "Balance": (-1, 1)}, CONSTANTS, "mine"),
         "no bound for Station; add it to the bounds"),
        (lambda: Instance(Stations.reference(), BOUNDS, {"capacity": 2}, "mine"),
         r"the constant route has no value; give Map\[Place, Station\] as lists"),
        (lambda: Instance(Stations.reference(), BOUNDS, {"route": [0, 1, 0]}, "mine"),
         "the constant capacity has no value; give it under constants"),
        (lambda: instance(route=[0, 1]), r"the constant route wants 3 entries for Place, not \[0, 1\]"),
        (lambda: instance(route=0), "the constant route wants 3 entries for Place, not 0"),
        (lambda: instance(route=[0, 1, 2]), "2 is not a value of Station for the constant route"),
        (lambda: instance(capacity=True), "True is not a value of Place for the constant capacity"),
        (lambda: instance(capacity=-1), "-1 is not a value of Place for the constant capacity"),
        (lambda: instance(FIRST="open"), "'open' is not a value of Mode for the constant FIRST"),
        (lambda: instance(CAREFUL=1), "1 is not a value of Bool for the constant CAREFUL"),
        (lambda: instance(capacity=0),
         r"the constants break the assumption stations.capacity_is_positive \(The line has room.\)"),
        (lambda: instance({"Station": 0}), "the bound 0 leaves no value of Station"),
        (lambda: instance({"Station": (0, 1)}), r"the bound \(0, 1\) of the sort Station; give the number"),
        (lambda: instance({"Place": (-1, 2)}), r"the bound \(-1, 2\) leaves no value of Place"),
        (lambda: instance({"Place": (2, 1)}), r"the bound \(2, 1\) leaves no value of Place"),
        (lambda: instance({"Place": 10**20}), "give a smaller bound"),
        (lambda: instance({"Balance": (0, 3)}), "the initial value -1 of balance is outside Balance 0..3"),
        (lambda: instance({"Place": 0}, Overrides.reference(), route=[0]),
         "the initial value 1 of head is outside Place 0..0; widen the bound"),
    ],
)  # fmt: skip
def test_an_instance_that_does_not_fit(make, message):
    with pytest.raises(BadInstance, match=message) as caught:
        check(make())
    assert str(caught.value).startswith("mine: ")


def test_an_instance_of_nothing():
    with pytest.raises(SpecError, match=r"no protocol 'spec\.nothing:Nothing'"):
        Instance("spec.nothing:Nothing").traced()


def test_equal_instances_are_one_key():
    one, two = instance(capacity=3), instance(capacity=3)
    assert one == two
    assert hash(one) == hash(two)
    assert {one: "found"}[two] == "found"
    turned = Instance(
        one.protocol, dict(reversed(BOUNDS.items())), {"capacity": 3, "route": (0, 1, 0)}, "mine"
    )
    assert turned == one
    assert hash(turned) == hash(one)
    assert instance(capacity=4) != one
    assert pickle.loads(pickle.dumps(one)) == one


def test_what_an_instance_was_made_from_may_change_afterwards():
    route = [0, 1, 0]
    made = instance(route=route)
    route[0] = 1
    assert made.map_constants == {"route": (0, 1, 0)}
    with pytest.raises(TypeError, match="item assignment"):
        made.bounds["Place"] = 9  # type: ignore[index]


def test_the_digest_tells_what_decides_an_instance():
    one = instance()
    assert instance_digest(one) == instance_digest(instance())
    assert instance_digest(one) == instance_digest(Instance(one.protocol, one.bounds, one.constants, "other"))
    others = [
        instance(capacity=3),
        instance({"Place": 3}),
        instance(route=[1, 1, 0]),
        instance(CAREFUL=False),
        instance(protocol=Overrides.reference()),
    ]
    assert len({instance_digest(item) for item in (one, *others)}) == 1 + len(others)


def test_the_digest_is_the_same_in_every_process():
    code = (
        "from tests.models.test_instance import instance\n"
        "from tidemark.models.digest import instance_digest\n"
        "print(instance_digest(instance()), end='')"
    )
    for seed in ("0", "1"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        run = finished([sys.executable, "-c", code], env=env)
        assert run.stdout == instance_digest(instance())
