"""Patches change the code of the implementation while a program runs, and fail by name if it has moved."""

from dataclasses import replace

import pytest

from tests.manifests import manifests
from tidemark.impl.client.session import Session
from tidemark.models.mutation import patches as module
from tidemark.models.mutation.declared import mutants_of
from tidemark.models.mutation.patches import Edit, Host, Patch, PatchError, patched, patches, put_in, restore
from tidemark.models.mutation.source import planting
from tidemark.models.simulation import Program, ProgramRef
from tidemark.spec.language.references import load_reference

NOTE = "client/session.py:Session._note"


class Plain(Program):
    """A program that does nothing."""


HOST = Host("an-entry", Plain)


def patch(name: str, *, at: str = NOTE, old: str = "max(self.timestamp, ts)", new: str = "ts") -> Patch:
    return Patch(name, at=at, old=old, new=new, on=HOST, source="here", says="It is wrong.", killer="a")


MUTANTS = patches(__name__, patch("goes-back"), patch("is-doubled", new="2 * ts"))


def noted(*stamps: int) -> int:
    session = Session()
    for ts in stamps:
        session._note(ts)
    return session.timestamp


def test_the_code_is_in_while_the_program_of_the_patch_is_loaded() -> None:
    assert noted(5, 3) == 5
    goes_back, doubled = (ProgramRef.of(f"{__name__}:{name}").load() for name in ("goes_back", "is_doubled"))
    assert isinstance(goes_back(), Plain)
    assert noted(5, 3) == 3
    doubled()
    assert noted(5, 3) == 6
    goes_back()
    assert noted(5, 3) == 3
    ProgramRef.of(f"{__name__}:Plain").load()()
    assert noted(5, 3) == 5, "another program runs the code as it is written"
    goes_back()
    restore()
    assert noted(5, 3) == 5


def test_a_slip_is_in_while_hosts_load_their_programs() -> None:
    with patched(MUTANTS[0]):
        ProgramRef.of(f"{__name__}:Plain").load()()
        restore()
        assert noted(5, 3) == 3
    assert noted(5, 3) == 5


def test_it_is_known_which_patch_is_in() -> None:
    assert module.present() is None
    put_in(MUTANTS[0])
    assert module.present() is MUTANTS[0]
    restore()
    assert module.present() is None


def test_a_slip_stays_in_when_a_test_puts_the_code_of_patches_back() -> None:
    with patched(MUTANTS[0]):
        restore()
        assert noted(5, 3) == 3
    assert noted(5, 3) == 5


def test_several_functions_may_belong_to_one_patch() -> None:
    also = (Edit(NOTE.replace("_note", "__init__"), "= ZERO", "= 7"),)
    both = Patch(
        "both", at=NOTE, old="max(", new="min(", on=HOST, source="s", says="w", killer="a", also=also
    )
    put_in(both)
    assert noted(9) == 7
    restore()
    assert noted(9) == 9
    with pytest.raises(PatchError, match="'both' changes one place twice"):
        replace(both, also=also + also)


def test_a_host_may_give_its_factory_further_arguments() -> None:
    host = Host("an-entry", lambda **options: options)
    larger = replace(MUTANTS[0], on=host.like(sound=False, size=2))
    assert larger(size=1, calls=3) == {"size": 2, "calls": 3, "sound": False}
    assert replace(MUTANTS[0], on=host)(size=1) == {"size": 1}


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (Edit(NOTE, "min(self.timestamp, ts)", "ts"), "stands there 0 times"),
        (Edit(NOTE, "t", "x"), "times, not once"),
        (Edit("client/session.py:Session.nothing", "a", "b"), "no such function"),
        (Edit(NOTE, "max(self.timestamp, ts)", "max("), "no Python"),
    ],
)
def test_a_patch_that_does_not_fit_says_where(edit: Edit, said: str) -> None:
    with pytest.raises(PatchError, match=said) as caught:
        edit.code()
    assert edit.at in str(caught.value)


def test_two_patches_of_one_name() -> None:
    with pytest.raises(PatchError, match="two 'goes-back'"):
        patches(__name__, patch("goes-back"))


def test_an_entry_is_made_of_each_patch() -> None:
    found = mutants_of(__name__)
    seen = [(one.name, one.instance, one.killer) for one in found]
    assert seen == [("goes-back", "an-entry", "a"), ("is-doubled", "an-entry", "a")]
    assert load_reference(found[0].ref, what="mutant") is MUTANTS[0]


def test_every_patch_of_the_repository_fits() -> None:
    """Each changes what is there; a mutant is tried on the program that its entry names."""
    tried = 0
    for manifest in manifests().values():
        programs = {one.name: one.program for one in manifest.interleave}
        asked = {entry.ref: programs.get(entry.instance) for entry in manifest.mutant}
        asked |= {entry.adapter: None for entry in manifest.conform if entry.adapter is not None}
        for reference, program in asked.items():
            found = load_reference(reference, what="mutant")
            if isinstance(found, Patch):
                assert found.on is not None, reference
                variant = dict(found.on.given).get("protocol")
                assert variant is None or load_reference(variant, what="protocol"), reference
                assert all(not planting.same(f.__code__, code) for f, code in found.codes()), reference
                made_by = load_reference(program, what="program") if program else found.on.make
                assert made_by is found.on.make, reference
                tried += 1
        for entry in manifest.implementation:
            for slip in load_reference(entry.slips, what="list of slips") if entry.slips else ():
                assert all(not planting.same(f.__code__, code) for f, code in slip.codes()), slip.name
                tried += 1
    assert tried > 400
    assert module.present() is None
