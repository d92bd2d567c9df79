"""The entry of all mutants: trials are kept as they come, and a run that was stopped goes on behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tidemark.checks.mutation.implementation.farm import Order
from tidemark.checks.mutation.implementation.fate import Fate, Trial
from tidemark.checks.mutation.implementation.journal import Journal
from tidemark.checks.mutation.implementation.judge import CONTROL_TRIALS, Plan, tried
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.reuse import Reuse
from tidemark.models.manifest import load
from tidemark.models.rooms import ROOT


class CountingFarm:
    """Says that each mutant is killed; stopped by the user before ``stop_before``."""

    def __init__(self, stop_before: str = "") -> None:
        self.stop_before = stop_before
        self.seen: list[str] = []

    def trials(self, orders: Sequence[Order]) -> Iterator[Trial]:
        for name, _ in orders:
            if name == self.stop_before:
                raise KeyboardInterrupt
            self.seen.append(name)
            yield Trial(id=name, fate=Fate.KILLED)


@pytest.fixture(scope="module")
def plan() -> Plan:
    manifest = load(ROOT / "models" / "protocols" / "tso" / "manifest.toml")
    entry = next(one for one in manifest.implementation if one.name == "tso-impl-places-sample")
    whole = Plan.of(entry, manifest)
    return replace(whole, mutants=whole.mutants[:4])


def run(plan: Plan, build: Path, farm: CountingFarm, *, read: bool = True) -> list[str]:
    manifest = load(ROOT / "models" / "protocols" / "tso" / "manifest.toml")
    reuse = Reuse(folder=build, code="", files=frozenset(), begun=0.0, read=read)
    context = Context(manifest=manifest, build=build, reuse=reuse)
    found = tried(plan, context, None, farm=farm, journal=Journal(build, plan.whole.name))  # type: ignore[arg-type]
    return [trial.id for trial in found]


def test_a_stopped_run_goes_on_behind_what_was_kept(plan: Plan, tmp_path: Path):
    names = [mutant.id for mutant in plan.mutants]
    with pytest.raises(KeyboardInterrupt):
        run(plan, tmp_path, CountingFarm(stop_before=names[2]))
    farm = CountingFarm()
    assert run(plan, tmp_path, farm) == [*CONTROL_TRIALS, *names]
    assert farm.seen == [*CONTROL_TRIALS, *names[2:]], "the controls are tried in every run"


def test_a_fresh_run_tries_every_mutant_again(plan: Plan, tmp_path: Path):
    run(plan, tmp_path, CountingFarm())
    farm = CountingFarm()
    run(plan, tmp_path, farm, read=False)
    assert farm.seen == [*CONTROL_TRIALS, *(mutant.id for mutant in plan.mutants)]
