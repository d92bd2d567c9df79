"""Each printed command is pasted into a fresh shell, in a user's folder with a manifest of his own.

Its entries have names that the repository's manifests use too: a line that forgets the manifest would judge
something else, and say "as expected".
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checks.evidence.parts import fetched, sound, ts
from tests.processes import finished
from tidemark.checks.spark.session import wait_for
from tidemark.checks.verdicts.commands import (
    EVIDENCE_BUILD,
    Invocation,
    check_command,
    evidence_command,
    token_command,
)

PROTOCOL = """
from tidemark.models.simulation import Program
from tidemark.spec.language import *


class Doors(Protocol):
    \"\"\"Two doors of which one must be shut.\"\"\"

    Door = Enum("front", "back")
    is_open: Set[Door] = False

    @action
    def push(s, door: Door):
        \"\"\"Somebody opens a door.\"\"\"
        require(~s.is_open[door])
        s.is_open[door] = True

    @action
    def pull(s, door: Door):
        \"\"\"Somebody shuts a door.\"\"\"
        require(s.is_open[door])
        s.is_open[door] = False

    @invariant(source="a test")
    def one_is_shut(s):
        \"\"\"One door is shut.\"\"\"
        return ~(s.is_open["front"] & s.is_open["back"])


class Adapter:
    \"\"\"An implementation whose back door does not open.\"\"\"

    ignored = {}
    never_offered = {}

    def __init__(self, *_, **__):
        self.doors = [False, False]

    def state(self):
        return (tuple(self.doors),)

    def offers(self, step):
        return True

    def perform(self, step, chance):
        self.doors[0] = step.action == "push"

    def close(self):
        pass
"""

RACE = """
class Race(Program):
    \"\"\"Two processes, each of which waits for the other one.\"\"\"

    def build(self, world):
        async def wait(process):
            await process.call("other" if process.name == "one" else "one", "never")

        world.process("one", wait)
        world.process("other", wait)

    def final(self):
        return 0


def race():
    return Race()
"""
"""A program that anybody may have: it stops at once."""
MANIFEST = """
name = "doors"
protocol = "doors:Doors"

[properties]
invariant = ["doors.one_is_shut"]

[proof.any-size]
protocol = "doors:Doors"
expect = { every = "proved" }

[instance.tiny]
protocol = "doors:Doors"
engines = ["interpreted", "explore", "distribute"]
bounds = {}
expect = { every = "holds" }
counts = { distinct = 4 }

[interleave.tiny-every-order]
program = "doors:race"
claims = ["execution"]
expect = { every = "holds" }
counts = { final_states = 1 }

[conform.conform-idle-tail]
instance = "tiny"
adapter = "doors:Adapter"
claims = ["conformance"]
examples = 5
steps = 5
expect = { every = "holds" }
"""

WHEELS = """
from tidemark.spec.language import *


class Wheels(Protocol):
    \"\"\"Three wheels that turn by themselves.\"\"\"

    Place = Nat()
    first: Place = 0
    second: Place = 0
    third: Place = 0

    @action
    def turn_first(s):
        \"\"\"Turn one.\"\"\"
        s.first = s.first + 1

    @action
    def turn_second(s):
        \"\"\"Turn another.\"\"\"
        s.second = s.second + 1

    @action
    def turn_third(s):
        \"\"\"Turn the last.\"\"\"
        s.third = s.third + 1

    @invariant(source="a test")
    def counted(s):
        \"\"\"No wheel goes back.\"\"\"
        return s.first + s.second >= s.first
"""

MANY = """
name = "wheels"
protocol = "wheels:Wheels"

[properties]
invariant = ["wheels.counted"]

