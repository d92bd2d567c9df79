"""From the command to the first state, with and without compiled code on disk."""

import sys
import tempfile
import time

from tidemark.bench.instances import subject
from tidemark.bench.process import in_fresh_process, run_process
from tidemark.bench.sample import BrokenRun, Sample, Side, seconds, value
from tidemark.bench.series import Goal, Measure, Plan, Row
from tidemark.models.rooms import ROOT

TIMEOUT_S = 120


def first_state(*, reference: str, begun: float) -> Sample:
    """Import, trace, compile or load, expand the initial states. ``begun``: Unix time of the command."""
    from tidemark.models.native.kernel import compile_kernel
    from tidemark.models.native.search.breadth_first import Search, SearchLimits

    kernel = compile_kernel(subject(reference).instance)
    result = Search(kernel, SearchLimits(states=1)).run()
    seconds = time.time() - begun
    return Sample(
        seconds=seconds, counts={"initial": result.totals.initial}, values={"warm": float(kernel.warm)}
    )


NAME = "startup"
COLD, WARM, COMMAND = "cold", "warm", "explore tiny"
COLD_S, WARM_S = Goal(at_most=1.0, unit="s"), Goal(at_most=0.3, unit="s")
PROCESSOR_S = Goal(at_most=0.6, unit="s")


def run(plan: Plan) -> list[Row]:
    """A fresh process each time; for a cold start its folders of compiled code are new and empty."""
    reference = "peers/tso-s" if plan.quick else "flush/calm"
    kept = tempfile.mkdtemp(dir=plan.scratch)

    def cold() -> Sample:
        with tempfile.TemporaryDirectory(dir=plan.scratch) as folder:
            return _start(reference, folder)

    def command() -> Sample:
        words = [sys.executable, "-m", "tidemark.checks", *COMMAND.split(), "--build", f"{kept}/build"]
        done = run_process(words, cwd=ROOT, timeout=TIMEOUT_S, env=_folders(kept))
        if done.status != 0:
            raise BrokenRun(f"tidemark {COMMAND} ended with status {done.status}: {done.last_line}")
        return Sample(seconds=done.seconds, counts={}, values={"processor": done.cpu_seconds})

    _start(reference, kept)
    command()
    sides = [Side(COLD, cold), Side(WARM, lambda: _start(reference, kept)), Side(COMMAND, command)]
    series = plan.series(sides, measure=NAME, size=subject(reference).reference)
    what = "command to first state"
    return [
        series.row(COLD, f"{what}, {COLD}", seconds, unit="s", goal=COLD_S, note="nothing compiled on disk"),
        series.row(WARM, f"{what}, {WARM}", seconds, unit="s", goal=WARM_S),
        series.row(COMMAND, f"{COMMAND}, warm: processor", value("processor"), unit="s", goal=PROCESSOR_S),
    ]


def _start(reference: str, folder: str) -> Sample:
    return in_fresh_process(first_state, env=_folders(folder), reference=reference, begun=time.time())


def _folders(folder: str) -> dict[str, str]:
    return {"TIDEMARK_KERNELS": f"{folder}/kernels", "NUMBA_CACHE_DIR": f"{folder}/numba"}


MEASURE = Measure(NAME, "Seconds from the command to the first state.", run)
