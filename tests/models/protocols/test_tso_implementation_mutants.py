"""The mutants of the oracle's implementation: all of them are judged, and each is a program."""

import inspect

import pytest

from tidemark.models.manifest import load, manifest_files
from tidemark.models.protocols.tso.mutants import implementation as tso_impl
from tidemark.models.protocols.tso.program import OracleProgram
from tidemark.models.simulation import ProgramRef

MODULE = "tidemark.models.protocols.tso.mutants.implementation"
FACTORIES = sorted(
    name
    for name, function in inspect.getmembers(tso_impl, inspect.isfunction)
    if function.__module__ == MODULE and not name.startswith("_")
)


def test_every_mutant_is_in_the_manifest_with_its_killer():
    judged = {
        mutant.ref.partition(":")[2]: mutant
        for manifest in map(load, manifest_files())
        for mutant in manifest.mutant
        if mutant.ref.startswith(f"{MODULE}:")
    }
    assert sorted(judged) == FACTORIES
    assert len(FACTORIES) >= 20
    assert all(mutant.killer for mutant in judged.values())


@pytest.mark.parametrize("name", FACTORIES)
def test_a_mutant_is_a_program_and_says_what_is_wrong(name):
    fresh = ProgramRef.of(f"{MODULE}:{name}", clocks=(((1,),),), calls=((0, 1),)).load()
    assert isinstance(fresh(), OracleProgram)
    assert (getattr(tso_impl, name).__doc__ or "").strip().endswith(".")
