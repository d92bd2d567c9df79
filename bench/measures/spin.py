"""The compiled kernel against Spin's verifier, on the Promela exports of the same instances."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from tidemark.bench.instances import Subject, subject
from tidemark.bench.measures.search import ONE, STATES
from tidemark.bench.measures.search import side as search_side
from tidemark.bench.process import run_process
from tidemark.bench.sample import BrokenRun, NotMeasured, Sample, Side, cpu_rate, rate, value
from tidemark.bench.series import Goal, Measure, Plan, Row

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


NAME = "spin"
SPIN = "Spin"
QUICK = ("peers/tso-s",)
SIZES = tuple(f"peers/{model}-{size}" for model in ("tso", "flush-cp") for size in ("s", "m", "l"))
FASTER = Goal(at_least=2)
NO_LARGER = Goal(at_least=1)


def run(plan: Plan) -> Iterator[Row]:
    """Every instance by both, in turn; no goal for size s, which takes a few hundredths of a second."""
    for reference in QUICK if plan.quick else SIZES:
        yield from _compare(plan, reference)


def _compare(plan: Plan, reference: str) -> list[Row]:
    what = subject(reference)
    expected = {name: rounded(what.expected[name]) for name in ("distinct", "generated")}
    native = search_side(ONE, reference)
    pan = Pan(what, plan.scratch / reference.replace("/", "-"))
    sides = [
        Side(SPIN, pan.run, reference, expected),
        replace(native, run=partial(_rounded, native), expected=expected),
    ]
    series = plan.series(sides, measure=NAME, size=what.size)
    series.judged = series.judged and not reference.endswith("-s")
    return [
        series.row(SPIN, SPIN, rate("distinct"), unit=STATES, note="gcc -O2 -DNOREDUCE -DSAFETY"),
        series.row(ONE, f"native, {ONE}", rate("distinct"), unit=STATES, against=SPIN, goal=FASTER),
        series.row(
            ONE, "the same by processor time", cpu_rate("distinct"), unit="states/cpu-s", against=SPIN
        ),
        series.row(
            SPIN, "Spin: bytes a state", value("bytes_per_state"), unit="bytes", note="states and table"
        ),
        series.row(
            ONE, "native: bytes a state", value("bytes_per_state"), unit="bytes", against=SPIN, inverse=True,
            goal=NO_LARGER,
        ),
    ]  # fmt: skip


def _rounded(side: Side) -> Sample:
    return with_rounded_counts(side.run())


MEASURE = Measure(NAME, "Distinct states a second against Spin's verifier, with equal counts.", run)
