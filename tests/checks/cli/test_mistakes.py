"""Mistakes of a user and troubles of a machine: each has its own words, and none is called internal."""

import itertools
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.processes import finished
from tidemark.checks.cli import app as cli
from tidemark.checks.gate.lock import hold
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode

NAMES = itertools.count()

PROTOCOL = """\
from tidemark.spec.language import *


class Doors(Protocol):
    \"\"\"A door.\"\"\"

    Door = Sort()
    Number = Nat()
    is_open: Set[Door] = False
    pushed: Number = 0

    @action
    def push(s, door: Door):
        \"\"\"Open a door.\"\"\"
        s.is_open[door] = True
        s.pushed = s.pushed + 1
        LINE

    @invariant(source="a test")
    def all_shut(s):
        \"\"\"All doors are shut.\"\"\"
        return forall(s.Door, lambda d: ~s.is_open[d])

    @lemma(source="a test")
    def counted(s):
        \"\"\"A door that is open was pushed.\"\"\"
        return forall(s.Door, lambda d: implies(s.is_open[d], s.pushed > 0))

    @reachable(after="push", source="a test")
    def pushed_once(after):
        \"\"\"A door is pushed.\"\"\"
        return after.pushed == 1
"""

MANIFEST = """\
name = "NAME"
protocol = "NAME:Doors"

[properties]
invariant = ["doors.all_shut"]

[instance.tiny]
engines = ["interpreted"]
bounds = { Door = 1, Number = 1 }
expect = { every = "holds" }
"""


def folder_with(tmp_path, *, line="", head="", manifest=MANIFEST):
    """A module of a user and its manifest; no other test has a module of this name."""
    name = f"doors_{os.getpid()}_{next(NAMES)}"
    (tmp_path / f"{name}.py").write_text(head + PROTOCOL.replace("LINE", line), encoding="utf-8")
    path = tmp_path / f"{name}.toml"
    path.write_text(manifest.replace("NAME", name), encoding="utf-8")
    return name, path


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("s.pushed = s.pushed + undefined", r":17: push .*NameError: name 'undefined' is not defined"),
        ("s.pushed = 1 // 0", r":17: push .*ZeroDivisionError"),
        ("for door in s.Door: pass", r":17: push .*TypeError: .* not iterable"),
        ("if s.is_open[door]: s.pushed = 0", r":17: a symbolic value has no truth value"),
        ("s.pushed = s.is_open[door]", r":17: "),
        ("s.pusht = 1", r":17: Doors has no variable 'pusht'"),
        ("s.is_open.update(1)", r":17: .*update"),
        ("s.pushed[1] = 1", r":17: .*is not a map"),
        ("s.Door = 1", r":17: .*Door"),
        ("s.pushed = = 1", r":17: .*SyntaxError: invalid syntax"),
    ],
)
def test_an_error_in_a_protocol_names_the_line(line, words, tmp_path, capsys):
    name, path = folder_with(tmp_path, line=line)
    assert cli.run(["show", "--manifest", str(path)]) == ExitCode.BAD_INPUT
    said = capsys.readouterr().err
    assert re.search(f"{name}.py{words}", said), said
    assert "internal" not in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('@invariant(source="a test")', "@invariant", r"Write  @invariant\(\)  or  @invariant\(source="),
        ("pushed: Number = 0", "pushed: Number = None", r"None as an initial value\b[^A]*declare a Bool"),
    ],
)
def test_a_declaration_that_is_nearly_right_is_answered_with_the_right_one(old, new, words, tmp_path, capsys):
    name, path = folder_with(tmp_path)
    module = tmp_path / f"{name}.py"
    module.write_text(module.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert cli.run(["show", "--manifest", str(path)]) == ExitCode.BAD_INPUT
    said = capsys.readouterr().err
    assert f"{name}.py:" in said
    assert re.search(words, said), said


def test_the_line_of_an_import_that_fails_is_named(tmp_path, capsys):
    name, path = folder_with(tmp_path, head="import no_such_package\n")
    assert cli.run(["show", "--manifest", str(path)]) == ExitCode.BAD_INPUT
    said = capsys.readouterr().err
    assert (
        f"{name}.py:1: {name} cannot be imported: ModuleNotFoundError: No module named 'no_such_package'"
        in said
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("expect", "claims = []\nexpect", "has no claim that interpreted decides (`claims`)"),
        ("expect", "kinds = []\nexpect", "has no claim that interpreted decides (`kinds`)"),
        ('every = "holds"', '"doors.all_shut" = "refuted"', 'write  refuted = ["doors.all_shut"]'),
        ("Door = 1,", 'Door = "one",', "bounds . Door = 'one' is no bound"),
    ],
)
def test_a_mistake_in_a_manifest_is_named_with_its_remedy(old, new, words, tmp_path, capsys):
    _, path = folder_with(tmp_path, manifest=WHOLE.replace(old, new, 1))
    status = cli.run(["interpreted", "--manifest", str(path), "--build", str(tmp_path / "build")])
    assert status == ExitCode.BAD_INPUT
    said = "".join(capsys.readouterr())
    assert words in said
    assert "report it" not in said


