"""The gate from an empty build folder, and with nothing, or one action, changed since."""

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tidemark.bench.process import Finished, run_process
from tidemark.bench.sample import BrokenRun, Sample, Side, seconds, value
from tidemark.bench.series import Goal, Measure, Plan, Row
from tidemark.checks.spark.session import cluster
from tidemark.models.cores import cores
from tidemark.models.manifest import SUITE, manifest_files
from tidemark.models.rooms import PACKAGE, ROOMS, ROOT

_LEFT_OUT = shutil.ignore_patterns(".*", "build", "__pycache__", "*.egg-info", "tests")
_METHOD = re.compile(r"^    def (\w+)\(", re.MULTILINE)
_GUARD = re.compile(r"^        require\(.*\)\n", re.MULTILINE)


def copy_project(to: Path) -> Path:
    """Copy the clone to ``to``/clone, with a package of links beside it that is imported in place of ours."""
    clone = to / "clone"
    shutil.copytree(ROOT, clone, ignore=_LEFT_OUT)
    package = to / "package" / PACKAGE
    package.mkdir(parents=True)
    for room in (*ROOMS, "bench"):
        (package / room).symlink_to(clone / room)
    return clone


def environment(clone: Path) -> Mapping[str, str]:
    """Variables under which Python imports the copy."""
    return {"PYTHONPATH": str(clone.parent / "package")}


def change_an_action(clone: Path, protocol: str) -> str:
    """Say the first guard of an action twice: another text and another tree, with the same meaning.

    An action of which a manifest names generated mutants is left alone: these are numbered by its guards.
    Returns the action. Raises ValueError: no action has a guard of one line.
    """
    manifests = (clone / "models" / "protocols" / protocol).rglob("*.toml")
    named = "\n".join(file.read_text(encoding="utf-8") for file in manifests)
    path = clone / "spec" / protocol / "actions.py"
    text = path.read_text(encoding="utf-8")
    for found in _GUARD.finditer(text):
        action = _METHOD.findall(text, 0, found.start())[-1]
        if f'"{action}/' not in named:
            path.write_text(text[: found.end()] + found.group() + text[found.end() :], encoding="utf-8")
            return str(action)
    raise ValueError(f"{path.name} of {protocol} has no guard of one line that may be said twice")


NAME = "gate"
QUICK_ONLY = "argue/*"
ON_CLUSTER = "prove/*"
"""Entries of the fast tier that are judged by one executor and by two."""
TIMEOUT_S = 3600.0
WITHIN = Goal(at_most=600, unit="s")
"""For the fast tier on two quiet cores."""
EXECUTORS = ("one executor", "two executors")
AGAIN = Goal(at_most=10, unit="s")
"""When nothing has changed since."""
AFTER_A_CHANGE = Goal(at_most=60, unit="s")
"""When one action of one protocol has changed since."""
PROTOCOLS = tuple(path.parent.name for path in manifest_files())
"""Each is changed in a copy of the project."""


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
    yield series.row(several.name, "cores at work", lambda s: _processor(s) / s.values["judging"], unit="")
    yield series.row(several.name, "nothing changed, again", value("again"), unit="s", goal=AGAIN)
    single = Side("1 job", partial(_verify, plan, jobs=1))
    series = replace(plan, repeat=1).series([single], measure=NAME, size=size)
    yield series.row(single.name, "from empty, one process", seconds, unit="s", note="run once")
    yield series.row(single.name, "processor time of that", _processor, unit="s", note="run once")
    yield from _of_a_cluster(plan)
    changed = Side("changes", partial(_after_changes, plan))
    series = replace(plan, repeat=1).series([changed], measure=NAME, size=size)
    for protocol in PROTOCOLS[:1] if plan.quick else PROTOCOLS:
        what = f"one action of {protocol} changed"
        yield series.row(
            changed.name, what, value(protocol), unit="s", goal=AFTER_A_CHANGE, note=f"run once, {all_cores}"
        )
        yield series.row(
            changed.name,
            f"checks judged for {protocol}",
            value(f"{protocol} checks"),
            unit="",
            note="run once",
        )


