"""The mutants of proxy, root coordinator, DDL source and chain: all of them are judged."""

import inspect

import pytest

from tidemark.models.manifest import load, manifest_files
from tidemark.models.protocols.chain import mutants as chain_impl
from tidemark.models.protocols.ddl.mutants import implementation as ddl_impl
from tidemark.models.protocols.proxy.mutants import implementation as proxy_impl
from tidemark.models.protocols.timetick.mutants import implementation as timetick_impl
from tidemark.models.simulation import Program

MODULES = (proxy_impl, timetick_impl, ddl_impl, chain_impl)
OPTIONS: dict[object, dict[str, object]] = {
    proxy_impl: {"tasks": (("a",),)},
    timetick_impl: {},
    ddl_impl: {},
    chain_impl: {"writes": ((("a",),),)},
}
FEWEST = {proxy_impl: 12, timetick_impl: 13, ddl_impl: 5, chain_impl: 6}


def factories(module):
    return sorted(
        name
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    )


def judged(module):
    mutants = [mutant for manifest in map(load, manifest_files()) for mutant in manifest.mutant]
    return {m.ref.partition(":")[2]: m for m in mutants if m.ref.startswith(f"{module.__name__}:")}


@pytest.mark.parametrize("module", MODULES)
def test_every_mutant_is_in_the_manifest_with_its_killer(module):
    found = judged(module)
    assert sorted(found) == factories(module)
    assert len(found) >= FEWEST[module]
    assert all(mutant.killer for mutant in found.values())


@pytest.mark.parametrize("module", MODULES)
def test_a_mutant_is_a_program_and_says_what_is_wrong(module):
    for name in factories(module):
        factory = getattr(module, name)
        assert isinstance(factory(**OPTIONS[module]), Program)
        assert (factory.__doc__ or "").strip().endswith(".")
