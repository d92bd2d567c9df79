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

from tests.checks.cli.test_mistakes import ADAPTER, WHOLE, folder_with
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

RACE = """
from tidemark.models.simulation import Program


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
ENTRIES = """
[proof.any-size]
expect = { every = "proved" }

[interleave.tiny-every-order]
program = "NAME:race"
claims = ["execution"]
expect = { every = "holds" }
counts = { final_states = 1 }

[conform.conform-idle-tail]
instance = "tiny"
adapter = "NAME:Adapter"
claims = ["conformance"]
examples = 5
steps = 5
expect = { every = "holds" }
"""

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
    engines = WHOLE.replace('["interpreted"]', '["interpreted", "explore", "distribute"]')
    idle = ADAPTER.replace("self.nothing_of_the_kind()", "pass")
    _, path = folder_with(home, head=RACE + idle, manifest=engines + ENTRIES)
    path.rename(home / "my doors.toml")
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
    huge = WHOLE.replace('["interpreted"]', '["explore"]').replace(
        "= 1, Number = 1", "= 20, Number = 1000000"
    )
    _, path = folder_with(tmp_path, manifest=huge)
    path.rename(tmp_path / "my doors.toml")
    options = ["--manifest", "my doors.toml", "--build", "my build", "--jobs", "1"]
    program = [sys.executable, "-m", "tidemark.checks", command, *options]
    with subprocess.Popen(program, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        first = wait_for(lambda: list((tmp_path / "my build").glob("verdicts.partial*")))
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=180)[0]
    assert first
    assert process.returncode == 7, said
    (line,) = re.findall(r"continue with: +(tidemark .*)$", said, re.MULTILINE)
    assert line == f"tidemark {command} --manifest 'my doors.toml' --build 'my build' --jobs 1 --resume"


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
