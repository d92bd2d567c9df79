"""The named mutants of the time tick: each is judged as it says of itself."""

import inspect

import pytest

from tidemark.models.manifest import load
from tidemark.models.protocols.timetick.mutants import specification as timetick
from tidemark.models.rooms import ROOT
from tidemark.spec.timetick import TimeTick

MUTANTS = {
    name: value
    for name, value in inspect.getmembers(timetick, inspect.isclass)
    if issubclass(value, timetick.Mutant) and value is not timetick.Mutant
}


def _judged():
    manifest = load(ROOT / "models" / "protocols" / "timetick" / "manifest.toml")
    of_this_file = [
        mutant
        for mutant in manifest.mutant
        if mutant.ref.startswith("tidemark.models.protocols.timetick.mutants.specification:")
    ]
    return {mutant.ref.partition(":")[2]: mutant for mutant in of_this_file}


def test_every_mutant_is_in_the_manifest():
    assert len(MUTANTS) >= 20
    assert set(_judged()) == set(MUTANTS)


@pytest.mark.parametrize("name", sorted(MUTANTS))
def test_a_mutant_says_what_the_manifest_says(name):
    entry, mutant = _judged()[name], MUTANTS[name]
    assert (entry.killer, entry.source, entry.instance) == (mutant.killer, mutant.origin, mutant.instance)


@pytest.mark.parametrize("name", sorted(MUTANTS))
def test_a_mutant_has_other_steps_than_the_protocol(name):
    base, mutated = TimeTick.trace(), MUTANTS[name].trace()
    assert (mutated.actions, mutated.options) != (base.actions, base.options)
