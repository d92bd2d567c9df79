"""What is said of a process that does not say it itself: late, broken, endless; and never a kill."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time

from tests.models.mutation.source import spinning
from tidemark.checks.mutation.implementation.command import killers_text, seconds_text, table_text
from tidemark.checks.mutation.implementation.farm import Farm, Limits
from tidemark.checks.mutation.implementation.fate import Fate, FateCounts, Trial
from tidemark.checks.mutation.implementation.trial import Target, Watch, allow
from tidemark.models.rooms import ROOT

SPINNING = str(ROOT / "tests" / "models")
TARGET = Target(ROOT / "impl", "tidemark.impl")


def one(main, **limits) -> Trial:
    """The trial that a process with this main function gives."""
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
    assert str(FateCounts.of(trials, ["room/b.py:f/x@3"])) == (
        "6 mutants: 2 killed, 1 by count, 1 unreached, 1 timed out, 1 equivalent"
    )
