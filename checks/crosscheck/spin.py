"""Spin on the Promela export of an instance.

The verifier runs with ``-DNOREDUCE -DSAFETY``, so that it visits every state and counts every transition, and
with ``-c0``, so that a broken claim does not end the search. Its counts become ours by three rules, which the
export states too: with several initial states the state before their choice is one more; an invariant that
breaks adds one transition; and nothing else. Write-only variables stay in the state (``spin -o2``).
"""

import re
import shutil
import subprocess
import time
from pathlib import Path

from tidemark.checks.crosscheck.outcome import CheckerAnswer
from tidemark.checks.verdicts.errors import CheckError, MissingToolError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.exports.promela import WITNESSES, flags, to_promela
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter

INSTALL = "install them:  apt-get install spin gcc  (Debian, Ubuntu), or see https://spinroot.com"
MEMORY_MB = 4_000
"""Memory that the verifier may take, in megabytes."""
SMALL = 20_000
"""States up to which compiling costs more than searching."""
EXACT_BELOW = 10**8
_STATES = re.compile(r"^\s*([\d.e+]+) states, stored", re.MULTILINE)
_TRANSITIONS = re.compile(r"^\s*([\d.e+]+) transitions \(= stored\+matched\)", re.MULTILINE)
_FALLEN = re.compile(r"assertion violated (\w+)")
_BAD_INDEX = "invalid array index"
_CUT = ("max search depth too small", "out of memory", "Search not completed", "VECTORSZ")


class SpinError(CheckError):
    """Spin or the C compiler rejects an export: a fault of the export, not of the protocol."""

    exit_code = ExitCode.INTERNAL_ERROR


def require_spin() -> None:
    """Raises MissingToolError if Spin or the C compiler that it needs is not on the PATH."""
    missing = [tool for tool in ("spin", "gcc") if shutil.which(tool) is None]
    if missing:
        raise MissingToolError(f"{' and '.join(missing)} cannot be found on the PATH", remedy=INSTALL)


def run_spin(instance: Instance, *, folder: Path, states: int, timeout_s: float) -> CheckerAnswer:
    """Export, compile and search an instance; the files stay in ``folder``.

    ``states``: about how many states are expected; the verifier's stack and table are sized for them. A
    search that is cut off (stack, memory, time) is returned as stopped. Raises MissingToolError, SpinError.
    """
    require_spin()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.pml").write_text(to_promela(instance), encoding="utf-8")
    begun = time.perf_counter()
    _call(["spin", "-o1", "-o2", f"-D{WITNESSES}", "-a", "model.pml"], folder)
    level = "-O2" if states > SMALL else "-O0"
    options = [level, "-w", "-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=8192", f"-DMEMLIM={MEMORY_MB}"]
    _call(["gcc", *options, "-o", "pan", "pan.c"], folder)
    table = max(14, min(27, states.bit_length() + 1))
    command = ["./pan", "-c0", f"-m{2 * states + 10_000}", f"-w{table}"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return CheckerAnswer(
            0, 0, frozenset(), time.perf_counter() - begun, stopped=f"no end after {timeout_s:g} s"
        )
    return read_output(done.stdout + done.stderr, instance, seconds=time.perf_counter() - begun)


def read_output(text: str, instance: Instance, *, seconds: float) -> CheckerAnswer:
    """The verifier's output as counts in our convention. Raises SpinError if there are no counts in it."""
    states, transitions = _STATES.search(text), _TRANSITIONS.search(text)
    if states is None or transitions is None:
        raise SpinError(f"Spin's verifier gave no counts: {_last_lines(text)}", remedy="look at its output")
    if _BAD_INDEX in text:
        raise SpinError(f"the model uses an {_BAD_INDEX}", remedy="look at the export of maps")
    properties = flags(instance.spec)
    fallen = [properties[flag] for flag in dict.fromkeys(_FALLEN.findall(text))]
    broken = sum(prop.kind in ("invariant", "lemma") for prop in fallen)
    choice = int(len(list(zip(range(2), Interpreter(instance).initial(), strict=False))) > 1)
    return CheckerAnswer(
        distinct=_whole(states[1]) - choice,
        generated=_whole(transitions[1]) - choice - broken,
        decided=frozenset(prop.id for prop in fallen),
        seconds=seconds,
        stopped=_why_cut(text, transitions[1]),
    )


def _why_cut(text: str, transitions: str) -> str:
    """Why the counts cannot be compared; empty if they can. The verifier prints eight digits."""
    if float(transitions) >= EXACT_BELOW:
        return f"it rounds counts from {EXACT_BELOW:,} on"
    return next((f"it says {phrase!r}" for phrase in _CUT if phrase in text), "")


def _whole(text: str) -> int:
    return int(float(text))


def _call(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    output = done.stdout + done.stderr
    if done.returncode or "Error" in output:
        raise SpinError(
            f"{command[0]} rejects the model of {folder.name}: {_last_lines(output)}",
            remedy=f"look at {(folder / 'model.pml').as_posix()}",
        )


def _last_lines(text: str) -> str:
    return " | ".join(line.strip() for line in text.splitlines() if line.strip())[-400:]
