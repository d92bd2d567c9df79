"""The mutants by hand: all of them are judged, those of the implementation are programs, and say what is
wrong.
"""

import inspect
from importlib import import_module

import pytest

from tidemark.models.manifest import load, manifest_files
from tidemark.models.protocols.timetick.mutants import specification as timetick
from tidemark.models.simulation import Program, ProgramRef
from tidemark.spec.timetick import TimeTick

MUTANTS = [mutant for path in manifest_files() for mutant in load(path).mutant]
PROGRAMS: dict[str, dict[str, object]] = {
    "flush.mutants.implementation": {"rows": (1,), "flushes": (1,)},
    "tso.mutants.implementation": {"clocks": (((1,),),), "calls": ((0, 1),)},
    "proxy.mutants.implementation": {"tasks": (("a",),)},
    "timetick.mutants.implementation": {},
    "ddl.mutants.implementation": {},
    "chain.mutants": {"writes": ((("a",),),)},
}
"""The modules of mutants of the implementation, with arguments of a small program."""

FACTORIES = [
    (module, mutant.ref.partition(":")[2])
    for module in PROGRAMS
    for mutant in MUTANTS
    if mutant.ref.startswith(f"tidemark.models.protocols.{module}:")
]
TIMETICK = [ref for mutant in MUTANTS if (ref := mutant.ref).startswith(f"{timetick.__name__}:")]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_function_of_the_module_is_judged(name):
    module = import_module(f"tidemark.models.protocols.{name}")
    written = {
        name
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }
    assert {factory for owner, factory in FACTORIES if owner == name} == written
    assert written


@pytest.mark.parametrize(("module", "name"), FACTORIES)
def test_a_mutant_is_a_program_and_says_what_is_wrong(module, name):
    fresh = ProgramRef.of(f"tidemark.models.protocols.{module}:{name}", **PROGRAMS[module]).load()
    assert isinstance(fresh(), Program)
    factory = getattr(import_module(f"tidemark.models.protocols.{module}"), name)
    assert (factory.__doc__ or "").strip().endswith(".")


def test_tokens_of_mutants_cannot_be_confused():
    module = "flush.mutants.implementation"
    names = [name for owner, name in FACTORIES if owner == module]
    targets = [f"tidemark.models.protocols.{module}:{name}" for name in names]
    targets.append("tidemark.models.protocols.flush.programs:flush")
    assert len(names) >= 16
    assert len({ProgramRef.of(target, rows=(1,)).digest() for target in targets}) == len(targets)


@pytest.mark.parametrize("ref", TIMETICK)
def test_a_mutant_has_other_steps_than_the_protocol(ref):
    base, mutated = TimeTick.trace(), getattr(timetick, ref.partition(":")[2]).trace()
    assert (mutated.actions, mutated.options) != (base.actions, base.options)
