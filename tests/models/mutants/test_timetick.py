"""The named mutants of the time tick: each is judged as it says of itself."""

import inspect

import pytest

from models.manifest import load
from models.manifest.load import FOLDER
from models.mutants import timetick
from spec.timetick import TimeTick

MUTANTS = {
    name: value
    for name, value in inspect.getmembers(timetick, inspect.isclass)
    if issubclass(value, timetick.Mutant) and value is not timetick.Mutant
}


def _judged():
    manifest = load(FOLDER / "timetick.toml")
    of_this_file = [mutant for mutant in manifest.mutant if mutant.ref.startswith("models.mutants.timetick:")]
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
