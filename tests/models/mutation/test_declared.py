"""Mutants say what they are themselves; the manifest pins how many a module has."""

import copy

import pytest

from tests.checks.gate.toy import SAFE, data
from tidemark.models.manifest import ManifestError, PinError, parse
from tidemark.models.mutation.declared import mutant, mutants_of
from tidemark.spec.language import Protocol

HERE = __name__


class Base(Protocol):
    """What is varied."""


@mutant(killer=SAFE, source="a first", instance="two-lamps")
@mutant(killer="lights.lit", source="a second", instance="careless", name="by-another", tier="full")
class ForgetsALamp(Base):
    """Two properties find it."""


class ForgetsMore(ForgetsALamp):
    """A subclass is no mutant by itself."""


@mutant(source="a third", instance="two-lamps", equivalent="nobody looks", adds={"lemma": ["lights.x"]})
def stays_dark() -> None:
    """A function is a mutant like a class."""


def manifest(**module: object):
    """The toy's manifest with this file as a module of mutants."""
    content = copy.deepcopy(data())
    content["properties"]["lemma"] = ["lights.lit"]
    content["mutants"] = [{"module": HERE, "number": 3, **module}]
    return parse(content, file="lights.toml")


def test_entries_are_made_of_what_the_module_says():
    entries = manifest(prefix="own-").mutant[1:]
    assert [(entry.name, entry.killer, entry.tier.value) for entry in entries] == [
        ("own-forgets-a-lamp", SAFE, "fast"),
        ("own-by-another", "lights.lit", "full"),
        ("own-stays-dark", None, "fast"),
    ]
    assert [entry.ref.partition(":")[2] for entry in entries] == [
        "ForgetsALamp", "ForgetsALamp", "stays_dark",
    ]  # fmt: skip
    assert entries[1].source == "a second"
    assert entries[2].equivalent == "nobody looks"
    assert dict(entries[2].adds) == {"lemma": ("lights.x",)}


def test_only_what_the_module_itself_declares():
    assert len(mutants_of(HERE)) == 3
    assert mutants_of("pathlib") == ()


def test_a_mutant_that_vanishes():
    with pytest.raises(PinError, match=r"declares 3 mutants, and 4 are pinned \(forgets-a-lamp, by-another"):
        manifest(number=4)


def test_a_mutant_that_nobody_pinned():
    with pytest.raises(PinError, match="declares 3 mutants, and 2 are pinned"):
        manifest(number=2)


def test_a_module_that_is_not_there():
    with pytest.raises(ManifestError, match=r"no module of mutants 'tests\.nowhere'"):
        manifest(module="tests.nowhere")


def test_a_key_that_nobody_reads():
    with pytest.raises(ManifestError, match=r"mutants\.0\.prefx"):
        manifest(prefx="own-")


def test_what_it_says_is_checked_like_a_written_entry():
    content = copy.deepcopy(data())
    content["mutants"] = [{"module": HERE, "number": 3}]
    with pytest.raises(ManifestError, match=r"mutant 'by-another': unknown property 'lights\.lit'"):
        parse(content, file="lights.toml")