def _of_a_cluster(plan: Plan) -> Iterator[Row]:
    """Executors of one core each, on this machine; the counts of verdicts are compared."""
    one, two = (Side(name, partial(_on_cluster, plan, n)) for n, name in enumerate(EXECUTORS, start=1))
    size = QUICK_ONLY if plan.quick else ON_CLUSTER
    series = replace(plan, repeat=1).series([one, two], measure=NAME, size=size)
    yield series.row(one.name, one.name, value("judging"), unit="s", note="run once")
    yield series.row(two.name, two.name, value("judging"), unit="s", against=one.name, note="run once")


def _on_cluster(plan: Plan, workers: int) -> Sample:
    with tempfile.TemporaryDirectory(dir=plan.scratch) as folder:
        (Path(folder) / "spark-defaults.conf").write_text("spark.executor.memory 512m\n", encoding="utf-8")
        with cluster(Path(folder) / "cluster", workers=workers) as (master, _):
            env = {"SPARK_CONF_DIR": folder}
            took, found = _once(plan, folder, Path(folder) / "build", env=env, only=ON_CLUSTER, master=master)
    return Sample(seconds=took, counts=_facts(found), values={"judging": found["measured"]["seconds"]})


_processor = value("processor")


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


def _after_changes(plan: Plan) -> Sample:
    """The gate on a copy of the project; then one action is changed and reviewed, protocol by protocol."""
    with tempfile.TemporaryDirectory(dir=plan.scratch) as folder:
        clone = copy_project(Path(folder))
        build, env = Path(folder) / "build", environment(clone)
        first, found = _once(plan, folder, build, jobs=cores(), env=env)
        took: dict[str, float] = {}
        for protocol in PROTOCOLS[:1] if plan.quick else PROTOCOLS:
            change_an_action(clone, protocol)
            _run(["pin", protocol], env=env)
            took[protocol], now = _once(plan, folder, build, jobs=cores(), env=env)
            took[f"{protocol} checks"] = now["checks"]["done"] - len(now["measured"]["taken_over"])
    return Sample(seconds=first, counts=_facts(found), values=took)


def _once(
    plan: Plan,
    folder: str,
    build: Path,
    *,
    env: Mapping[str, str] = MappingProxyType({}),
    only: str = "",
    **more: object,
) -> tuple[float, dict[str, Any]]:
    """Seconds and verdicts. Raises BrokenRun if the gate is not green: its time would mean nothing.

    ``only``: the entries, by default all; ``more``: further options.
    """
    options = [word for name, given in {"build": build, **more}.items() for word in (f"--{name}", str(given))]
    only = QUICK_ONLY if plan.quick else only
    options += ["--only", only] if only else []
    caches = {"TIDEMARK_KERNELS": f"{folder}/kernels", "NUMBA_CACHE_DIR": f"{folder}/numba"}
    done = _run(["verify", *options], env={**caches, **env})
    return done.seconds, json.loads((build / "verdicts.json").read_text(encoding="utf-8"))


def _run(words: Sequence[str], *, env: Mapping[str, str]) -> Finished:
    """The protocols are those of the package that is imported, which may be a copy of the one here."""
    command = [sys.executable, "-m", "tidemark.checks", *words, "--manifest", str(SUITE)]
    done = run_process(command, cwd=ROOT, timeout=TIMEOUT_S, env=env)
    if done.status != 0:
        raise BrokenRun(f"tidemark {words[0]} ended with status {done.status}: {done.last_line}")
    return done


def _facts(found: dict[str, Any]) -> dict[str, int]:
    return {"checks": found["checks"]["done"], "verdicts": len(found["judgements"])}


MEASURE = Measure(NAME, "Seconds of the gate from an empty build folder.", run)
