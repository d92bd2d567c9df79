"""The mutants by hand: all of them are judged, those of the implementation are programs, and say what is
wrong.
"""

import inspect
from importlib import import_module
from typing import Any

import pytest

from tests.manifests import manifests
from tidemark.models.mutation.patches import Patch
from tidemark.models.simulation import ProgramRef
from tidemark.spec.language.references import load_reference

MANIFESTS = manifests().values()
MUTANTS = [mutant for manifest in MANIFESTS for mutant in manifest.mutant]
HOSTS: dict[str, Any] = {
    entry.name: entry for manifest in MANIFESTS for entry in (*manifest.interleave, *manifest.conform)
}
OF_PROGRAMS = [mutant for mutant in MUTANTS if mutant.instance in HOSTS]
MODULES = sorted({mutant.ref.partition(":")[0] for mutant in OF_PROGRAMS})


@pytest.mark.parametrize("name", MODULES)
def test_every_function_and_patch_of_the_module_is_judged(name):
    written = {
        f"{name}:{member}"
        for member, value in vars(import_module(name)).items()
        if (isinstance(value, Patch) and value.on and member == value.attribute)
        or (inspect.isfunction(value) and value.__module__ == name and not member.startswith("_"))
    }
    assert {mutant.ref for mutant in OF_PROGRAMS if mutant.ref.startswith(f"{name}:")} == written


def test_the_modules_of_all_protocols_are_there():
    assert len(MODULES) >= 6
    assert len(OF_PROGRAMS) >= 70


def test_a_mutant_says_what_is_wrong():
    """That each is a program, its entry of the gate shows."""
    found = {mutant.name: load_reference(mutant.ref, what="mutant") for mutant in OF_PROGRAMS}
    said = {name: one.says if isinstance(one, Patch) else one.__doc__ or "" for name, one in found.items()}
    assert [name for name, text in said.items() if not text.strip().endswith(".")] == []


def test_tokens_of_mutants_cannot_be_confused():
    targets = {mutant.ref for mutant in OF_PROGRAMS} | {entry.program for entry in HOSTS.values()}
    assert len({ProgramRef.of(target, rows=(1,)).digest() for target in targets}) == len(targets)
