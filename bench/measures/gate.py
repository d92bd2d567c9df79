"""The gate from an empty build folder, in one process and on all cores, and with nothing changed."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tidemark.bench.measure import Measure, Plan
from tidemark.bench.process import run_process
from tidemark.bench.row import Goal, Row
from tidemark.bench.sample import BrokenRun, Sample, Side, seconds, value
from tidemark.models.cores import cores
from tidemark.models.rooms import ROOT

NAME = "gate"
QUICK_ONLY = "argue/*"
TIMEOUT_S = 3600.0
WITHIN = Goal(at_most=360, unit="s")
"""For the fast tier on two quiet cores."""
AGAIN = Goal(at_most=10, unit="s")
"""When nothing has changed since."""


def run(plan: Plan) -> Iterator[Row]:
    """Each repetition in a new build folder, with nothing compiled on disk. One process is run once: it takes
    long, and only shows what the cores are good for.
    """
    all_cores = f"{cores()} jobs"
    size = QUICK_ONLY if plan.quick else "fast tier"
    several = Side(all_cores, partial(_verify, plan, jobs=cores()))
    series = plan.series([several], measure=NAME, size=size)
    yield series.row(several.name, "from empty, all cores", seconds, unit="s", goal=WITHIN)
    yield series.row(several.name, "processor time of that", _processor, unit="s")
    yield series.row(several.name, "cores at work", _at_work, unit="")
    yield series.row(several.name, "nothing changed, again", value("again"), unit="s", goal=AGAIN)
    single = Side("1 job", partial(_verify, plan, jobs=1))
    series = replace(plan, repeat=1).series([single], measure=NAME, size=size)
    yield series.row(single.name, "from empty, one process", seconds, unit="s", note="run once")
    yield series.row(single.name, "processor time of that", _processor, unit="s", note="run once")


_processor = value("processor")


def _at_work(sample: Sample) -> float:
    return sample.values["processor"] / max(sample.values["judging"], 1e-9)


def _verify(plan: Plan, *, jobs: int) -> Sample:
    """One run, and the same command again in its build folder, where every verdict is taken over."""
    with tempfile.TemporaryDirectory(dir=plan.scratch) as folder:
        build = Path(folder) / "build"
        first, found = _once(plan, folder, build, jobs=jobs)
        again, same = _once(plan, folder, build, jobs=jobs)
    if _facts(same) != _facts(found):
        raise BrokenRun(f"the second run has {_facts(same)}, the first one {_facts(found)}")
    measured = found["measured"]
    return Sample(
        seconds=first,
        cpu_seconds=measured["processor_seconds"],
        counts=_facts(found),
        values={
            "processor": measured["processor_seconds"],
            "judging": measured["seconds"],
            "again": again,
        },
    )


def _once(plan: Plan, folder: str, build: Path, *, jobs: int) -> tuple[float, dict[str, Any]]:
    """Seconds and verdicts. Raises BrokenRun if the gate is not green: its time would mean nothing."""
    options = ["--jobs", str(jobs), "--build", str(build)]
    options += ["--only", QUICK_ONLY] if plan.quick else []
    command = [sys.executable, "-m", "tidemark.checks", "verify", *options]
    env = {"TIDEMARK_KERNELS": f"{folder}/kernels", "NUMBA_CACHE_DIR": f"{folder}/numba"}
    done = run_process(command, cwd=ROOT, timeout=TIMEOUT_S, env=env)
    if done.status != 0:
        raise BrokenRun(f"the gate ended with status {done.status}: {done.last_line}")
    return done.seconds, json.loads((build / "verdicts.json").read_text(encoding="utf-8"))


def _facts(found: dict[str, Any]) -> dict[str, int]:
    return {"checks": found["checks"]["done"], "verdicts": len(found["judgements"])}


MEASURE = Measure(NAME, "Seconds of the gate from an empty build folder.", run)
