"""``tidemark pin`` writes ids and counts, says in words what changed, and pins nothing that is wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.checks.cli.test_mistakes import folder_with
from tidemark.checks.cli.app import run as command
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.manifest import ManifestError, load
from tidemark.models.manifest.edit import with_counts, with_properties

MANIFEST = """\
# My doors.
name = "NAME"
protocol = "NAME:Doors"

[[instance]]
name = "tiny"
engines = ["interpreted"]
bounds = { Door = 1, Number = 1 }
expect = { every = "holds", refuted = ["doors.all_shut"] }  # it is wrong on purpose
# The end.
"""


def pinned(path: Path, *words: str) -> int:
    build = ["--build", str(path.parent / "build"), "--jobs", "1"]
    return command(["pin", "--manifest", str(path), *build, *words])


def test_a_new_manifest_gets_ids_counts_and_the_entry(tmp_path, capsys):
    name, path = folder_with(tmp_path, manifest=MANIFEST)
    path.write_text(path.read_text().replace(', refuted = ["doors.all_shut"]', ""))
    assert pinned(path) == ExitCode.VACUOUS_OR_UNPINNED
    said = capsys.readouterr().out
    assert f"{name}: the invariant doors.all_shut is pinned now" in said
    assert f"{name}: the lemma doors.counted is pinned now" in said
    assert f"{name}: added to {path}: [[pins]] {name}-pins" in said
    assert f"{name}: instance tiny: not pinned: doors.all_shut is refuted" in said
    assert "counts" not in path.read_text()

    wrong = path.read_text().replace('every = "holds"', 'every = "holds", refuted = ["doors.all_shut"]', 1)
    path.write_text(wrong)
    assert pinned(path) == ExitCode.AS_EXPECTED
    assert (
        f"{name}: instance tiny: pinned distinct = 2, generated = 3, depth = 2, counterexample_steps = 1"
        in capsys.readouterr().out
    )
    text = path.read_text()
    assert text.startswith("# My doors.")
    counts = {"distinct": 2, "generated": 3, "depth": 2, "counterexample_steps": 1}
    line = ", ".join(f"{count} = {number}" for count, number in counts.items())
    assert f"# it is wrong on purpose\ncounts = {{ {line} }}\n# The end." in text
    assert load(path).instance[0].counts == counts
    build = ["--build", str(tmp_path / "build"), "--jobs", "1"]
    assert command(["verify", "--manifest", str(path), *build]) == ExitCode.AS_EXPECTED

    assert pinned(path) == ExitCode.AS_EXPECTED
    assert path.read_text() == text, "there is nothing left to write"


def test_a_pinned_count_changes_only_if_that_is_asked_for(tmp_path, capsys):
    whole = MANIFEST.replace("[[instance]]", PROPERTIES).replace(
        "# The end.", "counts = { distinct = 7 } # why"
    )
    name, path = folder_with(tmp_path, manifest=whole)
    assert pinned(path) == ExitCode.AS_EXPECTED
    assert "distinct = 7" in path.read_text()
    capsys.readouterr()
    assert pinned(path, "--counts") == ExitCode.AS_EXPECTED
    assert f"{name}: instance tiny: distinct: 7 -> 2" in capsys.readouterr().out
    assert "counts = { distinct = 2, counterexample_steps = 1 } # why" in path.read_text()
    assert pinned(path, "--counts") == ExitCode.AS_EXPECTED
    assert f"{name}: instance tiny: counts as before" in capsys.readouterr().out

    odd = path.read_text().replace("distinct = 2", "edges = 2")
    path.write_text(odd)
    assert pinned(path, "--counts") == ExitCode.VACUOUS_OR_UNPINNED
    assert "not pinned: edges is not reported" in capsys.readouterr().out
    assert path.read_text() == odd


def test_a_pinned_count_of_what_is_refuted_stays(tmp_path, capsys):
    whole = MANIFEST.replace("[[instance]]", PROPERTIES).replace(', refuted = ["doors.all_shut"]', "")
    _, path = folder_with(tmp_path, manifest=whole.replace("# The end.", "counts = { distinct = 7 }"))
    assert pinned(path, "--counts", "--only", "tiny") == ExitCode.VACUOUS_OR_UNPINNED
    assert "not pinned: doors.all_shut is refuted" in capsys.readouterr().out
    assert "distinct = 7" in path.read_text()


def test_a_property_that_is_gone_is_said_to_be(tmp_path, capsys):
    more = PROPERTIES.replace('["doors.all_shut"]', '["doors.all_shut", "doors.gone"]')
    name, path = folder_with(tmp_path, manifest=MANIFEST.replace("[[instance]]", more))
    pinned(path)
    said = capsys.readouterr().out
    assert f"{name}: the invariant doors.gone is not in the specification, and is no longer pinned" in said
    assert "doors.gone" not in path.read_text()


PROPERTIES = """\
[properties]
invariant = ["doors.all_shut"]  # the claim
lemma = ["doors.counted"]
reachable = ["doors.pushed_once"]

[[instance]]"""


@pytest.mark.parametrize(
    "entry",
    [
        'name = "a"\n',
        'name = "a"\ncounts = { distinct = 1, depth = 2 }\nabout = "x"\n',
        'about = """\n[[instance]]\n"""\nname = "a"\n',
        "counts = { x = 1 }\nname = 'a'\n[instance.skip]\n\"reason\" = []\n",
        'name = "a"\n[instance.counts]\nx = 1\n',
    ],
)
def test_counts_are_written_or_refused_but_never_into_something_else(entry):
    before = '[[instance]]\nname = "b"\ncounts = { distinct = 5 }\n\n[[instance]]\n'
    text = f'{before}{entry}\n[[proof]]\nname = "a"\n'
    try:
        new = with_counts(text, section="instance", name="a", counts={"distinct": 9}, file="m.toml")
    except ManifestError as error:
        said = error.remedy
        assert "by hand" in said or "counts = { distinct = 9 }" in said
        return
    wanted = tomllib.loads(text)
    place = [one["name"] for one in wanted["instance"]].index("a")
    wanted["instance"][place]["counts"] = {"distinct": 9}
    assert tomllib.loads(new) == wanted


def test_lists_of_properties_that_are_right_are_not_touched():
    text = (
        '[properties]\ninvariant = [ "a.b" ]  # mine\nlemma = [\n  "a.c",  # old\n  "a.d",\n]\n\n[[proof]]\n'
    )
    new = with_properties(text, {"invariant": ["a.b"], "lemma": ["a.d", "a.e"]}, file="m.toml")
    assert 'invariant = [ "a.b" ]  # mine\nlemma = ["a.d", "a.e"]\n\n[[proof]]' in new
    without = with_properties(text, {"invariant": ["a.b"]}, file="m.toml")
    assert tomllib.loads(without)["properties"] == {"invariant": ["a.b"]}
