"""``tidemark observe SCENARIO``: run it, and say where its evidence is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tidemark.checks.observe.launch import observe as launch
from tidemark.checks.observe.package import DEFAULT_VERSION
from tidemark.checks.observe.scenarios import SCENARIOS, SHIPPED_LEASE, find_scenario
from tidemark.checks.observe.stage import read_record
from tidemark.checks.verdicts.exit_codes import ExitCode


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a scenario is run."""

    seed: int = 0
    version: str = DEFAULT_VERSION
    lease: int = SHIPPED_LEASE
    """Seconds."""
    out: Path | None = None
    keep: bool = False


def observe(name: str, *, options: Options, console: Console) -> int:
    """Run a scenario and leave its evidence in a folder; without a name, list them. Returns the status."""
    if not name:
        for each in SCENARIOS.values():
            _say(console, f"{each.name:16} {each.about}")
        return ExitCode.AS_EXPECTED.value
    scenario = find_scenario(name)
    folder = options.out or Path("build") / "observe" / f"{name}-{options.seed}"
    _say(console, f"{name} on Milvus {options.version}, seed {options.seed}: {scenario.about}")
    launch(
        scenario, seed=options.seed, folder=folder, version=options.version, lease=options.lease,
        keep=options.keep, show=lambda line: _say(console, line),
    )  # fmt: skip
    facts = ", ".join(
        f"{what.replace('_', ' ')}: {count:,}" for what, count in read_record(folder)["facts"].items()
    )
    _say(console, f"counted beside the judges: {facts}")
    _say(console, f"evidence: {folder.as_posix()}")
    return ExitCode.AS_EXPECTED.value


def _say(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=True)
