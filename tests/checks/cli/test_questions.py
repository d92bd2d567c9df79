"""Questions without a manifest, in a folder that has a user's modules and nothing else; and first runs."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import tidemark
from tests.checks.cli.test_mistakes import NAMES, PROTOCOL, folder_with
from tidemark.checks.cli import app as cli
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.interpreted.interpreter import BelowZeroError

GUARDED = "require(s.FREE | (s.pushed == 1))"
OPTION = "FREE: Bool = option(True)\n    limit: Map[Door, Number] = constant()"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def doors(home: Path, *, line: str = "", state: str = "") -> str:
    """A protocol without a manifest: ``module:Doors``."""
    name = f"asked_{next(NAMES)}_{home.name.replace('-', '_')}"
    text = PROTOCOL.replace("LINE", line).replace("Number = Nat()", f"Number = Nat()\n    {state}")
    (home / f"{name}.py").write_text(text, encoding="utf-8")
    return f"{name}:Doors"


def variant(home: Path, base: str, body: str) -> str:
    """A variant of a protocol of the folder: ``module:Other``."""
    module = base.partition(":")[0]
    text = f"from {module} import *\n\n\nclass Other(Doors):\n    {body}\n"
    (home / f"other_{module}.py").write_text(text, encoding="utf-8")
    return f"other_{module}:Other"


SHUT = '''@action
    def push(s, door: Doors.Door):
        """Nothing is opened."""
        s.pushed = s.pushed + 1'''


def test_the_answer_is_the_exit_status_and_nothing_is_written(home, capsys):
    protocol = doors(home)
    assert cli.run(["explore", protocol]) == ExitCode.UNEXPECTED_REFUTATION
    said = capsys.readouterr().out
    assert said.startswith(f"{protocol} within small bounds: Door 2, Number 3; for others  --bound Door=N\n")
    assert "doors.all_shut: refuted: in 1 steps, within Door 2, Number 3" in said
    assert "1. push(door=0)" in said
    assert "doors.counted: holds" in said
    assert cli.run(["explore", protocol, "--claim", "counted"]) == ExitCode.AS_EXPECTED
    assert "1 of 1 claims hold within Door 2, Number 3" in capsys.readouterr().out
    assert {path.suffix for path in home.iterdir() if path.name != "__pycache__"} == {".py"}


def test_what_is_not_exercised_is_a_remark(home, capsys):
    never = doors(home, line="require(s.pushed > 5)")
    assert cli.run(["explore", never]) == ExitCode.AS_EXPECTED
    said = capsys.readouterr().out
    assert "note: the action push never fires" in said
    assert "note: not reached within the bounds: A door is pushed." in said
    assert cli.run(["explore", never, "--claim", "pushed_once"]) == ExitCode.UNEXPECTED_REFUTATION


def test_the_first_answer_ends_the_search(home, capsys):
    protocol, size = doors(home), ["--bound", "Number=400", "--bound", "Door=9"]
    for options in (["--claim", "all_shut"], ["--first"]):
        assert cli.run(["explore", protocol, *size, *options]) == ExitCode.UNEXPECTED_REFUTATION
    assert "stopped at the first violation, as asked" in capsys.readouterr().out
    assert cli.run(["explore", protocol, "--claim", "all_shut", "--all", "--json"]) == 1
    (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert verdict["counts"]["distinct"] == 9, "the search has gone on"


def test_an_answer_that_takes_too_long_is_none(home, capsys):
    late = [doors(home), "--bound", "Door=20", "--bound", "Number=1000000", "--seconds", "0.1"]
    assert cli.run(["explore", *late, "--claim", "counted"]) == ExitCode.INCONCLUSIVE
    assert "the limit of 0.1 s was reached" in capsys.readouterr().out


def test_constants_and_bounds_are_those_of_the_question(home, capsys):
    protocol = doors(home, line=GUARDED, state=OPTION)
    given = ["explore", protocol, "--claim", "pushed_once", "--bound", "Door=1", "--set", "limit=[1]"]
    assert cli.run([*given, "--json"]) == ExitCode.AS_EXPECTED
    assert cli.run([*given, "--all", "--bound", "Number=0..5", "--set", "FREE=false", "--json"]) == 0
    out = capsys.readouterr().out.replace("}\n{", "}\0{").split("\0")
    free, guarded = (json.loads(text)["verdicts"][0] for text in out)
    assert (guarded["bounds"], guarded["counts"]["distinct"]) == ("Door 1, Number 0..5", 2)
    assert free["bounds"] == "Door 1, Number 3"


WRONG = [
    (["--claim", "all_shutt"], "has no claim 'all_shutt'", "did you mean 'all_shut'?"),
    (["--bound", "Gate=2"], "no sort or number 'Gate'", "--bound TYPE=N"),
    (["--bound", "Door=x"], "the bound 'Door=x'", "write TYPE=N"),
    (["--set", "FRE=true"], "no constant 'FRE'", "--set CONSTANT=VALUE"),
    (["--set", "limit=[1]"], "the constant limit wants 2 entries", "--set CONSTANT=VALUE"),
    ([], "the constant limit has no value", "--set CONSTANT=VALUE"),
]


@pytest.mark.parametrize("command", ["explore", "simulate", "step"])
@pytest.mark.parametrize(("words", "problem", "remedy"), WRONG)
def test_a_wrong_question_names_the_value_and_the_remedy(command, words, problem, remedy, home, capsys):
    if command == "step" and "--claim" in words:
        return
    protocol = doors(home, line=GUARDED, state=OPTION)
    right = ["--set", "limit=[1, 1]"] if "--claim" in words else []
    assert cli.run([command, protocol, *right, *words]) == ExitCode.BAD_INPUT
    said = capsys.readouterr().err
    assert problem in said
    assert remedy in said.partition("remedy:")[2]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere:Doors", "No module named 'nowhere'"),
        ("MODULE:Doorz", "Did you mean 'Doors'?"),
        ("MODULE:forall", "Name a subclass of Protocol"),
    ],
)
@pytest.mark.parametrize("command", ["explore", "prove", "simulate", "step", "diff"])
def test_what_is_no_protocol_is_named(command, name, words, home, capsys):
    asked = name.replace("MODULE", doors(home).partition(":")[0])
    assert cli.run([command, asked, *([asked] if command == "diff" else [])]) == ExitCode.BAD_INPUT
    said = capsys.readouterr().err
    assert asked in said
    assert words in said


def test_an_option_of_questions_is_not_ignored_for_entries(home, capsys):
    _, path = folder_with(home)
    manifest = ["--manifest", str(path)]
    assert cli.run(["prove", "any", "--claim", "counted", *manifest]) == ExitCode.BAD_INPUT
    assert "--claim is for a protocol" in capsys.readouterr().err
    assert cli.run(["explore", "tiny", "--claim", "counted", *manifest]) == ExitCode.AS_EXPECTED
    assert "1 of 1 claims hold within Door 1, Number 1" in capsys.readouterr().out


@pytest.mark.proof
def test_a_proof_of_one_claim_with_a_constant(home, capsys):
    protocol = doors(home, line="s.is_open[door] = s.FREE", state="FREE: Bool = option(True)")
    shut = ["prove", protocol, "--claim", "all_shut"]
    assert cli.run(shut) == ExitCode.UNEXPECTED_REFUTATION
    assert "1. push(door=0)" in capsys.readouterr().out
    assert cli.run([*shut, "--set", "FREE=false"]) == ExitCode.AS_EXPECTED
    assert "1 of 1 claims are proved for any number of Door" in capsys.readouterr().out
    assert cli.run([*shut, "--set", "FRE=false"]) == ExitCode.BAD_INPUT
    assert "did you mean 'FREE'?" in capsys.readouterr().err
    assert cli.run(shut[:2]) == ExitCode.UNEXPECTED_REFUTATION
    said = capsys.readouterr().out
    assert "doors.counted: proved: for any number of Door" in said
    assert "1 of 2 claims are proved for any number of Door" in said
    assert cli.run(["prove", "tests.protocols_proof.locks:WithoutLemma"]) == ExitCode.INCONCLUSIVE
    assert "tidemark suggest tests.protocols_proof.locks:WithoutLemma" in capsys.readouterr().out


def test_walks_of_a_protocol_end_with_the_first_refutation(home, capsys):
    walks = ["simulate", doors(home), "--visits", "200000", "--first"]
    assert cli.run([*walks, "--claim", "all_shut"]) == ExitCode.UNEXPECTED_REFUTATION
    said = capsys.readouterr().out
    assert "within small bounds" in said
    assert "counted" not in said
    assert " 2,048 visits" in said
    assert cli.run([*walks, "--claim", "counted"]) == ExitCode.INCONCLUSIVE


def test_a_protocol_is_stepped_through_within_small_bounds(home, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("push 1\nclaims\n"))
    assert cli.run(["step", doors(home)]) == ExitCode.AS_EXPECTED
    said = capsys.readouterr().out
    assert "within small bounds: Door 2, Number 3" in said
    assert "BROKEN doors.all_shut" in said


def test_a_comparison_shows_each_claim_that_changes_with_its_run(home, capsys):
    base = doors(home)
    other = variant(home, base, SHUT)
    assert cli.run(["diff", base, other, "--bound", "Number=2"]) == ExitCode.UNEXPECTED_REFUTATION
    said = capsys.readouterr().out
    assert f"all_shut: holds of {other}, is refuted of {base}" in said
    assert "1. push(door=0)" in said
    sizes = [line.partition(":")[0] for line in said.splitlines() if line.startswith("Door ")]
    assert sizes == [f"Door {number}, Number 2" for number in range(1, 7)]
    assert said.splitlines()[-1] == "1 of 3 claims change: all_shut"
    assert cli.run(["diff", base, base, "--bound", "Number=2", "--bound", "Door=2"]) == ExitCode.AS_EXPECTED
    assert "0 of 3 claims change: none" in capsys.readouterr().out


def test_a_witness_that_a_variant_loses_is_a_change(home, capsys):
    base = doors(home)
    twice = (
        SHUT.replace("+ 1", "+ 2").replace("Nothing", "Twice, nothing") + "\n        s.is_open[door] = True"
    )
    other = variant(home, base, twice)
    words = ["diff", base, other, "--claim", "pushed_once", "--bound", "Door=1"]
    assert cli.run(words) == ExitCode.UNEXPECTED_REFUTATION
    assert f"pushed_once: reached by {base}, not by {other}, within" in capsys.readouterr().out
    assert cli.run(["diff", base, other, "--claim", "counted"]) == ExitCode.AS_EXPECTED


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--claim", "shut"], "no common claim 'shut'"),
        (["--bound", "Gate=1"], "no sort or number 'Gate'"),
        (["--set", "FREE=true"], "no constant 'FREE'"),
    ],
)
def test_a_wrong_comparison(words, problem, home, capsys):
    base = doors(home)
    assert cli.run(["diff", base, base, *words]) == ExitCode.BAD_INPUT
    assert problem in capsys.readouterr().err
    assert cli.run(["diff", base, "tests.protocols.lights:Lights"]) == ExitCode.BAD_INPUT
    assert "no claim in common" in capsys.readouterr().err


BASE = """\
name = "NAME"
protocol = "NAME:Doors"

