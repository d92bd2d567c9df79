"""Manifest errors name the file, the value and the remedy; pins are compared with the specification."""

import copy
import shutil

import pytest

from tests.checks.gate.toy import FORWARD, REACHED, SAFE, data, manifest
from tidemark.models.manifest import (
    Expected,
    Kind,
    ManifestError,
    PinError,
    Tier,
    check_against_spec,
    load,
    manifest_files,
    parse,
)

MISSPELT = {"every": "holds", "refuted": ["lights.never_bth"]}


def broken(change) -> ManifestError:
    """The error after ``change`` was applied to a good manifest."""
    content = copy.deepcopy(data())
    change(content)
    with pytest.raises(ManifestError) as caught:
        parse(content, file="lights.toml")
    assert "lights.toml" in str(caught.value)
    return caught.value


class TestSchema:
    def test_a_good_manifest(self):
        found = manifest()
        seen = [entry.name for entry in found.entries()]
        assert seen == ["any-size", "two-lamps", "careless", "careless-mutant"]
        assert found.instance[0].tier is Tier.FAST
        assert found.instance[1].expect.of(SAFE) is Expected.REFUTED
        assert found.instance[1].expect.of(FORWARD) is Expected.HOLDS
        assert found.kinds[REACHED] is Kind.REACHABLE

    @pytest.mark.parametrize(("section", "usual"), [("instance", "holds"), ("proof", "proved")])
    def test_an_entry_without_expectation(self, section, usual):
        content = copy.deepcopy(data())
        content[section][0].pop("expect")
        assert getattr(parse(content, file="x.toml"), section)[0].expect.every.value == usual
        content[section][0]["expect"] = {"refuted": []}
        assert getattr(parse(content, file="x.toml"), section)[0].expect.every.value == usual


class TestReferences:
    @pytest.mark.parametrize(
        ("section", "place", "changes", "words"),
        [
            ("mutant", 0, {"killer": None}, ["killer", "equivalent"]),
            ("proof", 0, {"expect": {"every": "inconclusive"}}, ["inconclusive"]),
            ("instance", 0, {"bound": {"Lamp": 2}}, ["'two-lamps' . bound is an unknown key"]),
            ("instance", 0, {"bounds": None}, ["bounds is missing"]),
            *(
                ("instance", 0, {"bounds": {"Lamp": lamp}}, ["Lamp", f"{lamp!r} is no bound", "whole number"])
                for lamp in ("2", True)
            ),
            ("instance", 0, {"engines": "explore"}, ["engines = 'explore' is no list", "brackets"]),
            ("instance", 0, {"expect": MISSPELT}, ["unknown property 'lights.never_bth'", f"mean {SAFE!r}"]),
            ("mutant", 0, {"killer": "lights.x"}, ["unknown property 'lights.x'"]),
            ("mutant", 0, {"instance": "two-lamp"}, ["unknown instance 'two-lamp'", "mean 'two-lamps'"]),
            ("instance", 1, {"name": "two-lamps"}, ["used twice"]),
            ("instance", 1, {"skip": {"no reason": [SAFE]}}, ["not judged there"]),
            ("instance", 0, {"symmetry": ["Lamb"]}, ["did you mean 'Lamp'"]),
        ],
    )
    def test_a_mistake_in_an_entry_is_named(self, section, place, changes, words):
        """A value of None: the key is missing."""

        def change(content):
            whole = content[section][place] | changes
            content[section][place] = {key: value for key, value in whole.items() if value is not None}

        error = broken(change)
        said = f"{error} {error.remedy}"
        assert [word for word in words if word not in said] == []

    def test_a_property_pinned_twice(self):
        error = broken(lambda content: content["properties"].update(lemma=[SAFE]))
        assert "pinned twice" in error.message

    def test_symmetry_with_liveness_is_refused(self):
        def change(content):
            content["properties"]["leads_to"] = ["lights.goes_out"]
            content["instance"][0]["symmetry"] = ["Lamp"]

        assert "unsound" in broken(change).message


def against_spec(change) -> ManifestError:
    content = copy.deepcopy(data())
    change(content)
    with pytest.raises(ManifestError) as caught:
        check_against_spec(parse(content, file="lights.toml"), file="lights.toml")
    return caught.value


class TestAgainstTheSpecification:
    def test_a_good_one(self):
        check_against_spec(manifest(), file="lights.toml")

    def test_a_property_of_another_kind(self):
        def change(content):
            content["properties"] = {"invariant": [SAFE, FORWARD], "reachable": [REACHED]}

        error = against_spec(change)
        assert isinstance(error, PinError)
        assert "pinned as invariant, but is declared as transition_invariant" in error.message

    def test_what_a_variant_adds_is_pinned_in_its_entry(self):
        def change(content, adds=None):
            content["instance"][0]["protocol"] = "tests.protocols.lights:Brighter"
            content["instance"][0].update(adds=adds or {})

        error = against_spec(change)
        assert isinstance(error, PinError)
        assert "invariant 'lights.few_turns', which is not pinned" in error.message
        content = copy.deepcopy(data())
        change(content, adds={"invariant": ["lights.few_turns"]})
        found = parse(content, file="lights.toml")
        check_against_spec(found, file="lights.toml")
        assert "lights.few_turns" in found.claims_of(found.instance[0], [Kind.INVARIANT])
        assert "lights.few_turns" not in found.claims_of(found.instance[1], [Kind.INVARIANT])

    def test_a_variant_without_what_it_is_said_to_add(self):
        error = against_spec(lambda content: content["instance"][0].update(adds={"lemma": ["lights.none"]}))
        assert "has no lemma 'lights.none'" in error.message


class TestFiles:
    def test_the_manifests_of_the_repository_load(self):
        for path in manifest_files():
            assert load(path).name == path.parent.name


class TestFolder:
    """Files in the folder of a manifest's name add entries to it."""

    MORE = """
    [mutant.another]
    ref = "tests.checks.gate.toy:Careless"
    instance = "{instance}"
    source = "a test"
    killer = "{killer}"
    """

    def _files(self, tmp_path, more):
        whole = next(path for path in manifest_files() if path.parent.name == "flush")
        (tmp_path / "flush.toml").write_text(whole.read_text())
        shutil.copytree(whole.with_suffix(""), tmp_path / "flush")
        (tmp_path / "flush" / "more.toml").write_text(more)
        return tmp_path / "flush.toml"

    def test_entries_are_added(self, tmp_path):
        more = self.MORE.format(instance="small", killer="flush.stored_once")
        names = [entry.name for entry in load(self._files(tmp_path, more)).mutant]
        assert "another" in names
        assert len(names) > 1

    def test_they_are_checked_like_the_others(self, tmp_path):
        more = self.MORE.format(instance="tall", killer="flush.stored_once")
        with pytest.raises(ManifestError, match="unknown instance 'tall'"):
            load(self._files(tmp_path, more))

    def test_what_is_said_once_stays_in_the_first_file(self, tmp_path):
        with pytest.raises(ManifestError, match="name has no entries"):
            load(self._files(tmp_path, 'name = "flush"'))
