"""Spin's verifier on the Promela export of an instance: compiled once, run as often as wanted."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from tidemark.bench.instances import Subject
from tidemark.bench.process import run_process
from tidemark.bench.sample import BrokenRun, NotMeasured, Sample

FLAGS = ("-O2", "-w", "-DNOREDUCE", "-DSAFETY", "-DMEMLIM=12000", "-DVECTORSZ=8192")
INSTALL = "install them, for example  apt-get install spin gcc"
DEPTH = 100_000
"""Longest path that the depth-first search can hold."""
DIGITS = 8
"""Significant digits in which the verifier prints its counts."""
_CUT = ("max search depth too small", "out of memory", "Search not completed")
_NUMBER = r"^\s*([\d.]+(?:e\+\d+)?)\s+"


def rounded(count: int) -> int:
    """A count as the verifier prints it."""
    return int(float(f"{count:.{DIGITS}g}"))


def with_rounded_counts(sample: Sample) -> Sample:
    """A sample whose counts can be compared with the verifier's; it has no depth, for it goes depth first."""
    counts = {name: rounded(sample.counts[name]) for name in ("distinct", "generated")}
    return replace(sample, counts=counts)


class Pan:
    """The verifier of an instance. Errors of ``run``: NotMeasured, BrokenRun."""

    def __init__(self, subject: Subject, folder: Path) -> None:
        self.subject, self.folder = subject, folder

    def run(self) -> Sample:
        """One search. Time and memory are those of the whole process, without compilation."""
        program = self.folder / "pan"
        if not program.exists():
            self._compile()
        table = self.subject.expected["distinct"].bit_length()
        done = run_process([str(program), "-c0", f"-m{DEPTH}", f"-w{table}"], cwd=self.folder, timeout=1200)
        counts, values = read(done.output)
        return Sample(
            seconds=done.seconds,
            cpu_seconds=done.cpu_seconds,
            peak_bytes=done.peak_bytes,
            counts=counts,
            values=values,
        )

    def _compile(self) -> None:
        missing = [tool for tool in ("spin", "gcc") if shutil.which(tool) is None]
        if missing:
            raise NotMeasured(f"{' and '.join(missing)} is missing; {INSTALL}")
        from tidemark.models.exports.promela import to_promela

        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "model.pml").write_text(to_promela(self.subject.instance), encoding="utf-8")
        for command in (["spin", "-o1", "-o2", "-a", "model.pml"], ["gcc", *FLAGS, "-o", "pan", "pan.c"]):
            done = subprocess.run(
                command, cwd=self.folder, capture_output=True, text=True, timeout=600, check=False
            )
            said = done.stdout + done.stderr
            if done.returncode or "Error" in said:
                raise BrokenRun(f"{command[0]} rejects {self.subject.reference}: {_first_line(said)}")


def read(output: str) -> tuple[dict[str, int], dict[str, float]]:
    """Counts and memory from the verifier's output. Raises BrokenRun if it was cut or found a fault."""
    for phrase in _CUT:
        if phrase in output:
            raise BrokenRun(f"the verifier says {phrase!r}")
    if "errors: 0" not in output:
        raise BrokenRun(f"the verifier found a fault: {_first_line(output)}")
    counts = {
        "distinct": int(_after(output, r"states, stored")),
        "generated": int(_after(output, r"transitions \(= stored\+matched\)")),
    }
    states = _after(output, r"(?:actual|equivalent) memory usage for states", last=True)
    table = _after(output, r"memory used for hash table")
    return counts, {"bytes_per_state": (states + table) * 2**20 / max(1, counts["distinct"])}


def _after(output: str, words: str, *, last: bool = False) -> float:
    """The number at the start of the line that goes on with these words."""
    found = re.findall(_NUMBER + words, output, re.MULTILINE)
    if not found:
        raise BrokenRun(f"the verifier does not print {words!r}: {_first_line(output)}")
    return float(found[-1 if last else 0])


def _first_line(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return next((line for line in lines if line), "no output")
