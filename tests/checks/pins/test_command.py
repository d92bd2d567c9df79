"""``tidemark pin`` locks counts, says in words what changed, and locks nothing that is wrong."""

from pathlib import Path

import pytest

from tests.checks.cli.test_mistakes import folder_with
from tidemark.checks.cli.app import run as command
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.manifest import ManifestError, load
from tidemark.models.manifest.verdicts_lock import FORM, Locked, read_verdicts, verdicts_file, verdicts_text

MANIFEST = """\
# My doors.
name = "NAME"
protocol = "NAME:Doors"

[instance.tiny]
engines = ["interpreted"]
bounds = { Door = 1, Number = 1 }
expect = { refuted = ["doors.all_shut"] }  # it is wrong on purpose
"""
PLACE = ("instance", "tiny")
COUNTS = {"distinct": 2, "generated": 3, "depth": 2, "counterexample_steps": 1}


def pinned(path: Path, *words: str) -> int:
    build = ["--build", str(path.parent / "build"), "--jobs", "1"]
    return command(["pin", "--manifest", str(path), *build, *words])


def test_a_new_manifest_gets_its_locks(tmp_path, capsys):
    name, path = folder_with(tmp_path, manifest=MANIFEST)
    path.write_text(path.read_text().replace('refuted = ["doors.all_shut"]', ""))
    assert pinned(path) == ExitCode.VACUOUS_OR_UNPINNED
    said = capsys.readouterr().out
    assert f"{name}: 5 claims, steps and variants are pinned now" in said
    assert f"{name}: instance tiny: not pinned: doors.all_shut is refuted" in said
    assert not verdicts_file(path).exists()
    path.write_text(text := MANIFEST.replace("NAME", name))
    assert pinned(path) == ExitCode.AS_EXPECTED
    counts = ", ".join(f"{count} = {number}" for count, number in COUNTS.items())
    assert f"{name}: instance tiny: pinned {counts}" in capsys.readouterr().out
    assert path.read_text() == text, "the manifest is its author's"
    assert load(path).instance[0].counts == COUNTS
    build = ["--build", str(tmp_path / "build"), "--jobs", "1"]
    assert command(["verify", "--manifest", str(path), *build]) == ExitCode.AS_EXPECTED
    lock = verdicts_file(path).read_text()
    assert pinned(path) == ExitCode.AS_EXPECTED
    assert verdicts_file(path).read_text() == lock, "there is nothing left to write"


def lock(path: Path, **counts: int) -> Path:
    file = verdicts_file(path)
    file.write_text(verdicts_text("any", [(PLACE, Locked(counts))]))
    return file


def test_a_locked_count_changes_only_if_that_is_asked_for(tmp_path, capsys):
    name, path = folder_with(tmp_path, manifest=MANIFEST)
    file = lock(path, distinct=7)
    assert pinned(path) == ExitCode.AS_EXPECTED
    assert "distinct=7" in file.read_text()
    capsys.readouterr()
    assert pinned(path, "--counts") == ExitCode.AS_EXPECTED
    assert f"{name}: instance tiny: distinct: 7 -> 2" in capsys.readouterr().out
    assert read_verdicts(file)[PLACE].counts == {"distinct": 2, "counterexample_steps": 1}
    assert pinned(path, "--counts") == ExitCode.AS_EXPECTED
    assert f"{name}: instance tiny: counts as before" in capsys.readouterr().out
    lock(path, edges=2)
    odd = file.read_text()
    assert pinned(path, "--counts") == ExitCode.VACUOUS_OR_UNPINNED
    assert "not pinned: edges is not reported" in capsys.readouterr().out
    assert file.read_text() == odd


def test_a_locked_count_of_what_is_refuted_stays(tmp_path, capsys):
    _, path = folder_with(tmp_path, manifest=MANIFEST.replace('refuted = ["doors.all_shut"]', ""))
    file = lock(path, distinct=7)
    assert pinned(path, "--counts", "--only", "tiny") == ExitCode.VACUOUS_OR_UNPINNED
    assert "not pinned: doors.all_shut is refuted" in capsys.readouterr().out
    assert "distinct=7" in file.read_text()


def test_a_count_that_the_manifest_states_is_never_changed(tmp_path, capsys):
    stated = MANIFEST + "counts = { distinct = 7 }\n"
    name, path = folder_with(tmp_path, manifest=stated)
    assert pinned(path, "--counts") == ExitCode.VACUOUS_OR_UNPINNED
    assert "distinct = 7 is stated in the manifest, and 2 was seen" in capsys.readouterr().out
    assert path.read_text() == stated.replace("NAME", name)
    lock(path, distinct=2)
    with pytest.raises(ManifestError, match="'tiny': distinct = 7 in the manifest, and 2 in its lock"):
        load(path)