[instance.many]
engines = ["explore"]
bounds = { Place = 400 }
expect = { every = "holds" }
counts = { distinct = 64481201 }
"""
"""It takes long enough to be interrupted."""

REPLAY = re.compile(r"^\s*(?:replay|again): +(tidemark .*)$", re.MULTILINE)
JUDGES = ("prove", "interpreted", "explore", "distribute", "interleave", "conform")


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line in a fresh shell, with the program on its path and nothing else of ours."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return finished(["bash", "-c", line], cwd=folder, env={**os.environ, "PATH": programs, "PYTHONPATH": ""})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder, in which nothing is as his manifest expects."""
    home = tmp_path_factory.mktemp("user")
    (home / "doors.py").write_text(PROTOCOL + RACE, encoding="utf-8")
    (home / "my doors.toml").write_text(MANIFEST, encoding="utf-8")
    return home


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("commands")  # their session is in a process of their own
@pytest.mark.parametrize("judge", JUDGES)
def test_a_printed_line_judges_the_same_again(judge: str, folder: Path) -> None:
    options = "--manifest 'my doors.toml' --build 'my build'"
    first = shell(f"tidemark verify {options} --only '{judge}/*'", folder)
    assert first.returncode == 1, first.stdout + first.stderr
    lines = dict.fromkeys(REPLAY.findall(first.stdout))
    assert lines, first.stdout
    for line in lines:
        assert "--manifest 'my doors.toml'" in line
        assert "replay" in line.split() or "--build 'my build'" in line
        again = shell(line, folder)
        assert again.returncode in (1, 4), f"{line}\n{again.stdout}{again.stderr}"
        assert "doors" in again.stdout
        assert "are as expected" not in again.stdout
    assert not (folder / "build").exists()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["verify", "explore"])
def test_the_line_after_an_interrupt_goes_on_with_the_same(command: str, tmp_path: Path) -> None:
    (tmp_path / "wheels.py").write_text(WHEELS, encoding="utf-8")
    (tmp_path / "my wheels.toml").write_text(MANY, encoding="utf-8")
    options = ["--manifest", "my wheels.toml", "--build", "my build", "--jobs", "1"]
    program = [sys.executable, "-m", "tidemark.checks", command, *options]
    with subprocess.Popen(program, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        first = wait_for(lambda: list((tmp_path / "my build").glob("verdicts.partial*")))
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=180)[0]
    assert first
    assert process.returncode == 7, said
    (line,) = re.findall(r"continue with: +(tidemark .*)$", said, re.MULTILINE)
    assert line == f"tidemark {command} --manifest 'my wheels.toml' --build 'my build' --jobs 1 --resume"


def test_only_what_differs_from_the_defaults_is_repeated() -> None:
    plain = Invocation()
    assert (
        plain.complete(check_command("prove", "any-size"))
        == "tidemark verify --tier full --only prove/any-size"
    )
    mine = Invocation(
        manifests=(Path("a b.toml"), Path("c.toml")), build=Path("out"), seed=3, master="local[1]"
    )
    checked = mine.complete(check_command("prove", "any-size"))
    assert checked.endswith(
        "--manifest 'a b.toml' --manifest c.toml --build out --seed 3 --master 'local[1]'"
    )
    assert mine.complete(token_command("run1.x")) == (
        "tidemark replay run1.x --manifest 'a b.toml' --manifest c.toml"
    )
    assert mine.complete("python reproduce.py") == "python reproduce.py"


def test_what_was_given_is_given_again() -> None:
    words = ("explore", "my instance", "--manifest", "a b.toml", "--resume")
    again = Invocation(words=words).resume()
    assert again == "tidemark explore 'my instance' --manifest 'a b.toml' --resume"
    assert Invocation().resume() == "tidemark verify --resume"


def test_evidence_is_judged_again_by_the_printed_line(tmp_path: Path) -> None:
    log = sound(tmp_path / "my run") / "logs" / "standalone.log"
    log.write_text(log.read_text() + fetched(1400, 8, ts(700)) + "\n")
    first = shell("tidemark evidence 'my run/logs' --build 'my build'", tmp_path)
    assert first.returncode == 1, first.stdout + first.stderr
    (line,) = dict.fromkeys(REPLAY.findall(first.stdout))
    assert line == "tidemark evidence 'my run/logs' --build 'my build'"
    assert shell(line, tmp_path).returncode == 1
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("build")] == []


def test_a_printed_line_on_evidence_has_its_options() -> None:
    line = evidence_command([Path("a b")], build=EVIDENCE_BUILD, instance="tiny", manifests=[Path("m.toml")])
    assert line == "tidemark evidence 'a b' --instance tiny --manifest m.toml"
