"""The mutants of the implementation: all of them are judged, and their tokens are their own."""

import inspect

import pytest

from tidemark.models.manifest import load, manifest_files
from tidemark.models.protocols.flush.mutants import implementation as flush_impl
from tidemark.models.protocols.flush.program import FlushProgram
from tidemark.models.simulation import ProgramRef

MODULE = "tidemark.models.protocols.flush.mutants.implementation"
FACTORIES = sorted(
    name
    for name, function in inspect.getmembers(flush_impl, inspect.isfunction)
    if function.__module__ == MODULE
)


def judged():
    manifests = map(load, manifest_files())
    return {
        mutant.ref.partition(":")[2]: mutant
        for manifest in manifests
        for mutant in manifest.mutant
        if mutant.ref.startswith(f"{MODULE}:")
    }


def test_every_mutant_is_in_the_manifest_with_its_killer():
    assert sorted(judged()) == FACTORIES
    assert len(FACTORIES) >= 16
    assert all(mutant.killer for mutant in judged().values())


@pytest.mark.parametrize("name", FACTORIES)
def test_a_mutant_is_a_program_and_says_what_is_wrong(name):
    fresh = ProgramRef.of(f"{MODULE}:{name}", rows=(1,), flushes=(1,)).load()
    assert isinstance(fresh(), FlushProgram)
    assert (getattr(flush_impl, name).__doc__ or "").strip().endswith(".")


def test_tokens_of_mutants_cannot_be_confused():
    base = ProgramRef.of("tidemark.models.protocols.flush.programs:flush", rows=(1,))
    digests = {ProgramRef.of(f"{MODULE}:{name}", rows=(1,)).digest() for name in FACTORIES}
    assert len(digests | {base.digest()}) == len(FACTORIES) + 1
