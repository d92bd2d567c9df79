"""A file is saved: what it touches is judged in a fresh process, and a line says what broke."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.processes import finished
from tidemark.checks.spark.session import wait_for
from tidemark.checks.watch.changes import changed, sources_below, times_of, watch

PROTOCOL = '''
from tidemark.spec.language import Bool, Protocol, action, invariant, require


class Door(Protocol):
    """A door with a bell."""

    is_open: Bool = False
    rang: Bool = False

    @action
    def push(s):
        """Somebody opens it."""
        require(~s.is_open)
        s.is_open = True
        s.rang = True

    @action
    def pull(s):
        """Somebody shuts it."""
        require(s.is_open)
        s.is_open = False

    @invariant(source="a test")
    def it_rings(s):
        """Nobody comes in unheard."""
        return ~s.is_open | s.rang
'''

MANIFEST = """
name = "door"
protocol = "doors:Door"
[properties]
invariant = ["door.it_rings"]
[instance.one-door]
protocol = "doors:Door"
engines = ["interpreted"]
bounds = {}
expect = { every = "holds" }
counts = { distinct = 3, generated = 4, depth = 3 }
[instance.another]
protocol = "rooms:Room"
engines = ["interpreted"]
bounds = {}
expect = { every = "holds" }
counts = { distinct = 3, generated = 4, depth = 3 }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's folder with a protocol, a variant in a file of its own, and a manifest; judged once."""
    (tmp_path / "doors.py").write_text(PROTOCOL, encoding="utf-8")
    (tmp_path / "rooms.py").write_text(PROTOCOL.replace("Door(", 'Room(').replace(
        "class Room(Protocol)", 'class Room(Protocol, name="door")'
    ), encoding="utf-8")  # fmt: skip
    (tmp_path / "door.toml").write_text(MANIFEST, encoding="utf-8")
    time.sleep(0.1)  # what is judged while a file is written is not kept
    said = finished(
        [sys.executable, "-m", "tidemark.checks", "verify", "--manifest", "door.toml", "--jobs", "1"],
        cwd=tmp_path,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert len(list((tmp_path / "build" / "cache").glob("interpreted-*.json"))) == 2, said.stdout
    return tmp_path


class Watched:
    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "tidemark.checks", "watch", "--manifest", "door.toml"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.said = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line

    def end(self) -> None:
        """Whatever happened: no process, no open pipe."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def says(self, text: str) -> str:
        """Wait until it says something; the rest of what it said is forgotten."""
        try:
            wait_for(lambda: re.search(text, self.said), seconds=90)
        except TimeoutError:
            pytest.fail(f"it does not say {text!r}, but: {self.said}")
        said, self.said = self.said, ""
        return said


@pytest.fixture
def watched(project: Path) -> Iterator[Watched]:
    running = Watched(project)
    try:
        running.says("watching")
        yield running
    finally:
        running.end()


@pytest.mark.slow
def test_a_save_that_breaks_and_one_that_repairs(project: Path, watched: Watched) -> None:
    path = project / "doors.py"
    path.write_text(PROTOCOL.replace("        s.rang = True\n", ""), encoding="utf-8")
    said = watched.says(r"checks broke .*\n")
    assert "saved: doors.py" in said
    assert "BROKE  interpreted/one-door: expected holds; " in said
    assert "1 of 1 checks broke · 1 unchanged" in said  # the variant stands in a file of its own
    path.write_text(PROTOCOL.replace("class Door", "class Door:\nclass Door"), encoding="utf-8")
    assert re.search(r"BROKE  .*doors\.py:\d+: ", watched.says(r"BROKE .*\n"))
    path.write_text(PROTOCOL + "# repaired\n", encoding="utf-8")
    assert "0 checks as expected · 2 unchanged" in watched.says("as expected")
    watched.process.send_signal(signal.SIGINT)
    assert watched.process.wait(30) == 0
    assert not (project / "build" / "verdicts.partial.json").exists()


def test_what_has_changed(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.toml"):
        (tmp_path / name).write_text("1", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("1", encoding="utf-8")
    for folder in (".git", "build", "__pycache__"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "d.py").write_text("1", encoding="utf-8")

    def look() -> dict[Path, tuple[int, int]]:
        return times_of(sources_below(tmp_path, besides=tmp_path / "build"))

    before = look()
    assert [path.name for path in before] == ["a.py", "b.py", "c.toml"]
    assert changed(before, look()) == []
    (tmp_path / "a.py").write_text("longer", encoding="utf-8")
    (tmp_path / "b.py").unlink()
    (tmp_path / "e.py").write_text("1", encoding="utf-8")
    assert [path.name for path in changed(before, look())] == ["a.py", "b.py", "e.py"]


def test_a_save_during_a_run_starts_another_run(tmp_path: Path) -> None:
    """The first command would take a minute; it is ended, and nothing is left when the watch ends."""
    source, log = tmp_path / "a.py", tmp_path / "log"
    source.write_text("0", encoding="utf-8")
    code = (
        "import pathlib, sys, time; log = pathlib.Path(sys.argv[1]); "
        "log.open('a').write(pathlib.Path(sys.argv[2]).read_text()); time.sleep(60)"
    )
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        if text.startswith("watching"):
            source.write_text("10", encoding="utf-8")

    def files() -> Iterator[Path]:
        text = log.read_text(encoding="utf-8") if log.exists() else ""
        if text == "10" and source.read_text(encoding="utf-8") == "10":
            source.write_text("200", encoding="utf-8")
        if text == "10200":
            raise KeyboardInterrupt
        yield source

    with pytest.raises(KeyboardInterrupt):
        watch([sys.executable, "-c", code, str(log), str(source)], files=files, say=say, interval=0.05)
    assert [line.partition(":")[0] for line in said] == ["watching 1 files; Ctrl-C ends it", "saved", "saved"]