[instance.NAME-tiny]
engines = ["explore"]
bounds = { Door = 1, Number = 1 }
expect = { refuted = ["doors.all_shut"] }

[instance.wide]
engines = ["explore"]
bounds = { Door = 2, Number = 1 }
claims = ["doors.counted"]
"""


def verified(path: Path, *words: str) -> int:
    return cli.run(
        ["verify", "--manifest", str(path), "--build", str(path.parent / "b"), "--jobs", "1", *words]
    )


def test_a_first_run_is_not_red_for_what_was_never_pinned(home, capsys):
    name, path = folder_with(home, manifest=BASE)
    assert verified(path) == ExitCode.AS_EXPECTED
    said = capsys.readouterr().out
    assert "pinned" not in said.replace("would", "")
    told = (
        f"tidemark pin  would write: {name}-tiny distinct=2 generated=3 depth=2 counterexample_steps=1; wide"
    )
    assert told in said
    assert verified(path) == ExitCode.AS_EXPECTED
    assert told in capsys.readouterr().out, "nothing of it is taken over"
    build = ["--build", str(home / "b"), "--jobs", "1"]
    assert cli.run(["pin", "--manifest", str(path), *build]) == ExitCode.AS_EXPECTED
    lock = home / f"{name}.verdicts.lock"
    assert f"instance {name}-tiny distinct=2" in lock.read_text()
    assert verified(path) == ExitCode.AS_EXPECTED
    said = capsys.readouterr().out
    assert "as pinned" in said
    assert "would write" not in said
    lock.write_text(lock.read_text().replace("distinct=2", "distinct=3"))
    assert verified(path) == ExitCode.VACUOUS_OR_UNPINNED
    lock.write_text("\n".join(line for line in lock.read_text().splitlines() if "tiny" not in line) + "\n")
    assert verified(path) == ExitCode.VACUOUS_OR_UNPINNED, (
        "an entry without pins beside others that have some"
    )


def test_a_claim_that_is_refuted_is_red_in_a_first_run_too(home, capsys):
    _, path = folder_with(home, manifest=BASE.replace('expect = { refuted = ["doors.all_shut"] }', ""))
    assert verified(path) == ExitCode.UNEXPECTED_REFUTATION
    assert "-tiny distinct" not in capsys.readouterr().out, "of this entry  pin  writes nothing"


def test_three_lines_judge_a_variant_on_the_entries_of_its_base(home, capsys):
    name, path = folder_with(home, manifest=BASE)
    other = variant(home, f"{name}:Doors", SHUT).partition(":")[0]
    file = home / "shut.toml"
    file.write_text(f'name = "shut"\nprotocol = "{other}:Other"\nlike = "{path.name}"\n')
    assert verified(file) == ExitCode.MISSING_REFUTATION, "the base expects a refutation"
    said = capsys.readouterr().out
    assert "shut.toml: shut (shut-tiny, shut-wide)" in said
    assert "doors.all_shut" in said
    file.write_text(file.read_text() + "[instance.shut-tiny]\nexpect = {}\n")
    assert verified(file) == ExitCode.AS_EXPECTED
    said = capsys.readouterr().out
    assert "explore/shut-tiny 3 hold" in said
    idle = "vacuity.variable.is_open"
    assert f"would write: shut-tiny distinct=2 generated=3 depth=2 | {idle}; shut-wide distinct=2" in said
    file.write_text(file.read_text().replace(path.name, "absent.toml"))
    assert verified(file) == ExitCode.BAD_INPUT
    assert "absent.toml: cannot be read" in capsys.readouterr().err
    again = home / "again.toml"
    again.write_text(f'name = "again"\nprotocol = "{other}:Other"\nlike = "shut.toml"\n')
    assert verified(again) == ExitCode.BAD_INPUT
    assert "like = 'shut.toml', which is like another manifest" in capsys.readouterr().err


def test_a_variant_of_a_protocol_of_the_suite(home, capsys):
    (home / "mine.toml").write_text('name = "mine"\nprotocol = "tidemark.spec.ids:Ids"\nlike = "ids"\n')
    assert verified(home / "mine.toml", "--only", "explore/*") == ExitCode.AS_EXPECTED
    assert "explore/mine-" in capsys.readouterr().out


@pytest.mark.proof
def test_questions_from_python(home):
    protocol = doors(home)
    answer = tidemark.explore(protocol, claims=["all_shut"], bounds={"Door": 1})
    assert isinstance(answer, tidemark.Answer)
    assert (answer.ok, answer["all_shut"].outcome) == (False, Outcome.REFUTED)
    first, last = answer.trace("doors.all_shut")
    assert first == {"step": 0, "action": "", "is_open": (False,), "pushed": 0}
    assert last == {"step": 1, "action": "push(door=0)", "is_open": (True,), "pushed": 1}
    cls = getattr(__import__(protocol.partition(":")[0]), "Doors")  # noqa: B009
    proof = tidemark.prove(cls, claims=["counted"], jobs=1)
    assert (proof.ok, proof["counted"].outcome, proof.trace("counted")) == (True, Outcome.PROVED, [])
    with pytest.raises(KeyError):
        proof["all_shut"]
    with pytest.raises(BelowZeroError, match=r"\(pushed \+ 1\) - 2 is -1 at pushed = 0"):
        tidemark.explore(doors(home, line="s.pushed = s.pushed - 2"))
    assert all(getattr(tidemark, name) for name in (*tidemark.__all__, "__doc__"))


def test_the_package_itself_is_light():
    code = "import sys, tidemark; print(tidemark.__version__, 'pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[1] == "False"


@pytest.mark.parametrize("command", ["explore", "simulate", "step", "prove"])
def test_a_number_below_zero_ends_each_question(command, home, capsys, monkeypatch):
    """The step is shown first, with the difference and a remedy; it is not outside the bounds."""
    monkeypatch.setattr("sys.stdin", io.StringIO("push 0\n"))
    protocol = doors(home, line="s.pushed = s.pushed - 2")
    assert cli.run([command, protocol]) == ExitCode.BAD_INPUT
    said = capsys.readouterr()
    text = said.out + said.err
    assert "makes pushed = -1, a negative Number: (pushed + 1) - 2 is -1 at pushed = 0" in text
    assert "assign maximum((pushed + 1) - 2, 0)" in text
    assert "declare it with Int()" in text
    assert "leaves the bounds" not in text
    assert "counted" not in text
