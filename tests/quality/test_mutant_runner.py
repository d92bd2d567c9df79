"""Faults planted in the runner of the implementation's mutants itself: each must turn the gate red."""

from contextlib import nullcontext
from dataclasses import replace

import pytest

from tests.manifests import manifests
from tidemark.checks.gate.judging import judge_task
from tidemark.checks.gate.registry import registry
from tidemark.checks.gate.settings import Settings
from tidemark.checks.mutation.implementation import trial
from tidemark.checks.mutation.implementation.farm import Farm
from tidemark.checks.mutation.implementation.fate import Fate
from tidemark.checks.mutation.implementation.judge import CONTROLS
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.progress import silent
from tidemark.models.manifest import ImplementationMutants
from tidemark.models.rooms import ROOT

KILLED = "tso/term.py:Term.check/raise-dropped@1"


def judged(tmp_path):
    """The judgements of one mutant that is killed, and of the controls, by claim."""
    manifest = manifests()["tso"]
    from tidemark.models.mutation.source.mutants import mutants_of

    others = [one.id for one in mutants_of(ROOT / "impl", "tso/term.py") if one.id != KILLED]
    whole = ImplementationMutants(
        name="whole",
        files=("tso/term.py",),
        hosts=("tso-impl-step-down-in-an-update",),
        total=29,
        equivalent=dict.fromkeys(others, "left out here"),
    )
    entry = ImplementationMutants(name="one", of="whole", sample=1, total=1, counts={"killed": 1})
    changed = manifest.model_copy(update={"implementation": (whole, entry)})
    task = Task(changed, entry, "mutate")
    result = judge_task(
        task, registry=registry(), settings=Settings(build=tmp_path, workers=1), progress=silent
    )
    assert result.unjudged is None
    return {one.verdict.subject.property_id: one for one in result.judgements}


def test_the_runner_kills_and_its_controls_hold(tmp_path):
    found = judged(tmp_path)
    assert all(one.ok for one in found.values()), [str(one.verdict.reason) for one in found.values()]
    assert "killed by tso-impl-step-down-in-an-update: nothing_is_left" in found[KILLED].verdict.reason


def test_a_runner_that_never_applies_the_mutation(tmp_path, monkeypatch):
    monkeypatch.setattr(trial, "planted", lambda *_arguments, **_options: nullcontext())
    found = judged(tmp_path)
    assert not found[KILLED].ok
    assert "tso-impl-step-down-in-an-update" in found[KILLED].verdict.bounds


@pytest.mark.parametrize("taken", [Fate.KILLED, Fate.SURVIVED])
def test_a_runner_that_takes_its_own_crash_for_a_fate(tmp_path, monkeypatch, taken):
    honest = Farm.trials

    def trials(self, orders):
        for found in honest(self, orders):
            yield replace(found, fate=taken) if found.fate is Fate.BROKEN else found

    monkeypatch.setattr(Farm, "trials", trials)
    found = judged(tmp_path)
    assert not found[CONTROLS].ok
    assert "control:failing must be 'not tried'" in found[CONTROLS].verdict.reason
    assert "control:dying must be 'not tried'" in found[CONTROLS].verdict.reason


def test_a_runner_that_kills_the_real_code(tmp_path, monkeypatch):
    honest = trial.Target.planting

    def planting(self, mutant_id):
        return honest(self, KILLED if mutant_id == trial.UNCHANGED else mutant_id)

    monkeypatch.setattr(trial.Target, "planting", planting)
    found = judged(tmp_path)
    assert not found[CONTROLS].ok
    assert "control:unchanged must be 'survived'" in found[CONTROLS].verdict.reason