def test_all_that_is_not_pinned_is_said_at_once_with_the_lines_to_write(tmp_path, capsys):
    _, path = folder_with(tmp_path)
    assert cli.run(["show", "--manifest", str(path)]) == ExitCode.VACUOUS_OR_UNPINNED
    said = capsys.readouterr().err
    assert "the lemma 'doors.counted', which is not pinned" in said
    assert "the reachable 'doors.pushed_once', which is not pinned" in said
    lines = [line.strip() for line in said.splitlines() if line.startswith("    ")]
    assert lines[0] == "[properties]"
    written = path.read_text().replace('[properties]\ninvariant = ["doors.all_shut"]', "\n".join(lines))
    path.write_text(written, encoding="utf-8")
    assert cli.run(["show", "--manifest", str(path)]) == ExitCode.AS_EXPECTED


def test_all_wrong_keys_are_said_at_once(tmp_path, capsys):
    wrong = MANIFEST.replace("engines", "engine").replace("bounds", "bonds")
    _, path = folder_with(tmp_path, manifest=wrong)
    assert cli.run(["show", "--manifest", str(path)]) == ExitCode.BAD_INPUT
    said = capsys.readouterr().err
    for words in (
        "engines is missing",
        "engine is an unknown key",
        "bounds is missing",
        "bonds is an unknown",
    ):
        assert words in said


def test_a_manifest_that_is_not_utf_8(tmp_path, capsys):
    _, path = folder_with(tmp_path)
    path.write_bytes(path.read_bytes() + b"# \xe9\n")
    assert cli.run(["show", "--manifest", str(path)]) == ExitCode.BAD_INPUT
    assert "is not UTF-8" in capsys.readouterr().err


ADAPTER = """
class Adapter:
    ignored = ()
    never_offered = {}
    def __init__(self, *_, **__): pass
    def state(self): return ((False,), 0)
    def offers(self, step): return True
    def perform(self, step, chance): self.nothing_of_the_kind()
    def close(self): pass
"""
CONFORM = """
[conform.driven]
instance = "tiny"
adapter = "NAME:Adapter"
claims = ["conformance"]
expect = { every = "holds" }
"""


def test_an_error_of_an_adapter_is_not_ours(tmp_path, capsys):
    name, path = folder_with(tmp_path, manifest=WHOLE + CONFORM)
    module = tmp_path / f"{name}.py"
    module.write_text(module.read_text() + ADAPTER)
    line = module.read_text().splitlines().index(ADAPTER.splitlines()[-2]) + 1
    build = tmp_path / "build"
    status = cli.run(["conform", "--manifest", str(path), "--build", str(build)])
    said = capsys.readouterr().out
    assert status == ExitCode.BAD_INPUT, said
    assert f"{name}.py:{line}: AttributeError" in said
    assert "internal" not in said
    assert "nothing_of_the_kind" in (build / "tracebacks.txt").read_text()


@pytest.mark.parametrize("trouble", ["file", "below a file", "read-only"])
def test_a_build_folder_that_cannot_be_used(trouble, tmp_path, capsys):
    name, path = folder_with(tmp_path, manifest=MANIFEST)
    build = tmp_path / "build"
    if trouble == "read-only":
        build = Path("/proc/tidemark")  # even an administrator cannot make a folder there
    else:
        build.write_text("a file")
        build = build / "below" if trouble == "below a file" else build
    assert cli.run(["prove", "--manifest", str(path), "--build", str(build)]) == ExitCode.BAD_INPUT
    assert f"the build folder '{build}' cannot be written" in capsys.readouterr().err
    assert name


