"""The Promela model of an instance as text. tests/checks/crosscheck asks Spin whether it means the same."""

import re
from pathlib import Path

import pytest

from tests.manifests import entry_of
from tests.models.exports.instances import EVERY, GALLERY
from tidemark.models.exports.promela import flags, to_promela
from tidemark.models.instance import BadInstance, Instance
from tidemark.models.manifest import instance_of


@pytest.mark.parametrize("name", sorted(EVERY))
def test_every_test_protocol_is_written(name):
    text = to_promela(EVERY[name])
    assert text.count("{") == text.count("}")
    assert text.count("(") == text.count(")")
    for action in EVERY[name].spec.actions:
        assert re.search(rf"^/\* {action.name}: ", text, re.MULTILINE), action.name
    for flag in flags(EVERY[name].spec):
        assert f"hidden byte {flag} = true;" in text


def test_a_small_model_reads_like_its_protocol():
    text = to_promela(Instance("tests.protocols.small:Lock", {"Process": 2}, name="two"))
    begin = text.index("/* The state")
    assert text[begin:] == (Path(__file__).parent / "lock.pml").read_text(encoding="utf-8")


def test_variants_of_one_protocol_differ():
    texts = {to_promela(instance_of(entry_of(name))) for name in ("live", "seed-not-strict-live")}
    assert len(texts) == 2
    assert all("active proctype run_" in text for text in texts)


def test_statements_stand_on_one_line():
    """Spin ends a statement at the end of a line if it can, so that the rest would be lost."""
    text = to_promela(EVERY["flush-cp-s"])
    bodies = re.findall(r"^inline [^{]*\{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    assert len(bodies) > 5
    for line in "".join(bodies).splitlines():
        code = line.partition("/*")[0]
        assert code.count("(") == code.count(")"), line


def test_names_that_promela_or_c_reserve_are_changed():
    text = to_promela(GALLERY["lost-lock"])
    assert "byte place[2]" in text
    assert "bool signal_ = false;" in to_promela(instance_of(entry_of("tiny")))


def test_a_step_beyond_the_bounds_changes_nothing():
    text = to_promela(GALLERY["corners"])
    climb = text[text.index("inline climb") : text.index("/* fall")]
    assert ":: at_next <= 1 ->" in climb
    assert "the step leaves the bounds" in climb


def test_too_many_initial_states_are_refused():
    with pytest.raises(BadInstance, match="initial states"):
        to_promela(Instance("tests.protocols.small:HourClock", {"Hour": 2_500}, name="clock"))


def test_a_missing_constant_is_named():
    with pytest.raises(BadInstance, match="weights"):
        to_promela(Instance("tests.protocols.corners:Corners", {"Node": 1, "Place": 1, "Depth": (-2, 1)}))
