"""The TLA+ module of a protocol and its configuration, as text."""

import re
from pathlib import Path

import pytest

from tests.manifests import entry_of, manifests
from tests.models.exports.instances import EVERY, GALLERY
from tidemark.models.exports.text.names import short_name
from tidemark.models.exports.tla import to_tla
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.manifest import instance_of


@pytest.mark.parametrize("name", sorted(EVERY))
def test_every_test_protocol_is_written(name):
    module = to_tla(EVERY[name])
    code = re.sub(r'\\\*.*$|"[^"]*"', "", module.text, flags=re.MULTILINE)
    for one, two in ("()", "[]", "{}"):
        assert code.count(one) == code.count(two), one
    assert code.count("<<") == code.count(">>")
    for action in EVERY[name].spec.actions:
        assert re.search(rf"^{action.name}_*(\(| ==)", module.text, re.MULTILINE), action.name
    for prop in EVERY[name].spec.properties:
        assert re.search(rf"^{short_name(prop)}_* ==", module.text, re.MULTILINE), prop.id


def test_a_small_module_reads_like_its_protocol():
    module = to_tla(Instance("tests.protocols.small:Lock", {"Process": 2}, name="two"))
    folder = Path(__file__).parent
    assert module.text == (folder / "Lock.tla").read_text(encoding="utf-8")
    assert module.safety == (
        "\\* Instance two: Process 2\nSPECIFICATION Spec\nCONSTANTS\n  Process_count = 2\n"
        "CHECK_DEADLOCK FALSE\nINVARIANTS\n  exclusion\n"
    )
    assert module.liveness.endswith("PROPERTIES\n  served\n  asked\n")


def test_no_name_is_defined_twice_or_hidden():
    """TLA+ allows neither: a bound variable or a parameter must differ from every name of the module."""
    seen = 0
    for name, instance in EVERY.items():
        text = re.sub(r"\\\*.*$", "", to_tla(instance).text, flags=re.MULTILINE)
        defined = re.findall(r"^(\w+)(?:\([^)]*\))? ==", text, re.MULTILINE)
        for section in ("CONSTANTS", "VARIABLES"):
            listed = re.search(rf"^{section}\n((?:  .*\n)*)", text, re.MULTILINE)
            defined += re.findall(r"^  (\w+)", listed[1], re.MULTILINE) if listed else []
        assert len(defined) == len(set(defined)), name
        bound = {
            word
            for heads in re.findall(r"(?:\\[AE] |CHOOSE |[\[{])((?:\w+ \\in \w+(?:, )?)+)", text)
            for word in re.findall(r"(\w+) \\in", heads)
        }
        params = re.findall(r"^\w+\(([^)]*)\) ==", text, re.MULTILINE)
        bound |= {word.strip() for words in params for word in words.split(",")}
        seen += len(bound)
        assert not bound & set(defined), name
    assert seen > 50


def test_guards_are_one_boolean():
    """TLC counts a successor for each true part of a disjunction in an action."""
    text = to_tla(GALLERY["features"]).text
    assert '/\\ (\\E p \\in Place, n \\in Node : (at[n] = p) /\\ (paint[p] # "blue")) = TRUE' in text
    assert "/\\ (STRICT \\/ (here = 0)) = TRUE" in text


def test_steps_beyond_the_bounds_are_marked_and_cut():
    module = to_tla(GALLERY["corners"])
    assert "CONSTRAINT WithinBounds" in module.safety
    assert "  /\\ ~beyond\n  /\\ at \\in Place\n  /\\ deep \\in Depth\n" in module.text
    assert "Depth_min == -2" in module.text
    assert "Depth_min" not in module.safety  # TLC's configuration knows no negative number


def test_fairness_that_a_property_does_not_assume_is_left_out():
    text = to_tla(instance_of(entry_of("tiny"))).text
    own = text[text.index("Fairness_of_flush_completes ==") : text.index("\nflush_completes ==")]
    assert "WF_vars(send_by_signal)" in own
    assert "send_by_ticker" not in own
    assert "sync_stale" not in own
    assert "WF_vars(send_by_ticker)" in text[text.index("\nFairness ==") :]


def test_every_protocol_of_the_manifests_is_written():
    entries = {
        entry.protocol: entry for one in manifests().values() for entry in one.instance if entry.bounds
    }
    assert len(entries) > 5
    for entry in entries.values():
        module = to_tla(instance_of(entry))
        assert "INVARIANTS" in module.safety
        assert f"\\* Instance {entry.name}: " in module.safety


def test_a_given_initial_map_is_a_function():
    """TLC would try all values of a map otherwise: 5 to the power of 20 of them, for one initial state."""
    home = [0, 1, 2, 3] * 5
    instance = Instance("tests.protocols.corners:Given", {"Node": 20, "Place": 4}, {"home": home})
    text = to_tla(instance).text
    init = text[text.index("Init ==") : text.index("\n\n", text.index("Init =="))].splitlines()[1:]
    assert init == [
        "  /\\ at = [n \\in Node |-> home[n]]",
        "  /\\ same = home",
        "  /\\ seen = [n \\in Node, p \\in Place |-> p <= at[n]]",
        "  /\\ goal = 1",
        "  /\\ near = [n \\in Node |-> IF at[n] < goal THEN at[n] ELSE goal]",
        "  /\\ far \\in [Node -> Place]",
        "  /\\ later \\in Place",
        "  /\\ early = later",
        "  /\\ (\\A n \\in Node : far[n] = (at[n] + 1)) = TRUE",
        "  /\\ early <= 1",
    ]
    small = Instance("tests.protocols.corners:Given", {"Node": 2, "Place": 4}, {"home": [0, 3]})
    assert {state[:2] for state in Interpreter(small).initial()} == {((0, 3), (0, 3))}
