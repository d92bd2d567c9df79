"""From the command to the first state, with and without compiled code on disk."""

import tempfile
import time

from tidemark.bench.instances import subject
from tidemark.bench.process import in_fresh_process
from tidemark.bench.sample import Sample, Side, seconds
from tidemark.bench.series import Measure, Plan, Row


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
COLD, WARM = "cold", "warm"


def run(plan: Plan) -> list[Row]:
    """A fresh process each time; for a cold start its folders of compiled code are new and empty."""
    reference = "peers/tso-s" if plan.quick else "flush/calm"

    def cold() -> Sample:
        with tempfile.TemporaryDirectory(dir=plan.scratch) as folder:
            return _start(reference, folder)

    warm_folder = tempfile.mkdtemp(dir=plan.scratch)

    def warm() -> Sample:
        return _start(reference, warm_folder)

    warm()
    sides = [Side(COLD, cold), Side(WARM, warm)]
    series = plan.series(sides, measure=NAME, size=subject(reference).reference)
    what = "command to first state"
    return [
        series.row(COLD, f"{what}, {COLD}", seconds, unit="s", note="nothing compiled on disk"),
        series.row(WARM, f"{what}, {WARM}", seconds, unit="s", against=COLD, inverse=True),
    ]


def _start(reference: str, folder: str) -> Sample:
    env = {"TIDEMARK_KERNELS": f"{folder}/kernels", "NUMBA_CACHE_DIR": f"{folder}/numba"}
    return in_fresh_process(first_state, env=env, reference=reference, begun=time.time())


MEASURE = Measure(NAME, "Seconds from the command to the first state.", run)