def test_a_full_disk_is_no_internal_error(tmp_path, capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "build/verdicts.json")

    _, path = folder_with(tmp_path, manifest=WHOLE)
    monkeypatch.setattr("tidemark.checks.cli.run.write_files", full)
    arguments = ["interpreted", "--manifest", str(path), "--build", str(tmp_path / "build")]
    assert cli.run(arguments) == ExitCode.BAD_INPUT
    said = capsys.readouterr()
    assert "No space left on device" in said.err
    assert "all_shut" in said.out, "what was found is shown all the same"


WHOLE = MANIFEST.replace(
    'invariant = ["doors.all_shut"]',
    'invariant = ["doors.all_shut"]\nlemma = ["doors.counted"]\nreachable = ["doors.pushed_once"]',
)


def test_an_ascii_terminal(tmp_path):
    _, path = folder_with(tmp_path, manifest=WHOLE)
    done = start("interpreted", "--manifest", path.name, folder=tmp_path, PYTHONIOENCODING="ascii")
    said, complaint = done.communicate(timeout=60)
    assert done.returncode == ExitCode.UNEXPECTED_REFUTATION, complaint
    assert "doors.all_shut is refuted" in said


def start(*arguments: str, folder: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tidemark.checks", *arguments], cwd=folder, text=True,
        env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_two_runs_in_one_build_folder(tmp_path, capsys):
    _, path = folder_with(tmp_path, manifest=WHOLE)
    build = tmp_path / "build"
    arguments = ["interpreted", "--manifest", str(path), "--build", str(build)]
    with hold(build, words=["verify", "--tier", "full"]):
        assert cli.run(arguments) == ExitCode.BAD_INPUT
        said = capsys.readouterr().err
        assert f"another run works in the build folder '{build}': process {os.getpid()}" in said
        assert "tidemark verify --tier full" in said
    assert cli.run(arguments) == ExitCode.UNEXPECTED_REFUTATION
    with hold(build):
        pass


def test_who_waits_gets_the_folder_in_the_end(tmp_path):
    program = (
        "import sys, pathlib, time\nfrom tidemark.checks.gate.lock import hold\n"
        "with hold(pathlib.Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(1)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(BadInputError), hold(tmp_path):
            pass
        with hold(tmp_path, wait=True):
            assert (tmp_path / "lock").exists()


def catches(process: int, number: int) -> bool:
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    (caught,) = re.findall(r"SigCgt:\s*(\w+)", status)
    return bool(int(caught, 16) >> (number - 1) & 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_first_second(number, tmp_path):
    with start("verify", "--manifest", "suite", folder=tmp_path) as process:
        while not catches(process.pid, signal.SIGTERM):  # before, Python itself ends
            time.sleep(0.005)
        process.send_signal(number)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == ExitCode.STOPPED, complaint
    assert "Traceback" not in complaint
    assert "stopped" in complaint


@pytest.mark.parametrize("command", [["show", "codes"], ["--help"]])
def test_a_reader_that_goes_is_no_refutation(command):
    """As in ``tidemark show | head``: exit status 1 would say that a property is refuted."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "tidemark.checks", *command],
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (ExitCode.STOPPED, b"")


def test_what_a_command_started_ends_with_it(tmp_path):
    """A Java runtime that is just being started, for example: its own parent is gone before it knows it."""
    program = (
        "import subprocess, sys, time\nfrom tidemark.checks import __main__ as entry\n"
        "import tidemark.checks.cli.commands as app\n"
        "def command():\n    subprocess.Popen(['sleep', '600'])\n"
        "    print('started', flush=True)\n    time.sleep(600)\n"
        "app.application.command(name='sleep')(command)\nsys.argv = ['tidemark', 'sleep']\nentry.main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        below = psutil.Process(process.pid).children()
        assert [one.name() for one in below] == ["sleep"]
        process.send_signal(signal.SIGTERM)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == ExitCode.STOPPED
    assert "run it again:  tidemark sleep" in complaint
    assert psutil.wait_procs(below, timeout=10)[1] == []


def test_a_library_that_turns_an_interrupt_into_something_else():
    """As a compiled module does that is interrupted while it is loaded."""
    program = (
        "import os, signal, sys\nfrom tidemark.checks import __main__ as entry\n"
        "import tidemark.checks.cli.commands as app\n"
        "def command():\n    try:\n        os.kill(os.getpid(), signal.SIGTERM)\n"
        "    except KeyboardInterrupt:\n        raise ImportError('failed to import') from None\n"
        "app.application.command(name='load')(command)\nsys.argv = ['tidemark', 'load']\nentry.main()\n"
    )
    done = finished([sys.executable, "-c", program], seconds=60)
    assert done.returncode == ExitCode.STOPPED, done.stderr


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ('s.pushed = s.is_opn["ü"]', "s.is_opn"),
        ("s.pushed = s.pushed + undefined", "undefined"),
        ("s.pushed = s.pushed )", ")"),
    ],
)
def test_the_part_of_the_line_that_is_meant_is_marked(line, marked, tmp_path, monkeypatch, capsys):
    name, _ = folder_with(tmp_path, line=line)
    monkeypatch.syspath_prepend(tmp_path)
    assert cli.run(["explore", f"{name}:Doors"]) == ExitCode.BAD_INPUT
    _, text, mark, *_ = capsys.readouterr().err.splitlines()
    assert text == f"    {line}"
    assert mark.strip() == "^" * len(marked)
    assert text[mark.index("^") :].startswith(marked)


def test_a_protocol_that_is_not_there_is_named_without_our_words(capsys):
    assert cli.run(["explore", "no_such_module:Doors"]) == ExitCode.BAD_INPUT
    assert capsys.readouterr().err.startswith("tidemark: no protocol 'no_such_module:Doors'")


STOPS = {
    "in a finaliser": """
class Held:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
def command():
    held = Held()
    del held
    time.sleep(600)
""",
    "after the last line": """
def command():
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
    return 0
""",
    "with a pool at work": """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
def command():
    pool = ProcessPoolExecutor(2, mp_context=get_context('spawn'))
    work = [pool.submit(time.sleep, 600) for _ in range(4)]
    while not any(one.running() for one in work):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(600)
""",
}
"""By moment of an interrupt: a command."""


@pytest.mark.parametrize("moment", STOPS)
def test_an_interrupt_is_neither_lost_nor_told_twice(moment):
    program = (
        "import atexit, os, signal, sys, time\nfrom tidemark.checks import __main__ as entry\n"
        f"import tidemark.checks.cli.commands as app\n{STOPS[moment]}"
        "app.application.command(name='wait')(command)\nsys.argv = ['tidemark', 'wait']\nentry.main()\n"
    )
    done = finished([sys.executable, "-c", program], seconds=60)
    ended = ExitCode.AS_EXPECTED if moment == "after the last line" else ExitCode.STOPPED
    assert done.returncode == ended, done.stderr
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr


def test_an_unknown_name_among_hundreds_gets_the_nearest():
    names = [f"{judge}/{name}" for judge in ("explore", "prove") for name in ("tiny", *map(str, range(100)))]
    remedy = known_names("tini", names)
    assert remedy == "did you mean 'explore/tiny', 'prove/tiny'? 202 are known"
    assert known_names("nothing", names, lists="tidemark show") == "202 are known; `tidemark show` lists all"
    assert known_names("b", ["abc", "xyz"]) == "known: abc, xyz"


EXITS = {"at the top": ("import sys\nsys.exit(3)\n", ""), "in an action": ("", "import sys; sys.exit(3)")}


@pytest.mark.parametrize("where", EXITS)
@pytest.mark.parametrize(
    "command", ["prove NAME:Doors", "step NAME:Doors --bound Door=1", "verify --manifest M"]
)
def test_a_text_that_ends_the_process(where, command, tmp_path, monkeypatch, capsys):
    """The status 3 would mean that there is no decision; 0, that all is well."""
    head, line = EXITS[where]
    name, path = folder_with(tmp_path, head=head, line=line, manifest=WHOLE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    words = command.replace("NAME", name).replace(" M", f" {path.name}").split()
    assert cli.run(words) == ExitCode.BAD_INPUT
    said = capsys.readouterr().err
    assert f"{name}.py:" in said
    assert "sys.exit(3)" in said
    assert "internal" not in said


def test_a_program_that_ends_the_process(tmp_path, monkeypatch, capsys):
    """In a process of the gate, too."""
    program = "def program():\n    import sys\n    sys.exit(0)\n"
    _, path = folder_with(tmp_path, head=program, manifest=WHOLE + INTERLEAVED)
    monkeypatch.chdir(tmp_path)
    for jobs in ("1", "2"):
        words = ["verify", "--only", "interleave/*", "--manifest", path.name, "--jobs", jobs, "--fresh"]
        assert cli.run(words) == ExitCode.BAD_INPUT
        said = capsys.readouterr().out
        assert "NOT JUDGED  interleave/ends" in said
        assert "sys.exit(0)" in said


INTERLEAVED = """
[interleave.ends]
program = "NAME:program"
claims = ["no-deadlock"]
expect = { every = "holds" }
"""
