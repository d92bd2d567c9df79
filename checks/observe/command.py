"""``tidemark observe SCENARIO``: run it, collect what it leaves behind, judge that."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidemark.checks.observe.judged import Case, case_of
from tidemark.checks.observe.launch import observe as launch
from tidemark.checks.observe.package import DEFAULT_VERSION
from tidemark.checks.observe.scenarios import SCENARIOS, SHIPPED_LEASE, Scenario, find_scenario
from tidemark.checks.observe.stage import read_record
from tidemark.checks.verdicts.exit_codes import ExitCode, most_severe


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a scenario is run."""

    seed: int = 0
    runs: int = 1
    """With the seeds from ``seed`` on."""
    version: str = DEFAULT_VERSION
    lease: int = SHIPPED_LEASE
    """Seconds."""
    out: Path = Path("build") / "observe"
    """Each run gets a folder SCENARIO-VERSION-SEED there."""
    keep: bool = False
    judge: bool = True


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run in the table of several."""

    seed: int
    facts: dict[str, int]
    refuted: tuple[str, ...]
    status: ExitCode


def observe(name: str, *, options: Options, console: Console) -> int:
    """Run a scenario and judge its evidence; without a name, list them. Returns the exit status."""
    if not name:
        for each in SCENARIOS.values():
            _say(console, f"{each.name:16} {each.about}")
        return ExitCode.AS_EXPECTED.value
    scenario = find_scenario(name)
    case = case_of(options.version, name) if options.judge else None
    seeds = range(options.seed, options.seed + options.runs)
    runs = [_once(scenario, seed=seed, case=case, options=options, console=console) for seed in seeds]
    if len(runs) > 1:
        _table(scenario, runs, options=options, console=console)
    return most_severe(run.status for run in runs).value


def _once(scenario: Scenario, *, seed: int, case: Case | None, options: Options, console: Console) -> Run:
    folder = options.out / f"{scenario.name}-{options.version}-{seed}"
    _say(console, f"{scenario.name} on Milvus {options.version}, seed {seed}: {scenario.about}")
    launch(
        scenario, seed=seed, folder=folder, version=options.version, lease=options.lease,
        keep=options.keep, show=lambda line: _say(console, line),
    )  # fmt: skip
    facts = read_record(folder)["facts"]
    told = ", ".join(f"{what.replace('_', ' ')}: {count:,}" for what, count in facts.items())
    _say(console, f"counted independently of the judges: {told}")
    _say(console, f"evidence: {folder.as_posix()}")
    if case is None:
        return Run(seed=seed, facts=facts, refuted=(), status=ExitCode.AS_EXPECTED)
    from tidemark.checks.observe.judged import judge_run

    judged = judge_run(folder, case=case, build=options.out / f"{folder.name}-verdicts", console=console)
    return Run(seed=seed, facts=facts, refuted=judged.refuted, status=judged.status)


def _table(scenario: Scenario, runs: Sequence[Run], *, options: Options, console: Console) -> None:
    """Run by run: what was counted, what was refuted, and whether that is what is pinned."""
    names = list(dict.fromkeys(name for run in runs for name in run.facts))
    table = Table("seed", *(name.replace("_", " ") for name in names), "refuted", "status", box=None)
    for run in runs:
        counts = [f"{run.facts.get(name, 0):,}" for name in names]
        status = "as expected" if run.status is ExitCode.AS_EXPECTED else f"exit status {run.status.value}"
        refuted = ", ".join(run.refuted) if options.judge else "not judged"
        table.add_row(str(run.seed), *counts, refuted or "nothing", status)
    _say(console, f"{scenario.name} on Milvus {options.version}, lease {options.lease} s: {len(runs)} runs")
    console.print(table)


def _say(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=True)