def test_what_is_not_exercised_is_locked(tmp_path, capsys):
    """The doors can only be pushed when they were pushed before."""
    text = MANIFEST.replace("interpreted", "explore").replace("all_shut", "pushed_once")
    name, path = folder_with(tmp_path, manifest=text, line="require(s.pushed > 1)")
    assert pinned(path) == ExitCode.AS_EXPECTED
    said = capsys.readouterr().out
    assert f"{name}: instance tiny: does not exercise vacuity." in said
    (locked,) = read_verdicts(verdicts_file(path)).values()
    assert locked.vacuous
    build = ["--build", str(tmp_path / "build"), "--jobs", "1"]
    assert command(["verify", "--manifest", str(path), *build]) == ExitCode.AS_EXPECTED
    more = Locked(locked.counts, (*locked.vacuous, "vacuity.action.nothing"))
    verdicts_file(path).write_text(verdicts_text(name, [(PLACE, more)]))
    assert command(["verify", "--manifest", str(path), *build]) == ExitCode.VACUOUS_OR_UNPINNED
    assert "'vacuity.action.nothing' was not looked at" in capsys.readouterr().out
    assert pinned(path, "--counts") == ExitCode.AS_EXPECTED
    assert "exercises vacuity.action.nothing now" in capsys.readouterr().out
    assert read_verdicts(verdicts_file(path)) == {PLACE: locked}


def test_a_witness_that_is_not_reached_is_locked_and_named(tmp_path, capsys):
    text = MANIFEST.replace("interpreted", "explore").replace("all_shut", "pushed_once")
    text = text.replace('expect = { refuted = ["doors.pushed_once"] }', "")
    name, path = folder_with(tmp_path, manifest=text, line="require(s.pushed > 1)")
    assert pinned(path) == ExitCode.AS_EXPECTED
    assert f"{name}: instance tiny: does not exercise doors.pushed_once" in capsys.readouterr().out
    assert load(path).instance[0].skip == {"doors.pushed_once": "as the lock says"}
    assert pinned(path, "--counts") == ExitCode.AS_EXPECTED, "it is looked for again"
    assert "counts as before" in capsys.readouterr().out


LOAD = """\
name = "load"
protocol = "tidemark.spec.queries:Queries"

[interleave.load]
program = "tidemark.models.protocols.queries.program:queries"
reduction = "states"
constants = { requests = 1, asks = 0, releases = true, early = true }
claims = ["refinement", "execution", "WITNESS"]
"""
WITNESS = "queries.a_release_meets_a_fetch"


def test_a_witness_that_the_manifest_lists_is_answered_once(tmp_path: Path) -> None:
    path = tmp_path / "manifest.toml"
    path.write_text(LOAD.replace(', "WITNESS"', ""))
    assert pinned(path) == ExitCode.AS_EXPECTED
    assert load(path).interleave[0].claims == ("refinement", "execution", WITNESS), "the lock has it"
    for _ in range(2):
        path.write_text(LOAD.replace("WITNESS", WITNESS))
        assert pinned(path, "--counts") == ExitCode.AS_EXPECTED
        assert load(path).interleave[0].claims == ("refinement", "execution", WITNESS)
        assert f"+ {WITNESS}" not in verdicts_file(path).read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "begins with ''"),
        ("# tidemark verdicts 9: ...\n", "another version's form"),
        (f"# {FORM}: ...\ninstance tiny distinct=two\n", "line 2 is no entry with counts"),
        (f"# {FORM}: ...\ninstance tiny distinct=2 | a b\n", "line 2 is no entry with counts"),
        (f"# {FORM}: ...\n>>>>>>> theirs\n", "line 2 is no entry with counts"),
        (f"# {FORM}: ...\n" + 2 * "instance tiny distinct=2\n", "line 3 has 'instance tiny' a second time"),
        (
            f"# {FORM}: ...\ninstance large distinct=2\n",
            "the lock has the instance 'large', which the manifest",
        ),
    ],
)
def test_a_lock_that_is_none(text, said, tmp_path):
    _, path = folder_with(tmp_path, manifest=MANIFEST)
    verdicts_file(path).write_text(text)
    with pytest.raises(ManifestError, match=said):
        load(path)


def test_a_lock_says_what_was_written_into_it(tmp_path):
    lines = {
        ("instance", "a"): Locked({"distinct": 1, "depth": 2}, ("vacuity.action.x", "vacuity.variable.y")),
        ("interleave", "b.c"): Locked({"executions": 0}),
        ("interleave", "d"): Locked({}, ("vacuity.action.x",)),
        ("interleave", "e"): Locked({"steps": 1}, ("vacuity.action.x",), ("x.is_reached", "x.too")),
    }
    file = tmp_path / "x.verdicts.lock"
    file.write_text(verdicts_text("x", lines.items()))
    assert read_verdicts(file) == lines
