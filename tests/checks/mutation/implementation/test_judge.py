"""The entry of all mutants: trials are kept as they come, and each ends with a fate."""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.manifests import entry_of, manifests
from tests.models.mutation.source import spinning
from tidemark.checks.interleave.result import Exploration, Found
from tidemark.checks.mutation.implementation import hosts
from tidemark.checks.mutation.implementation.command import killers_text, seconds_text, table_text
from tidemark.checks.mutation.implementation.farm import Farm, Limits, Order
from tidemark.checks.mutation.implementation.fate import Fate, FateCounts, Journal, Trial
from tidemark.checks.mutation.implementation.hosts import Answer, Host, Kind, ask
from tidemark.checks.mutation.implementation.judge import CONTROL_TRIALS, Plan, _verdict, tried
from tidemark.checks.mutation.implementation.trial import Target, Watch, _fate_of, allow
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.reuse import Reuse
from tidemark.checks.verdicts.verdict import Aspect, Outcome, Subject
from tidemark.models.manifest import InterleaveEntry
from tidemark.models.rooms import ROOT
from tidemark.models.simulation import Violation


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
    whole = Plan.of(entry_of("tso-impl-places-sample"), manifests()["tso"])
    return replace(whole, mutants=whole.mutants[:4])


def run(plan: Plan, build: Path, farm: CountingFarm, *, read: bool = True) -> list[str]:
    reuse = Reuse(folder=build, code="", files=frozenset(), begun=0.0, read=read)
    context = Context(manifest=manifests()["tso"], build=build, reuse=reuse)
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


OUTCOMES = {
    Fate.KILLED: Outcome.REFUTED,
    Fate.COUNTED: Outcome.REFUTED,
    Fate.REFUSED: Outcome.REFUTED,
    Fate.ENDLESS: Outcome.REFUTED,
    Fate.SURVIVED: Outcome.HOLDS,
    Fate.UNREACHED: Outcome.HOLDS,
    Fate.LATE: Outcome.INCONCLUSIVE,
    Fate.BROKEN: Outcome.INCONCLUSIVE,
}


@pytest.mark.parametrize("fate", Fate)
def test_only_what_a_judge_has_seen_is_noticed(plan: Plan, fate: Fate):
    """A limit, and a process that failed, say nothing about the mutant."""
    subject = Subject(protocol="tso", property_id="m", judge="mutate", instance="e", aspect=Aspect.SLIP)
    trial = Trial(id=plan.mutants[0].id, fate=fate, host="h", tried=("h",))
    assert _verdict(subject, trial, "text", plan).outcome is OUTCOMES[fate]


@pytest.mark.parametrize(
    ("kinds", "fate"),
    [
        ((Kind.SAME, Kind.SAME), Fate.SURVIVED),
        ((Kind.SAME, Kind.COUNT), Fate.COUNTED),
        ((Kind.COUNT, Kind.ERROR), Fate.REFUSED),
        ((Kind.ERROR, Kind.COUNT, Kind.CLAIM), Fate.KILLED),
    ],
)
def test_only_a_claim_that_is_refuted_kills(kinds: tuple[Kind, ...], fate: Fate):
    assert _fate_of({f"host{n}": Answer(kind) for n, kind in enumerate(kinds)})[0] is fate


@pytest.mark.parametrize(("kind", "said"), [("closed-world", Kind.COUNT), ("exception", Kind.CLAIM)])
def test_what_cannot_be_explored_refutes_nothing(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, kind: str, said: Kind
):
    host = next(one for one in plan.hosts if isinstance(one, Host) and isinstance(one.entry, InterleaveEntry))
    violation = Violation(kind, "it opened a socket")
    found = Exploration(violations={violation: Found(violation, (0,), ("a",), "token")})
    monkeypatch.setattr(hosts, "interleave", lambda *_given, **_options: found)
    assert ask(host).kind is said


SPINNING = str(ROOT / "tests" / "models")
TARGET = Target(ROOT / "impl", "tidemark.impl")


def one(main, **limits) -> Trial:
    farm = Farm(TARGET, seconds={}, limits=Limits(**limits), main=main)
    (found,) = farm.trials([("a mutant", ())])
    return found


def leaves(parent, job):
    os._exit(3)


def sleeps(parent, job):
    time.sleep(60)


def burns(parent, job):
    allow(-1.9)
    while True:
        pass


def spins(parent, job):
    def tell(words: str) -> None:
        parent.send(Trial(id=job.mutant, fate=Fate.ENDLESS, words=words))

    with Watch(SPINNING, tell, tick=0.02):
        spinning.spin()


def steps(parent, job):
    with Watch(SPINNING, lambda _words: os._exit(4), tick=0.02):
        end = time.process_time() + 0.4
        while time.process_time() < end:
            spinning.step()
    parent.send(Trial(id=job.mutant, fate=Fate.SURVIVED))


def test_a_process_that_ends_without_a_word_is_broken():
    found = one(leaves)
    assert (found.fate, found.words) == (Fate.BROKEN, "the process that tried it ended with exit status 3")


def refuses_to_be_closed(parent, job):
    async def run():
        while True:
            with contextlib.suppress(GeneratorExit):
                await asyncio.sleep(0)

    coroutine = run()
    coroutine.send(None)
    del coroutine
    parent.send(Trial(id=job.mutant, fate=Fate.SURVIVED))


def test_what_a_mutant_leaves_behind_is_not_printed(capfd, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)  # pytest has one of its own
    assert one(refuses_to_be_closed).fate is Fate.SURVIVED
    assert capfd.readouterr().err == ""


def test_a_process_that_waits_for_ever_is_late():
    assert one(sleeps, idle=0.5).words == "no work was done for 0.5 s"


def test_a_process_that_works_for_ever_is_late():
    found = one(burns)
    assert found.fate is Fate.LATE
    assert "SIGXCPU" in found.words


def test_a_step_that_does_not_end_is_told_from_many_steps():
    found = one(spins)
    assert found.fate is Fate.ENDLESS
    assert found.words.startswith("spin is still running")
    assert one(steps).fate is Fate.SURVIVED


def test_the_table_counts_each_mutant_once():
    fates = [Fate.KILLED, Fate.KILLED, Fate.COUNTED, Fate.SURVIVED, Fate.UNREACHED, Fate.LATE]
    trials = [
        Trial(id=f"room/{'ab'[n % 2]}.py:f/x@{n}", fate=fate, host="h", seconds=n)
        for n, fate in enumerate(fates)
    ]
    text = table_text(trials, {"room/b.py:f/x@3"})
    assert "| room/a.py | 3 | 0 | 1 | 1 | 0 | 0 | 0 | 1 | 0 | 33.3% |" in text
    assert "| room/b.py | 3 | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 50.0% |" in text
    assert "| **room** | 6 | 1 | 2 | 1 | 0 | 0 | 0 | 1 | 1 | 40.0% |" in text
    assert killers_text(trials, {"h": "interleave"}) == "interleave kills 2: h 2"
    assert seconds_text(trials).startswith("seconds of processor time to a kill: median 1.0")
    found = str(FateCounts.of(trials, ["room/b.py:f/x@3"]))
    assert found == "6 mutants: 2 killed, 1 by count, 1 unreached, 1 timed out, 1 equivalent"
